from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.csvtext import Table, dump_table, plain, read_table, safe
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean
from scenarios_app.spec.scenario import dump_file, parse_file
from scenarios_app.spec.scenario_columns import guess_columns, scenario_rows, table_source
from tests.spec.examples import FULL_1_0, SCENARIO
from tests.support import scenario_json

HEADER = "id,title,says,answer\r\n"


def read(text: bytes | str, separator: str = "") -> list[dict[str, Any]]:
    table = read_table(text, separator)
    scenarios: list[dict[str, Any]] = table_source(table, guess_columns(table.header)).value["scenarios"]
    return scenarios


def round_trip(scenarios: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return read(dump_table(*scenario_rows(scenarios)).encode())


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(min_size=1), st.lists(st.text(min_size=1), max_size=3))
def test_any_scenario_comes_back_from_its_row(notes: str, says: str, tags: list[str]) -> None:
    scenario = clean(scenario_json(notes=notes, tags=tags, input={"text": says}))
    assert round_trip([scenario]) == [scenario]


@given(st.text(alphabet="'=+-@ab\t\r"))
def test_the_quote_before_a_formula_goes_as_it_came(text: str) -> None:
    assert plain(safe(text)) == text
    assert safe(text)[:1] not in tuple("=+-@\t\r")


def test_what_has_no_column_is_kept_too() -> None:
    odd = scenario_json("b", critical=False, source={"bug": "B-1"}, max_turns=2, expected={}, interaction="multi_turn")
    scenarios = [FULL_1_0, SCENARIO, odd]
    assert round_trip(scenarios) == scenarios


@pytest.mark.case("E01")
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_mark_and_the_separator_make_no_difference(mark: bytes, separator: str) -> None:
    """E01 (CSV): byte order mark, CRLF, semicolons; a mark inside a cell is kept."""
    text = separator.join(["id", "title", "says"]) + "\r\n" + separator.join(["a", "One", '"mark \ufeff, here; so\t"'])
    (scenario,) = read(mark + text.encode())
    assert (scenario["id"], scenario["title"]) == ("a", "One")
    assert "\ufeff" in scenario["input"]["text"]


@pytest.mark.case("E03")
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_line_breaks_in_cells_survive_and_lines_are_counted(end: str) -> None:
    """E03 (CSV): CRLF, LF, lone CR, quotes and commas in a cell, byte for byte; files of any line end."""
    says = 'one\r\ntwo\nthree\rfour "quoted", comma'
    text = f'id,title,says{end}a,One,"{says.replace(chr(34), chr(34) * 2)}"{end}b,Two,plain'
    table = read_table(text)
    assert table.rows[0].cells[2] == says
    assert [row.line for row in table.rows] == [2, 6]


@pytest.mark.case("E05")
def test_an_id_twice_is_refused_with_both_lines() -> None:
    """E05 (CSV): ids that differ by case only, on lines 2 and 4 (a cell with a line break between)."""
    table = read_table(HEADER + 'a,One,"Hello\nthere",x\nA,Two,Bye,y\n')
    with pytest.raises(SpecError) as caught:
        parse_file(table_source(table, guess_columns(table.header)))
    (problem,) = caught.value.problems
    assert problem.line == 4
    assert "line 2" in problem.message


@pytest.mark.case("E07")
def test_a_number_that_is_none_is_refused_with_line_and_column() -> None:
    """E07 (CSV): NaN in a JSON cell."""
    table = read_table('id,title,says,state\na,One,Hi,"{""price"": NaN}"\n')
    with pytest.raises(SpecError) as caught:
        table_source(table, guess_columns(table.header))
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("scenarios[0].expected.state", 2)
    assert 'in the column "state": NaN' in problem.message


@pytest.mark.case("E09")
def test_nul_becomes_the_sign_for_what_cannot_be_kept() -> None:
    """E09 (CSV): NUL is U+FFFD, the six characters of an escape stay, a family emoji stays whole."""
    (scenario,) = read(HEADER + "a,One,nul \0 literal \\u0000 👨\u200d👩\u200d👧,x")
    assert scenario["input"]["text"] == "nul \ufffd literal \\u0000 👨\u200d👩\u200d👧"


@pytest.mark.case("E11")
def test_a_very_long_cell_is_read_and_ragged_rows_are_named() -> None:
    """E11: 131,073 characters in a cell; one cell too few, one too many; no end of line at the end."""
    (scenario,) = read(f"{HEADER}a,One,{'x' * 131_073},y")
    assert len(scenario["input"]["text"]) == 131_073
    with pytest.raises(SpecError) as caught:
        read_table(HEADER + "a,One,Hi,y\nb,Two,Hi\n,,,\nc,Three,Hi,y,z")
    assert [(p.line, p.message[:19]) for p in caught.value.problems] == [
        (3, "this row has 3 cell"),
        (5, "this row has 5 cell"),
    ]


@pytest.mark.case("E13")
def test_text_of_any_script_and_direction_keeps_its_code_points() -> None:
    """E13: a direction mark, an override, Thai and Japanese survive file and row."""
    scenario = scenario_json(title="\u202eกขค\u202c 予約", input={"text": "\u200fاحجز طاولة لـ Nora 18:00"})
    assert round_trip([scenario]) == [scenario]
    assert dump_file(parse_file(table_source(*_mapped([scenario]))).scenarios)["scenarios"] == [scenario]


def _mapped(scenarios: list[dict[str, Any]]) -> tuple[Table, dict[str, int]]:
    table = read_table(dump_table(*scenario_rows(scenarios)))
    return table, guess_columns(table.header)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty"),
        ("id\nx\n", 1, "another separator"),
        ("id,id,says\n", 1, "twice"),
        ('id,title,says\na,"b"c,d\n', 2, "not CSV"),
        ('id,title,says\na,b,"d\n', 2, "not CSV"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_table(text)
    problem = caught.value.problems[0]
    assert problem.line == line
    assert said in problem.message


def test_columns_are_known_by_the_names_that_people_use() -> None:
    header = ["Test ID", "Name", "Utterance", "Expected result", "Labels", "Comment", "Colour"]
    found = guess_columns(header)
    assert {name: header[place] for name, place in found.items()} == {
        "id": "Test ID",
        "title": "Name",
        "says": "Utterance",
        "answer": "Expected result",
        "tags": "Labels",
        "notes": "Comment",
    }


def test_a_table_without_what_every_scenario_needs_says_so() -> None:
    table = read_table("id,colour\na,red\n")
    with pytest.raises(SpecError, match="Caller says"):
        table_source(table, guess_columns(table.header))
