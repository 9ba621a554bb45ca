"""Scenario files: import is all or nothing, with line and path in every message; export equals the file."""

from __future__ import annotations

import codecs
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.scenario import dump_file, parse_file
from tests.spec.examples import FULL_1_0, SCENARIO, changed, complaints, file_of
from tests.spec.test_scenario import SCENARIOS


def refused(data: bytes | str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(SpecError) as caught:
        parse_file(data)
    return [(problem.path, problem.line, problem.message) for problem in caught.value.problems]


def test_a_file_is_read_and_written_back_unchanged() -> None:
    document = {"schema_version": "1.0", "scenarios": [SCENARIO, {**FULL_1_0, "id": "table_02"}]}
    parsed = parse_file(json.dumps(document))
    assert parsed.schema_version == "1.0"
    assert [scenario.id for scenario in parsed.scenarios] == ["table_01", "table_02"]
    assert dump_file(parsed.scenarios) == document


@settings(deadline=None)  # the machine may be busy
@given(st.lists(SCENARIOS, min_size=1, max_size=3, unique_by=lambda scenario: str(scenario["id"])))
def test_exporting_what_was_imported_gives_the_file(scenarios: list[dict[str, Any]]) -> None:
    once = dump_file(parse_file(file_of(*scenarios, version="1.1")).scenarios)
    assert once["scenarios"] == scenarios
    again = parse_file(json.dumps(once))
    assert again.schema_version == once["schema_version"]
    assert dump_file(again.scenarios) == once


def test_a_1_1_file_that_uses_nothing_of_1_1_is_written_as_1_0() -> None:
    assert dump_file(parse_file(file_of(SCENARIO, version="1.1")).scenarios)["schema_version"] == "1.0"


@pytest.mark.parametrize(
    ("document", "path", "words"),
    [
        ([SCENARIO], "", "must be an object with schema_version and scenarios, not a list"),
        ({"scenarios": [SCENARIO]}, "schema_version", "this field is required"),
        ({"schema_version": "2.0", "scenarios": [SCENARIO]}, "schema_version", 'must be "1.0" or "1.1", not "2.0"'),
        ({"schema_version": 1.0, "scenarios": [SCENARIO]}, "schema_version", "not a number"),
        ({"schema_version": ["1.0"], "scenarios": [SCENARIO]}, "schema_version", "not a list"),
        ({"schema_version": "1.0"}, "scenarios", "this field is required"),
        ({"schema_version": "1.0", "scenarios": {}}, "scenarios", "must be a list, not an object"),
        ({"schema_version": "1.0", "scenarios": []}, "scenarios", "holds no scenario"),
        ({"schema_version": "1.0", "scenarios": [SCENARIO], "suite": "x"}, "", 'no field "suite"'),
        ({"schema_version": "1.0", "scenarios": [5]}, "scenarios[0]", "must be an object, not a number"),
    ],
)
def test_a_wrong_frame_is_named(document: Any, path: str, words: str) -> None:
    ((found, line, message),) = refused(json.dumps(document))
    assert (found, line) == (path, 1)
    assert words in message


def test_every_problem_of_every_scenario_comes_with_its_line_in_the_order_of_the_file() -> None:
    text = file_of(
        changed(SCENARIO, {"input.text": ""}),
        changed(
            SCENARIO, {"id": "b", "expected.delegation": "forbidden", "expected.tools": {"required": [{"name": "x"}]}}
        ),
        changed(SCENARIO, {"id": "c", "owner": "Nora"}),
    )
    lines = text.splitlines()
    found = refused(text)
    assert [path for path, _, _ in found] == [
        "scenarios[0].input.text",
        "scenarios[1].expected.tools.required",
        "scenarios[2].owner",
    ]
    for path, line, _ in found:
        assert line is not None
        assert f'"{path.rpartition(".")[2]}"' in lines[line - 1]


def test_a_missing_field_gets_the_line_of_the_object_that_lacks_it() -> None:
    text = """{"schema_version": "1.0", "scenarios": [
      {"id": "a", "title": "A", "interaction": "single_turn",
       "input": {}, "expected": {"answer": "x"}}]}"""
    assert refused(text) == [("scenarios[0].input.text", 3, "this field is required")]


@pytest.mark.case("E01")
@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_file_with_a_byte_order_mark_holds_the_same_scenarios(mark: bytes, codec: str) -> None:
    """E01: equal hashes with and without the mark, CRLF line ends too; a mark inside a text is kept."""
    text = file_of(changed(SCENARIO, {"input.text": "Zoë \ufeff 食べる"}))
    plain = parse_file(text.encode())
    marked = parse_file(mark + text.replace("\n", "\r\n").encode(codec))
    assert marked == plain
    assert content_hash(marked.scenarios[0].to_json()) == content_hash(plain.scenarios[0].to_json())
    assert marked.scenarios[0].input.text == "Zoë \ufeff 食べる"


def _two(first: str, second: str) -> str:
    return file_of(changed(SCENARIO, {"id": first}), changed(SCENARIO, {"id": second, "input.text": "Other words."}))


@pytest.mark.case("E05")
def test_an_id_used_twice_names_both_lines() -> None:
    """E05: the same id twice in one file with different text is refused, both line numbers named, nothing is given."""
    text = _two("a", "a")
    one, two = (number for number, line in enumerate(text.splitlines(), 1) if '"id"' in line)
    assert refused(text) == [("scenarios[1].id", two, f'the id "a" is used before in line {one} (scenarios[0].id)')]


@pytest.mark.case("E05")
@pytest.mark.parametrize(
    ("first", "second"),
    [("Table-1", "table-1"), ("a", "a "), ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")), (" X", "x")],
)
def test_look_alike_ids_are_duplicates(first: str, second: str) -> None:
    """E05: ids that differ only by case, by outer spaces or by composed and decomposed accents."""
    found = [entry for entry in refused(_two(first, second)) if "differs only in case" in entry[2]]
    ((path, line, message),) = found
    assert path == "scenarios[1].id"
    assert line is not None
    assert f'"{first}" in line ' in message


@pytest.mark.case("E05")
def test_the_third_of_three_equal_ids_names_the_first() -> None:
    """E05: every repeat is named, each with the first line."""
    found = refused(file_of(SCENARIO, SCENARIO, SCENARIO))
    assert [path for path, _, _ in found] == ["scenarios[1].id", "scenarios[2].id"]
    assert all("(scenarios[0].id)" in message for _, _, message in found)


@pytest.mark.case("E05")
def test_the_same_file_read_twice_is_the_same() -> None:
    """E05: a second import finds equal content hashes, whatever the order of keys."""
    turned = {key: FULL_1_0[key] for key in reversed(FULL_1_0)}
    one, two = (parse_file(file_of(scenario)).scenarios[0] for scenario in (FULL_1_0, turned))
    assert content_hash(one.to_json()) == content_hash(two.to_json())


@pytest.mark.case("E07")
@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_scenario_file_with_a_number_that_is_not_finite_is_refused_with_the_place(token: str) -> None:
    """E07: import names path and line."""
    text = file_of(changed(SCENARIO, {"expected.state": {"total": "HERE"}})).replace('"HERE"', token)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if token in row)
    ((path, found, message),) = refused(text)
    assert (path, found) == ("scenarios[0].expected.state.total", line)
    assert token in message


@pytest.mark.case("E09")
def test_a_file_with_broken_characters_is_read_as_every_store_can_keep_it() -> None:
    """E09: NUL and lonely halves become U+FFFD, a split emoji is one, literal escapes stay; exported text is UTF-8."""
    text = file_of(changed(SCENARIO, {"input.text": "HERE"})).replace("HERE", r"a\u0000b \ud83d\ude00 \ud83d \\u0000")
    scenario = parse_file(text).scenarios[0]
    assert scenario.input.text == "a\ufffdb 😀 \ufffd \\u0000"
    assert parse_file(json.dumps(dump_file([scenario])).encode()).scenarios == (scenario,)


def test_all_or_nothing() -> None:
    with pytest.raises(SpecError) as caught:
        parse_file(file_of(SCENARIO, changed(SCENARIO, {"id": "b", "title": ""})))
    assert set(complaints(caught.value)) == {"scenarios[1].title"}
