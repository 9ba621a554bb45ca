"""Find and replace in one scenario's content."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.replacing import FIELDS, Wanted, parse_wanted, replaced
from tests.support import scenario_json

EVERYWHERE = tuple(FIELDS)


def result(
    content: dict[str, Any], find: str, put: str, *fields: str, **more: bool
) -> tuple[dict[str, Any], list[str]]:
    document, changes = replaced(content, Wanted(find, put, fields or EVERYWHERE, **more))
    return document, [change.place for change in changes]


def test_only_the_chosen_fields_change() -> None:
    content = scenario_json(title="Nora's table", notes="ask Nora")
    document, places = result(content, "Nora", "Ada", "says")
    assert places == ["input.text"]
    assert document["title"] == "Nora's table"
    assert document["input"]["text"].startswith("A table for Ada on")
    assert content["input"]["text"].startswith("A table for Nora on")


def test_values_change_and_keys_names_and_ids_stay() -> None:
    content = scenario_json("reservation", tags=["reservation"])
    content["application"]["initial_state"] = {"reservation": ["reservation", {"x": "A reservation"}], "n": 3}
    call = {"name": "reservation", "arguments": {"reservation": {"$any_of": ["reservation", "other"]}}}
    content["expected"]["tools"]["required"] = [call]
    document, places = result(content, "reservation", "booking", "arguments", "state", "title")
    assert document["id"] == "reservation"
    assert document["tags"] == ["reservation"]
    assert document["application"]["initial_state"] == {"reservation": ["booking", {"x": "A booking"}], "n": 3}
    assert document["expected"]["tools"]["required"] == [
        {"name": "reservation", "arguments": {"reservation": {"$any_of": ["booking", "other"]}}}
    ]
    assert places == [
        "expected.tools.required[0].arguments.reservation.$any_of[0]",
        "application.initial_state.reservation[0]",
        "application.initial_state.reservation[1].x",
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "X, X and Xs: conX"),
        ({"match_case": True}, "Tip, X and Xs: conX"),
        ({"whole_words": True}, "X, X and tips: contip"),
        ({"whole_words": True, "match_case": True}, "Tip, X and tips: contip"),
    ],
)
def test_case_and_whole_words(options: dict[str, bool], text: str) -> None:
    document, _ = result(scenario_json(input={"text": "Tip, tip and tips: contip"}), "tip", "X", "says", **options)
    assert document["input"]["text"] == text


def test_what_is_found_and_put_is_text_and_no_pattern() -> None:
    document, _ = result(scenario_json(input={"text": r"a.b axb \1"}), "a.b", r"\1 \g<0>", "says")
    assert document["input"]["text"] == r"\1 \g<0> axb \1"


def test_turns_history_and_assertions_are_looked_through() -> None:
    content = scenario_json(
        interaction="multi_turn",
        input={"text": "x", "turns": [{"text": "old"}], "context": {"history": [{"role": "user", "text": "old"}]}},
        assertions=[{"judge": "old"}, {"tool_called": {"name": "old", "args": {"a": "old"}}}],
    )
    document, places = result(content, "old", "new")
    assert places == [
        "input.turns[0].text",
        "input.context.history[0].text",
        "assertions[1].tool_called.args.a",
        "assertions[0].judge",
    ]
    assert document["assertions"][1]["tool_called"]["name"] == "old"


@given(st.text(min_size=1, max_size=4), st.text(max_size=4), st.text(max_size=30))
def test_every_occurrence_goes_as_python_replaces(find: str, put: str, text: str) -> None:
    document, _ = result({"input": {"text": text}}, find, put, "says", match_case=True)
    assert document["input"]["text"] == text.replace(find, put)


def test_a_search_for_nothing_or_nowhere_is_refused() -> None:
    with pytest.raises(SpecError, match="look for") as caught:
        parse_wanted({"find": "  "}, [])
    assert [problem.path for problem in caught.value.problems] == ["find", "fields"]
