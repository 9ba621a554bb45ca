"""Plain values and how they are compared: the default rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.matching import match, matches
from runs_app.grading.plain_values import ABSENT, fold_text, identical

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def plain(value: Any) -> bool:
    """No key that would make it an operator."""
    if isinstance(value, dict):
        return all(not key.startswith("$") and plain(item) for key, item in value.items())
    return all(map(plain, value)) if isinstance(value, list) else True


def reasons(expected: Any, actual: Any) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in match(expected, actual)]


@pytest.mark.case("B01")
@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ([12.0, 15.5, 18.0], [12, 15.5, 18], None),
        (3, 3.0, None),
        (0.3, 0.1 + 0.2, None),
        (3, "3", "string where number expected"),
        (3, True, "boolean where number expected"),
        (1, True, "boolean where number expected"),
        (2**53 + 1, 2**53, "different number"),
        ({"$numeric_text": 3}, "3", None),
    ],
)
def test_numbers_keep_their_type_and_their_size(expected: Any, actual: Any, reason: str | None) -> None:
    """B01: number types in nested arguments."""
    found = match({"values": expected}, {"values": actual})
    assert [item.reason for item in found] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (5_551_234_567, 5_551_234_568),  # within 1e-9, and another telephone
        (2**53 + 1, float(2**53)),
        (0, 1e-12),
        (1.0, 1.0 + 1e-8),
        (1.0, float("nan")),
        (float("inf"), float("inf")),
    ],
)
def test_numbers_that_are_only_almost_the_same_differ(expected: Any, actual: Any) -> None:
    assert reasons(expected, actual) == [("", "different number")]


@pytest.mark.case("B03")
def test_key_order_is_free_and_list_order_counts() -> None:
    """B03: key order and list order in nested values."""
    expected = {"request": {"filter": {"cuisine": "thai", "seats": 4}}}
    actual = {"request": {"filter": {"seats": 4, "cuisine": "thai"}}}
    assert matches(expected, actual)
    assert reasons({"tags": ["a", "b"]}, {"tags": ["b", "a"]}) == [
        ("tags[0]", "different text"),
        ("tags[1]", "different text"),
    ]
    assert matches({"tags": {"$unordered": ["a", "b"]}}, {"tags": ["b", "a"]})


@pytest.mark.case("B07")
@pytest.mark.parametrize(
    ("expected", "actual", "default", "nfkc"),
    [
        ("O'Neil", "O\u2019Neil", True, True),
        ("Zo\u00eb", "Zoe\u0308", True, True),
        ("Room 12", "Room \uff11\uff12", False, True),
        ("Nora", "Nora ", True, True),
        ("nora", "NORA", True, True),
        ("$8.540", "$9.540", False, False),
    ],
)
def test_typography_is_folded_and_amounts_are_not(expected: str, actual: str, default: bool, nfkc: bool) -> None:
    """B07: typographic characters and Unicode forms."""
    assert matches(expected, actual) is default
    assert matches({"$text": expected, "nfkc": True}, actual) is nfkc
    assert matches({"$text": expected}, actual) is default
    assert matches({"$exact": expected}, actual) is (expected == actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [("R-100", "R100"), ("-2", "2"), ("1.25", "1 25"), ("R-100", "R 100"), ("None", None), (None, "None"), ("", None)],
)
def test_punctuation_and_null_count(expected: Any, actual: Any) -> None:
    assert not matches(expected, actual)


def test_dashes_and_white_space_are_folded() -> None:
    assert matches("R-100", "r\u2011100")
    assert matches("Elm Street 5", " Elm \t Street\u00a05\n")


def test_null_is_not_absent() -> None:
    assert matches({"note": None}, {"note": None})
    assert reasons({"note": None}, {}) == [("note", "missing")]
    assert match({"note": None}, {})[0].actual_absent


def test_a_mismatch_names_path_expected_and_actual() -> None:
    found = match({"guests": [{"name": "Nora"}, {"name": "Leo"}]}, {"guests": [{"name": "Nora"}, {"name": "Lea"}]})
    assert [(m.path, m.expected, m.actual, m.reason) for m in found] == [
        ("guests[1].name", "Leo", "Lea", "different text")
    ]


def test_a_key_with_a_dot_is_quoted_in_the_path() -> None:
    assert reasons({"a.b": {"c": 1}}, {"a.b": {"c": 2}}) == [('["a.b"].c', "different number")]


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ({"a": 1}, [1], "list where object expected"),
        ([1], {"a": 1}, "object where list expected"),
        ([1], ABSENT, "missing"),
        ({"a": 1}, "a", "string where object expected"),
        (True, 1, "number where boolean expected"),
        (False, True, "different boolean"),
        ([1, 2], [1], "1 entry where 2 expected"),
    ],
)
def test_types_are_named(expected: Any, actual: Any, reason: str) -> None:
    assert reasons(expected, actual) == [("", reason)]


@given(json_values.filter(plain))
def test_every_plain_value_matches_itself(value: Any) -> None:
    assert match(value, value) == ()
    assert identical(value, value)


@given(st.dictionaries(st.text(max_size=6), json_values, max_size=5).filter(plain), st.randoms())
def test_the_order_of_keys_never_matters(value: dict[str, Any], random: Any) -> None:
    keys = list(value)
    random.shuffle(keys)
    assert matches(value, {key: value[key] for key in keys})


@given(st.dictionaries(st.text(max_size=6), json_values, max_size=4).filter(plain), st.text(max_size=6), json_values)
def test_further_keys_of_the_actual_object_never_matter(value: dict[str, Any], key: str, extra: Any) -> None:
    assert matches(value, {key: extra, **value})


@given(json_values.filter(plain), json_values)
def test_matching_never_raises_and_exact_implies_matching(expected: Any, actual: Any) -> None:
    found = match(expected, actual)
    if identical(expected, actual):
        assert found == ()
    assert matches({"$exact": expected}, actual) is identical(expected, actual)
    assert matches({"$not": expected}, actual) is bool(found)


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.lists(json_values.filter(plain), max_size=5), st.randoms())
def test_unordered_accepts_every_order_and_no_other_list(values: list[Any], random: Any) -> None:
    shuffled = values[:]
    random.shuffle(shuffled)
    assert matches({"$unordered": values}, shuffled)
    assert not matches({"$unordered": values}, [*shuffled, "one more"])
