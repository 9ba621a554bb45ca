"""The steps that a call should take: which were taken, in what order, and which of them decide."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.grading.check import Check
from runs_app.grading.grade import Evidence, grade
from runs_app.grading.procedure_checks import critical_procedure, golden_path, procedure
from runs_app.realtime.record import Record
from scenarios_app.spec.procedure import read_procedure
from scenarios_app.spec.scenario import Scenario
from tests.grading.builders import BOOKING, PlainJudge, call, case, record, scenario, turn

VERIFY = {"id": "who", "kind": "authorization", "tool": "verify"}
BOOK = {"id": "book", "kind": "tool", "tool": "create_reservation", "arguments": BOOKING, "after": ["who"]}
TELL = {"id": "tell", "kind": "grounded_confirmation", "tool": "create_reservation", "after": "book"}


def taking(*steps: dict[str, Any], **expected: Any) -> Scenario:
    wanted = {"answer": "It is booked.", "procedure": {"steps": list(steps)} if steps else None, **expected}
    given = {name: value for name, value in wanted.items() if value is not None}
    script = {"text": "Hello.", "turns": [{"text": "A table."}]}
    return scenario(interaction="multi_turn", input=script, expected=given)


def talked(*order: str, reply: str = "I've booked it.") -> Record:
    """Tools in this order, then the reply."""
    arguments = {"create_reservation": BOOKING}
    calls = [
        call(name, arguments.get(name, {}), called_ms=1_100 + 200 * n, answered_ms=1_200 + 200 * n)
        for n, name in enumerate(order)
    ]
    return record(*calls, turns=(turn("May I have your name?", said_ms=500.0), turn(reply, index=1, said_ms=1_900.0)))


def result(check: Check) -> tuple[str, str]:
    return check.status, check.reason


def test_steps_in_order_pass() -> None:
    talk = case(taking(VERIFY, BOOK, TELL), talked("verify", "create_reservation"))
    assert result(procedure(talk)) == ("passed", "3 steps in order")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (("create_reservation", "verify"), "book came before who"),
        (("create_reservation",), "who (authorization) was not taken"),
        (("verify",), "book (tool) was not taken; tell (grounded_confirmation) was not taken"),
    ],
)
def test_what_was_left_out_or_came_too_early_is_named(order: tuple[str, ...], reason: str) -> None:
    assert result(procedure(case(taking(VERIFY, BOOK, TELL), talked(*order)))) == ("failed", reason)


@pytest.mark.parametrize(
    ("step", "reply", "status"),
    [
        ({"kind": "clarification"}, "Done.", "passed"),
        ({"kind": "refusal"}, "I'm afraid I cannot do that.", "passed"),
        ({"kind": "refusal"}, "Of course.", "failed"),
        ({"kind": "state", "arguments": {"reservation_created": True}}, "Done.", "passed"),
        ({"kind": "state", "arguments": {"reservation_created": False}}, "Done.", "failed"),
        ({"kind": "correction", "tool": "create_reservation", "arguments": {"party_size": 3}}, "Done.", "passed"),
        ({"kind": "tool", "tool": "create_reservation", "arguments": {"party_size": 9}}, "Done.", "failed"),
        ({"kind": "tool", "tool": "never", "required": False}, "Done.", "passed"),
    ],
)
def test_each_kind_of_step_is_found_by_its_own_rule(step: dict[str, Any], reply: str, status: str) -> None:
    talk = talked("create_reservation", reply=reply)
    assert procedure(case(taking({"id": "one", **step}), talk)).status == status


async def test_only_a_critical_step_decides() -> None:
    talk = talked("create_reservation")
    explained = await grade(Evidence(taking(VERIFY, BOOK), talk), judge=PlainJudge())
    assert explained.outcome.outcome == "passed"
    decided = await grade(Evidence(taking({**VERIFY, "critical": True}, BOOK), talk), judge=PlainJudge())
    assert (decided.outcome.outcome, decided.outcome.reason) == ("failed", "who (authorization) was not taken")
    assert critical_procedure(case(taking(VERIFY), talk)).status == "not_applicable"


@pytest.mark.parametrize(
    ("golden", "status"),
    [
        ({"turns": 4, "delegations": 1, "steps": [{"tool": "create_reservation"}, "tell the number"]}, "passed"),
        ({"turns": 3}, "failed"),
        ({"delegations": 2}, "failed"),
        ({"steps": [{"tool": "create_reservation"}, {"tool": "verify"}]}, "failed"),
        ({"steps": ["say hello"]}, "passed"),
        ({}, "not_applicable"),
    ],
)
def test_the_golden_path_is_compared_and_decides_nothing(golden: dict[str, Any], status: str) -> None:
    check = golden_path(case(taking(golden_path=golden), talked("create_reservation")))
    assert (check.status, check.required) == (status, False)


@pytest.mark.parametrize(
    ("value", "steps", "problems"),
    [
        (None, 0, 0),
        ([VERIFY, {"id": "x", "kind": "dance"}], 1, 1),
        ([{**VERIFY, "after": "nobody"}], 1, 1),
        ({"rules": "be kind"}, 0, 1),
        ("verify, then book", 0, 1),
        ([7], 0, 1),
        ([{**VERIFY, "label": "Who is it?"}], 1, 0),
    ],
)
def test_what_cannot_be_read_of_a_procedure_is_told(value: Any, steps: int, problems: int) -> None:
    read = read_procedure(value)
    assert (len(read.steps), len(read.problems)) == (steps, problems)
