"""What a trial came to, by the table of outcomes in docs/grading.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runs_app.grading.assertions import is_deterministic
from runs_app.grading.case import Case
from runs_app.grading.check import Check
from runs_app.grading.rubric import why_not_applicable
from runs_app.grading.validity import faults

OutcomeName = Literal["passed", "failed", "ungraded", "invalid", "cancelled"]
REASON_LIMIT: Final = 1_000
CALLER_VALIDITY: Final = "caller_validity"


@dataclass(frozen=True)
class Outcome:
    """`stage`: of an invalid trial one of record.STAGES; "response_timeout" and "incomplete" of a graded one;
    "judge_error", "no_judge" or "nothing_expected" of an ungraded one; else empty. `reason` is one sentence.
    """

    outcome: OutcomeName
    reason: str = ""
    stage: str = ""

    @property
    def graded(self) -> bool:
        """Whether it counts in a pass rate."""
        return self.outcome in ("passed", "failed")


def deterministic_expectations(case: Case) -> bool:
    """Whether the scenario expects something that needs no judge: tools, state, delegation or an assertion."""
    expected = case.scenario.expected
    return bool(
        expected.tools.required
        or expected.tools.prohibited
        or expected.state
        or expected.delegation != "optional"
        or any(map(is_deterministic, case.scenario.assertions))
    )


def broken(case: Case) -> Outcome | None:
    """The outcome of a conversation that says nothing about the agent; None when it can be graded."""
    ending = case.record.ending
    if ending.kind == "cancelled":
        return Outcome("cancelled", _short(ending.message or "stopped by a person"))
    found = faults(case)
    if found:
        return Outcome("invalid", _short("; ".join(fault.reason for fault in found)), found[0].stage)
    return None


def decide(case: Case, checks: Sequence[Check], *, judged: bool) -> Outcome:
    """The outcome of a conversation that stands. `judged`: a judge was asked."""
    ending = case.record.ending
    mistaken = next((check for check in checks if check.id == CALLER_VALIDITY and check.failed), None)
    if mistaken is not None:
        return Outcome("invalid", _short(mistaken.reason), "caller")
    if ending.kind == "response_timeout":
        return Outcome("failed", _short(ending.message or "no answer in time"), "response_timeout")
    cut = _incomplete(case)
    stage = "incomplete" if cut else ""
    failed = [check for check in checks if check.required and check.failed]
    if failed:
        reason = f"{cut}: {failed[0].reason}" if cut else failed[0].reason
        return Outcome("failed", _short(reason), stage)
    return _without_verdict(case, checks, judged=judged) or Outcome("passed", cut, stage)


def _without_verdict(case: Case, checks: Sequence[Check], *, judged: bool) -> Outcome | None:
    missing = [check for check in checks if check.required and check.status == "not_assessed"]
    if missing and judged:
        return Outcome("ungraded", _short(missing[0].reason), "judge_error")
    if deterministic_expectations(case):
        return Outcome("ungraded", "no judge for an assertion that needs one", "no_judge") if missing else None
    if not judged and (missing or _judge_wanted(case)):
        return Outcome("ungraded", "no judge, and nothing expected that can be checked without one", "no_judge")
    if missing or _judge_wanted(case) or case.scenario.assertions:
        return None
    return Outcome("ungraded", "the scenario expects nothing", "nothing_expected")


def _judge_wanted(case: Case) -> bool:
    return not why_not_applicable("task_understanding", case.scenario)


def _incomplete(case: Case) -> str:
    cut = next((turn for turn in case.record.turns if turn.status == "incomplete"), None)
    return f"incomplete ({cut.status_reason or 'no reason given'})" if cut else ""


def _short(reason: str) -> str:
    return reason if len(reason) <= REASON_LIMIT else f"{reason[: REASON_LIMIT - 1]}…"
