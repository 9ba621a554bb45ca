"""Mistakes of a caller that a model plays: they are ours, and cost the agent nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.caller_judging import quoted
from runs_app.grading.grade import Evidence, grade
from runs_app.grading.named_values import numbers
from runs_app.realtime.persona.told import CallerThought, PersonaTold
from runs_app.realtime.record import Ending, Record
from scenarios_app.spec.scenario import Scenario
from tests.grading.builders import PlainJudge, case, record, scenario, turn

AGENDA: list[dict[str, Any]] = [
    {"id": "ask", "commitment": "Ask for a table"},
    {"id": "mend", "commitment": "Make it four", "action": "correct", "facts": {"people": 4}, "after": ["ask"]},
]
FACTS = {"guest_name": "Maya Lind", "date": "2027-05-15", "time": "19:00", "people": 3, "phone": "+1 555 010 0234"}


def led(**persona: Any) -> Scenario:
    who = {"goal": "A table for Maya", "facts": FACTS, "agenda": AGENDA, **persona}
    return scenario(interaction="multi_turn", input={"text": "Hello."}, persona=who, expected={"answer": "Booked."})


def called(*said: str, heard: str = "Yes?", **told: Any) -> Record:
    turns = tuple(turn(heard, index=n, caller_text=text) for n, text in enumerate(("Hello.", *said)))
    persona = PersonaTold("actor", "5", **{"ended_by": "caller", "steps": ("ask", "mend"), **told})
    return record(turns=turns, persona=persona, ending=Ending("completed", None, "caller"))


def found(*said: str, scenario_: Scenario | None = None, **told: Any) -> list[tuple[str, int | None]]:
    mistakes = case(scenario_ or led(), called(*said, **told)).caller_mistakes
    return [(mistake.kind, mistake.turn) for mistake in mistakes]


@pytest.mark.parametrize(
    "said",
    [
        "A table on the fifteenth of May at seven p.m. for three people.",
        "It is for May 15, 2027, at 19:00.",
        "My name is Maya Lind.",
        "The number is 555 010 0234.",
        "Just two more things, please, in a minute or five.",
        "Sorry, four people.",
        "It is for 1234567890123456 people.",  # too long for any number that is compared
    ],
)
def test_what_the_caller_was_given_is_no_mistake_in_whatever_words(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "It is for six people.",
        "On May 17, please.",
        "On the fifteenth of June.",
        "At 20:30, please.",
        "My name is Anton.",
        "My booking is R-417.",
        "Write to maya@post.example, please.",
        "The number is 555 777 0101.",
    ],
)
def test_what_nobody_had_told_him_is_invented(said: str) -> None:
    assert found("Hm.", said) == [("invented", 2)]


def test_what_the_agent_said_before_may_be_repeated() -> None:
    assert found("Then 20:30 it is.", heard="We have 20:30 left.") == []


def test_hanging_up_before_a_required_step_forgets_the_goal_and_any_other_end_does_not() -> None:
    assert found("A table.", steps=("ask",)) == [("forgot", None)]
    assert found("A table.", steps=("ask",), ended_by="max_turns") == []
    optional = led(agenda=[AGENDA[0], {**AGENDA[1], "required": False}])
    assert found("A table.", steps=("ask",), scenario_=optional) == []


@pytest.mark.parametrize(("said", "kinds"), [("Make it four.", []), ("Make it more.", ["left_out"])])
def test_a_step_that_is_claimed_without_its_facts_was_not_said(said: str, kinds: list[str]) -> None:
    talk = called("A table.", said)
    spoken = replace(talk.turns[2], thought=CallerThought(1.0, 1.0, 1.0, ("mend",)))
    mistakes = case(led(), replace(talk, turns=(*talk.turns[:2], spoken))).caller_mistakes
    assert [mistake.kind for mistake in mistakes] == kinds


def test_a_script_makes_no_mistakes() -> None:
    assert case(scenario(), record()).caller_mistakes == ()


async def test_a_mistake_makes_the_trial_invalid_and_not_failed() -> None:
    result = await grade(Evidence(led(), called("For nine people.")), judge=PlainJudge())
    assert (result.outcome.outcome, result.outcome.stage) == ("invalid", "caller")
    assert '"nine people", which nobody had told him' in result.outcome.reason
    (check,) = [check for check in result.checks if check.id == "caller_validity"]
    assert check.evidence["mistakes"][0]["turn"] == 1


async def test_the_judges_word_on_the_caller_counts_too_and_its_silence_does_not() -> None:
    talk = called("A table.", "Make it four.")
    fair = PlainJudge()
    result = await grade(Evidence(led(), talk), judge=fair)
    assert result.outcome.outcome == "passed"
    (question,) = [question for question in fair.asked if question.dimension == "caller_fidelity"]
    assert "Booked." not in question.evidence
    assert "A table for Maya" in question.evidence
    bad = {"passed": False, "score": 0, "rationale": "He talked of the weather.", "evidence": ["Make it four."]}
    strict = PlainJudge(bodies={"caller_fidelity": json.dumps(bad)})
    result = await grade(Evidence(led(), talk), judge=strict)
    assert (result.outcome.outcome, result.outcome.stage) == ("invalid", "caller")
    assert result.outcome.reason == 'the judge on "Make it four.": He talked of the weather.'
    (check,) = [check for check in result.checks if check.id == "caller_validity"]
    assert [(one["kind"], one["turn"]) for one in check.evidence["mistakes"]] == [("judged", 2)]
    result = await grade(Evidence(led(), talk), judge=PlainJudge(errors={"caller_fidelity": "it is down"}))
    assert result.outcome.outcome == "passed"


@pytest.mark.parametrize("evidence", [[], ["He sounds out of his part."], ["Hello."], ["Yes?"], ["it"], [""]])
async def test_a_harsh_judge_without_the_callers_words_costs_no_trial(evidence: list[str]) -> None:
    """Nothing, words of nobody, the scenario's own first words, the agent's, and what is found in any sentence."""
    harsh = {"passed": False, "score": 0, "rationale": "Not convincing.", "evidence": evidence}
    judge = PlainJudge(bodies={"caller_fidelity": json.dumps(harsh)})
    result = await grade(Evidence(led(), called("A table.", "Make it four.")), judge=judge)
    assert result.outcome.outcome == "passed"
    (check,) = [check for check in result.checks if check.id == "caller_validity"]
    assert check.status == "passed"
    assert check.reason.endswith("the judge doubts him, but quotes nothing that he said: Not convincing.")
    assert (check.evidence["score"], check.evidence["quotes"]) == (0, evidence)


@pytest.mark.parametrize(
    ("quote", "turn"),
    [
        ("what a SUNNY day", 1),
        ("Caller (turn 2): “What a sunny day, isn't it”", 1),
        ("What a … isn't it", 1),
        ("isn't it ... What a", None),
        ("sunny", None),
        ("No.", 2),
        ("本日は晴天なり", None),
        ("...", None),
    ],
)
def test_a_quote_is_found_in_the_callers_own_turns_alone(quote: str, turn: int | None) -> None:
    found = quoted([quote], called("What a sunny day, isn't it?", "No!").turns)
    assert (found and found[0]) == turn


async def test_a_caller_who_lost_patience_was_not_served() -> None:
    talk = replace(called("A table."), ending=Ending("completed", None, "patience", "the caller lost patience"))
    told = replace(talk.persona, ended_by="patience") if talk.persona else None
    result = await grade(Evidence(led(), replace(talk, persona=told)), judge=PlainJudge())
    assert (result.outcome.outcome, result.outcome.reason) == ("failed", "the caller lost patience")


@given(st.text(max_size=80), st.integers(min_value=0, max_value=10**12))
def test_any_number_in_any_text_is_read(text: str, number: int) -> None:
    assert number in numbers(f"{text} \n{number}\n")
