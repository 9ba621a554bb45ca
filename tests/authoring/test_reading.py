"""Pure parts of the pages: differences, schemas as rows, names in URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.converters import NameConverter
from scenarios_app.diffing import Diff, diff_texts
from scenarios_app.presentation import in_contract_order, schema_rows
from scenarios_app.spec.scenario import parse_scenario
from tests.support import scenario_json

lines = st.lists(st.text("ab \t", max_size=6), max_size=12).map("\n".join)


def side(diff: Diff, name: str) -> dict[int, str]:
    """The lines of one side by their numbers, as far as they are shown."""
    shown = [(getattr(row, f"{name}_number"), getattr(row, name)) for row in diff.rows]
    return {number: "".join(piece.text for piece in pieces) for number, pieces in shown if number}


@given(lines, lines)
def test_every_shown_line_is_the_line_of_its_number(old: str, new: str) -> None:
    diff = diff_texts(old, new)
    for name, text in (("old", old), ("new", new)):
        assert all(text.splitlines()[number - 1] == line for number, line in side(diff, name).items())
    assert diff.is_same == (old.splitlines() == new.splitlines())


@given(lines, lines)
def test_folded_lines_are_counted(old: str, new: str) -> None:
    diff = diff_texts(old, new, context=1)
    hidden = sum(row.count for row in diff.rows)
    assert len(side(diff, "old")) + hidden == len(old.splitlines())
    assert len(side(diff, "new")) + hidden == len(new.splitlines())


def test_changed_words_are_marked_and_the_rest_is_not() -> None:
    (row,) = diff_texts("Be brief and friendly.", "Be brief and calm.").rows
    assert row.kind == "changed"
    assert [piece.text for piece in row.old if piece.changed] == ["friendly"]
    assert [piece.text for piece in row.new if piece.changed] == ["calm"]


def test_a_rewritten_line_finds_its_old_self_beside_removed_and_added_ones() -> None:
    old = "Greet the caller.\nNever promise a table.\nAsk for the number of guests."
    new = "Say who you are and ask what is wanted.\nAsk politely for the number of guests."
    rows = [(row.kind, row.old_number, row.new_number) for row in diff_texts(old, new).rows]
    assert rows == [("removed", 1, None), ("removed", 2, None), ("added", None, 1), ("changed", 3, 2)]


def test_lines_with_nothing_in_common_are_removed_and_added() -> None:
    diff = diff_texts("one two three", "vier fünf sechs")
    assert [row.kind for row in diff.rows] == ["removed", "added"]
    assert (diff.added, diff.removed) == (1, 1)


def test_a_schema_is_rows_with_nested_ones_below_their_parent() -> None:
    schema = {
        "type": "object",
        "required": ["when"],
        "properties": {
            "when": {"type": "string", "format": "date", "description": "ISO"},
            "guests": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": ["string", "null"]}}},
            },
            "room": {"enum": ["garden", 2]},
            "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"const": None}]},
            "free": True,
        },
    }
    rows = [(row.name, row.kind, row.required, row.limits, row.depth) for row in schema_rows(schema)]
    assert rows == [
        ("when", "string", True, "format date", 0),
        ("guests", "list of object", False, "", 0),
        ("name", "string or null", False, "", 1),
        ("room", "one of garden, 2", False, "", 0),
        ("size", "integer or always null", False, "", 0),
        ("free", "anything", False, "", 0),
    ]


def test_a_very_long_rewrite_is_still_shown() -> None:
    diff = diff_texts("\n".join(f"old {n}" for n in range(300)), "\n".join(f"new {n}" for n in range(300)))
    assert (diff.added, diff.removed, len(diff.rows)) == (300, 300, 600)


def test_fields_are_shown_in_the_order_of_the_contract() -> None:
    shuffled = dict(sorted(scenario_json().items(), key=lambda item: len(item[0])))
    ordered = in_contract_order(shuffled, parse_scenario)
    assert (ordered, list(ordered)[:3]) == (shuffled, ["id", "title", "type"])
    assert in_contract_order({"b": 1, "a": 2}, parse_scenario) == {"b": 1, "a": 2}


@given(st.text(min_size=1))
def test_any_name_travels_in_a_url_and_back(name: str) -> None:
    converter = NameConverter()
    segment = converter.to_url(name)
    assert "/" not in segment
    assert not segment.startswith(".")
    assert converter.to_python(segment) == name


@pytest.mark.parametrize("word", ["new", "import", "validate"])
def test_a_name_is_never_taken_for_a_page_of_ours(word: str) -> None:
    assert NameConverter().to_url(word) != word
