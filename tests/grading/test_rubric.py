"""The rubric's texts, and to which scenarios each dimension applies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.grading.payload import evidence_text
from runs_app.grading.rubric import RUBRIC, why_not_applicable
from tests.grading.builders import call, case, expecting, record, scenario, unreadable_call

# A text that changes needs a new version: grades of different versions are never compared.
KNOWN = {"soundcheck-1": "ba3a0726f616adbab24f07c6335fff6a25fd59fbca8cc8d9b9c3bd131a187879"}


def test_the_texts_of_a_version_never_change() -> None:
    assert KNOWN[RUBRIC.version] == RUBRIC.text_hash


def applicable(given: Any) -> list[str]:
    return [d.id for d in RUBRIC.dimensions if not why_not_applicable(d.id, given)]


CONTEXT = {"text": "At seven, please.", "context": {"summary": "Nora wants a table for three."}}
INFORMATION: dict[str, Any] = {"type": "information", "tags": [], "expected": {"answer": "At ten."}}


@pytest.mark.parametrize(
    ("changes", "dimensions"),
    [
        ({}, ["task_understanding"]),
        ({"input": CONTEXT}, ["task_understanding", "context_fidelity"]),
        ({"tags": ["Correction"]}, ["task_understanding", "context_fidelity"]),
        ({"type": "correction"}, ["task_understanding", "context_fidelity"]),
        ({"type": "clarification"}, ["task_understanding", "clarification_quality"]),
        (
            {"expected": {"answer": "Booked.", "tools": {"required": [{"name": "create_reservation"}]}}},
            ["task_understanding", "grounded_communication"],
        ),
        ({"expected": {}}, []),
        ({"expected": {"criteria": ["Says the hour."]}}, ["task_understanding"]),
        # English words of a correction do not make one: the tag or the type does.
        ({"input": {"text": "Sorry, actually I would like tea instead."}}, ["task_understanding"]),
    ],
)
def test_a_dimension_applies_where_its_question_makes_sense(changes: dict[str, Any], dimensions: list[str]) -> None:
    assert applicable(scenario(**(INFORMATION | changes))) == dimensions


def document(the_case: Any, *extra: str) -> dict[str, Any]:
    text = evidence_text(the_case, "task_understanding", *extra)
    parsed: dict[str, Any] = json.loads(text.removeprefix("```json\n").removesuffix("\n```"))
    return parsed


def test_the_evidence_holds_what_was_expected_and_what_was_observed() -> None:
    failed = call("cancel_reservation", {}, status="failed", error="not yours")
    shown = document(case(scenario(), record(call(), failed), facts={"closes": "22:00"}))
    assert set(shown) == {"dimension", "scenario", "observed"}
    assert shown["scenario"]["expected_answer"] == "Confirms 15 May at 18:00 for three."
    assert shown["scenario"]["expected_tools"]["required"][0]["name"] == "create_reservation"
    assert shown["scenario"]["public_facts"] == {"closes": "22:00"}
    executions = shown["observed"]["tool_executions"]
    assert [(e["name"], e["status"], e["error"]) for e in executions] == [
        ("create_reservation", "completed", None),
        ("cancel_reservation", "failed", "not yours"),
    ]
    assert shown["observed"]["final_state"] == {"reservation_created": True}


def test_arguments_that_could_not_be_read_are_shown_raw() -> None:
    shown = document(case(scenario(), record(unreadable_call('{"date": '))))
    assert shown["observed"]["tool_executions"][0]["arguments"] == '{"date": '


def test_an_assertion_brings_its_sentence() -> None:
    assert document(case(expecting(), record()), "It greets.")["criterion"] == "It greets."
