"""A persona's own rules: steps that can be reached, ids that are told apart, and values that a caller could have."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import parse_scenario

ASK = {"id": "ask", "commitment": "Ask for a table"}
MEND = {
    "id": "mend",
    "commitment": "Say that it is four, not two",
    "action": "correct",
    "facts": {"people": 4},
    "after": ["ask"],
}


def played(persona: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "table",
        "title": "A table",
        "interaction": "multi_turn",
        "input": {"text": "Hello."},
        "persona": {"goal": "Book a table", **persona},
    }


def complaints(persona: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_scenario(played(persona))
    return {problem.path: problem.message for problem in caught.value.problems}


def test_a_persona_comes_back_as_it_was_given() -> None:
    given = played({"agenda": [ASK, MEND], "behaviors": {"patience_s": "8s", "interrupt_probability": 0.25}, "seed": 3})
    assert parse_scenario(given).to_json() == given


@pytest.mark.parametrize(
    ("persona", "path", "says"),
    [
        ({"agenda": [ASK, ASK]}, "persona.agenda[1].id", 'the id "ask" is used before in agenda[0]'),
        ({"agenda": [{**ASK, "after": ["x"]}]}, "persona.agenda[0].after[0]", 'there is no step "x" in the agenda'),
        (
            {"agenda": [{**ASK, "after": ["mend"]}, MEND]},
            "persona.agenda",
            "these steps wait for one another and never come: ask, mend",
        ),
        (
            {"agenda": [{**MEND, "facts": {}, "after": []}]},
            "persona.agenda[0]",
            "a correction needs facts or words: what the caller says instead",
        ),
        (
            {"agenda": [{**ASK, "id": f"s{n}"} for n in range(51)]},
            "persona.agenda",
            "has 51 steps, at most 50 are allowed",
        ),
        (
            {"behaviors": {"patience_s": 0}},
            "persona.behaviors.patience_s",
            "must be more than 0 and at most 3600 seconds",
        ),
    ],
)
def test_what_no_caller_could_do_is_refused_with_its_place(persona: dict[str, Any], path: str, says: str) -> None:
    assert complaints(persona)[path] == says


def test_an_unknown_action_names_those_that_there_are() -> None:
    assert "finish" in complaints({"agenda": [{**ASK, "action": "sing"}]})["persona.agenda[0].action"]
