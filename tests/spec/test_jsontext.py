from __future__ import annotations

import codecs
import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scenarios_app.spec import jsontext
from scenarios_app.spec.errors import SpecError, path_of
from scenarios_app.spec.jsonplaces import lines_of, walk

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
ANY_TEXTS = st.text(st.characters())  # halves of surrogate pairs and NUL too
ANY_VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | ANY_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXTS, inner, max_size=4),
    max_leaves=20,
)


def refused(data: bytes | str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(SpecError) as caught:
        jsontext.load(data)
    return [(problem.path, problem.line, problem.message) for problem in caught.value.problems]


@settings(deadline=None)  # the machine may be busy
@given(VALUES)
def test_what_was_written_is_read_back(value: Any) -> None:
    assert jsontext.load(jsontext.dumps(value)) == value
    assert jsontext.load(json.dumps(value)) == value


@settings(deadline=None)  # the machine may be busy
@given(st.text() | st.text('[]{},:"\\ \n0123456789.eE+-truefalsn', max_size=40) | st.binary())
@example("[" * 3000)
@example('{"a":' * 3000)
@example("9" * 5000)
@example("[]]")
@example(",")
@example('{"a":1,}')
@example("{[1]:2}")
@example('{"\\x":1}')
def test_whatever_comes_in_is_read_or_refused_with_reasons(data: bytes | str) -> None:
    """Never another exception, and what is read is what the standard parser reads."""
    try:
        value = jsontext.load(data)
    except SpecError as error:
        reasons = [problem.message for problem in error.problems]
    else:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        assert value == jsontext.clean(json.loads(text))
        return
    assert reasons
    assert all(reasons)


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
@pytest.mark.case("E01")
def test_a_byte_order_mark_changes_nothing_and_a_mark_inside_text_is_kept(mark: bytes, codec: str) -> None:
    """E01: UTF-8, UTF-8 with mark and UTF-16 with mark give the same value; a mark in a text cell stays."""
    text = '{"text": "before \ufeff after",\r\n "name": "Zoë"}\r\n'
    assert jsontext.load(mark + text.encode(codec)) == {"text": "before \ufeff after", "name": "Zoë"}


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b'{"a":\n"\xff"}', 2, "not UTF-8"),
        (codecs.BOM_UTF16_LE + b'{\0"\0a', 1, "not UTF-16"),
        ("[1]".encode("utf-16-le"), 1, "byte order mark"),
        ("[1]".encode("utf-32"), 1, "save the file as UTF-8"),
        (b"", 1, "empty"),
        (codecs.BOM_UTF8, 1, "empty"),
    ],
)
def test_other_encodings_are_refused_with_what_to_do(data: bytes, line: int, words: str) -> None:
    ((_, found, message),) = refused(data)
    assert found == line
    assert words in message


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".5"])
@pytest.mark.case("E07")
def test_a_number_that_is_not_finite_is_refused_with_its_place(token: str) -> None:
    """E07: import refuses NaN, the infinities and 1e999, which the standard parser reads as infinity."""
    ((path, line, message),) = refused('{"scenarios": [\n  {"id": "a"},\n  {"state": {"x": [0, ' + token + "]}}\n]}")
    assert (path, line) == ("scenarios[1].state.x[1]", 3)
    assert token[:20] in message


@pytest.mark.case("E07")
def test_every_number_that_is_not_finite_is_named() -> None:
    """E07: one pass tells all of them."""
    assert [(path, line) for path, line, _ in refused("[NaN,\n1e999,\n1,\n-Infinity]")] == [
        ("[0]", 1),
        ("[1]", 2),
        ("[3]", 4),
    ]


def test_an_endless_integer_is_refused() -> None:
    ((path, _, message),) = refused(f'{{"n": {"7" * 5000}}}')
    assert path == "n"
    assert "digits" in message


def test_a_key_given_twice_names_both_lines() -> None:
    assert refused('{\n "a": {"b": 1,\n "c": 2,\n "b": 3}}') == [("a.b", 4, "this key was given before, in line 2")]


def test_keys_that_become_equal_when_cleaned_are_given_twice() -> None:
    assert [path for path, _, _ in refused('{"a\\u0000": 1, "a\\ud800": 2}')] == ['["a\ufffd"]']


def test_the_same_key_in_two_objects_is_no_repeat() -> None:
    assert jsontext.load('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_a_repeated_object_is_reported_once_and_not_for_its_own_keys() -> None:
    assert [path for path, _, _ in refused('{"a": {"x": 1}, "a": {"x": 2}}')] == ["a"]


def test_a_hundred_levels_are_read_and_one_more_is_refused() -> None:
    deepest = "[" * jsontext.MAX_DEPTH + "]" * jsontext.MAX_DEPTH
    assert jsontext.dumps(jsontext.load(deepest)) == deepest
    assert "deeper than 100" in refused(f"[{deepest}]")[0][2]
    assert "deeper than 100" in refused('{"a":' * 20_000 + "1" + "}" * 20_000)[0][2]
    assert "deeper than 100" in refused("[" * 1_000_000)[0][2]  # a path of every level would take hours


@pytest.mark.parametrize(
    ("text", "path", "line", "words"),
    [
        ('{"a": [1,\n 2,]}', "a[1]", 2, "missing"),
        ('{"a": 1\n "b": 2}', "a", 2, "comma"),
        ('{"a" 1}', "a", 1, "colon"),
        ('{"a": 1}\n x', "", 2, "more text"),
        ('{"a": "b\nc"}', "a", 1, "control character"),
        ('["a', "", 1, "closing quote"),
        ("{'a': 1}", "", 1, "double quotes"),
    ],
)
def test_broken_json_is_explained_at_its_place(text: str, path: str, line: int, words: str) -> None:
    ((found_path, found_line, message),) = refused(text)
    assert (found_path, found_line) == (path, line)
    assert words in message


@pytest.mark.case("E09")
def test_halves_of_an_emoji_join_and_a_lonely_half_or_nul_is_replaced() -> None:
    """E09: a split pair is one emoji, a half that never completes and NUL are U+FFFD, the literal six characters stay,
    a joined family emoji stays."""
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = r'{"pair": "\ud83d\ude00", "half": "a\ud83db", "nul": "x\u0000y", "literal": "\\u0000", "k\u0000": 1}'
    assert jsontext.load(text) == {
        "pair": "😀",
        "half": "a\ufffdb",
        "nul": "x\ufffdy",
        "literal": "\\u0000",
        "k\ufffd": 1,
    }
    assert jsontext.clean_text("one \ud83d" + "\ude00 two " + family) == f"one 😀 two {family}"
    assert jsontext.clean_text("end\ud83d") == "end\ufffd"
    assert jsontext.clean_text("\ufeffkept") == "\ufeffkept"


@settings(deadline=None)  # the machine may be busy
@given(ANY_VALUES)
def test_cleaning_loses_nothing_and_is_done_once(value: Any) -> None:
    cleaned = jsontext.clean(value)
    assert jsontext.dumps(jsontext.finite(cleaned)).encode()
    assert "\\u0000" not in json.dumps(jsontext.finite(cleaned)).replace("\\\\", "")
    assert repr(jsontext.clean(cleaned)) == repr(cleaned)
    assert _leaves(cleaned) == _leaves(value)


def _leaves(value: Any) -> int:
    if isinstance(value, (list, dict)):
        return sum(map(_leaves, value.values() if isinstance(value, dict) else value))
    return 1


def test_keys_that_become_equal_stay_apart_when_cleaned() -> None:
    assert jsontext.clean({"a\0": 1, "a\ud800": 2}) == {"a\ufffd": 1, "a\ufffd\ufffd": 2}


def test_cleaning_leaves_the_given_value_alone_and_goes_deeper_than_python_recurses() -> None:
    given_value: Any = {"a": ["\0"]}
    jsontext.clean(given_value)
    assert given_value == {"a": ["\0"]}
    deep: Any = "\0"
    for _ in range(5000):
        deep = [deep]
    inner = jsontext.clean(deep)
    for _ in range(5000):
        (inner,) = inner
    assert inner == "\ufffd"


@pytest.mark.case("E07")
def test_inside_what_is_not_finite_becomes_null() -> None:
    """E07: inside, NaN is stored as null; dumps refuses it and never writes the word."""
    value = {"a": [math.nan, math.inf, -math.inf, 0.0, 1], "b": (2.5, True)}
    assert jsontext.finite(value) == {"a": [None, None, None, 0.0, 1], "b": [2.5, True]}
    with pytest.raises(ValueError, match=r"a\[0\]: nan is not a JSON number.*a\[1\]: inf"):
        jsontext.dumps(value)
    with pytest.raises(ValueError, match="nan"):
        jsontext.canonical(value)


def test_dumps_writes_what_a_strict_reader_and_a_utf8_store_take() -> None:
    text = jsontext.dumps({"a\ud83d": "\ud83d\ude00\0\ud800"})
    assert json.loads(text) == {"a\ufffd": "😀\ufffd\ufffd"}
    assert text.encode()
    assert jsontext.dumps("\\u0000") == '"\\\\u0000"'


@pytest.mark.parametrize("value", [{"a": {1, 2}}, [object()]])
def test_dumps_refuses_what_is_not_json(value: Any) -> None:
    with pytest.raises(ValueError, match="is not a JSON value"):
        jsontext.dumps(value)


def test_a_key_that_is_not_text_is_a_problem() -> None:
    assert [str(problem) for problem in jsontext.problems_in({"a": [{1: 2}]})] == ["a[0]: the key 1 is not text"]


def test_a_circle_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nested deeper"):
        jsontext.dumps(circle)


@settings(deadline=None)  # the machine may be busy
@given(st.dictionaries(TEXTS, VALUES, min_size=2, max_size=5), st.randoms())
def test_the_canonical_form_does_not_know_the_order_of_keys(value: dict[str, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert jsontext.canonical(dict(items)) == jsontext.canonical(value)


@settings(deadline=None)  # the machine may be busy
@given(VALUES)
def test_the_canonical_form_is_json_of_an_equal_value(value: Any) -> None:
    assert json.loads(jsontext.canonical(value)) == value


@pytest.mark.parametrize(("one", "other"), [(12.0, 12), (-0.0, 0), (1e22, 10**22), ("\0", "\ufffd")])
def test_two_spellings_of_one_value_are_canonically_equal(one: Any, other: Any) -> None:
    assert jsontext.canonical([one]) == jsontext.canonical([other])


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (2**53 + 1, 2**53), ("3", 3), (None, "null"), (1.5, 1)]
)
def test_different_values_are_canonically_different(one: Any, other: Any) -> None:
    assert jsontext.canonical([one]) != jsontext.canonical([other])


@settings(deadline=None)  # the machine may be busy
@given(VALUES, st.sampled_from([None, 1]))
def test_every_value_of_a_text_is_found_at_its_line(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    offsets = {place.parts: place.offset for place in walk(text) if not place.is_key}
    wanted = dict(_values((), value))
    assert set(offsets) == set(wanted)
    lines = lines_of(text, map(path_of, wanted))
    for parts, item in wanted.items():
        assert json.JSONDecoder().raw_decode(text, offsets[parts])[0] == item
        assert lines[path_of(parts)] == text.count("\n", 0, offsets[parts]) + 1


def _values(parts: tuple[Any, ...], value: Any) -> Any:
    yield parts, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in children:
        yield from _values((*parts, key), item)


def test_a_path_that_is_not_in_the_text_gets_the_line_of_what_should_hold_it() -> None:
    text = '{"scenarios": [\n  {"id": "a"},\r\n  {"id": "b",\r   "input": {}}\n]}'
    lines = lines_of(text, ["scenarios[1].input.text", "scenarios[1].id", "scenarios[0].title", "nowhere"])
    assert lines == {"scenarios[1].input.text": 4, "scenarios[1].id": 3, "scenarios[0].title": 2, "nowhere": 1}
