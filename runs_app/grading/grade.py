"""Grading a trial from its stored evidence: checks, grades, metrics and the outcome.

Nothing here looks at a clock, at the network (but for the judge) or at anything outside the evidence: the same
evidence and the same replies of the judge give the same result, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from runs_app.grading import conversation_checks, procedure_checks, relay, state_checks, tool_checks
from runs_app.grading.assertions import assertion_checks, assertion_id
from runs_app.grading.audio_metrics import audio_metrics, response_counts, turn_numbers
from runs_app.grading.caller_judging import ask_about_caller, caller_validity, unassessed
from runs_app.grading.case import Case, Evidence
from runs_app.grading.check import Check, not_assessed
from runs_app.grading.heard import heard_metrics, heard_numbers
from runs_app.grading.judge import JudgeClient
from runs_app.grading.metrics import CLOCKS_DIFFER_MS, METRICS
from runs_app.grading.outcome import Outcome, broken, decide
from runs_app.grading.percentiles import mean, rounded
from runs_app.grading.realtime_metrics import first_token_ms, realtime_metrics, since_sent_ms
from runs_app.grading.rubric import RUBRIC, Rubric
from runs_app.grading.semantic import (
    Grade,
    ask_judge,
    judge_tokens,
    judged_assertions,
    semantic_outcome,
    semantic_quality,
    ungraded,
)
from runs_app.grading.spoke_too_soon import spoke_too_soon, spoke_too_soon_ms
from runs_app.grading.task_metrics import task_metrics
from runs_app.grading.turn_taking import turn_taking_metrics, turn_taking_rows
from runs_app.grading.validity import run_validity
from scenarios_app.spec.jsontext import clean, finite

Json = Any
Numbers = dict[str, float | None]

__all__ = ["Evidence", "GradingResult", "grade"]

# CRAWL's dimensions, and ours at the end, explain; of them only validity and the clarification can decide.
DIMENSIONS: Final[tuple[Callable[[Case], Check], ...]] = (
    run_validity,
    tool_checks.delegation_decision,
    tool_checks.tool_selection,
    tool_checks.parameter_accuracy,
    tool_checks.tool_execution,
    state_checks.final_state,
    conversation_checks.clarification_behavior,
    relay.grounded_relay_order,
    spoke_too_soon,
    procedure_checks.procedure,
    procedure_checks.golden_path,
)
# The outcome assessment decides. The order is that in which a reason is chosen.
ASSESSMENT: Final[tuple[Callable[[Case], Check], ...]] = (
    conversation_checks.conversation_completed,
    conversation_checks.assistant_responded,
    tool_checks.authorized_actions,
    procedure_checks.critical_procedure,
    tool_checks.tool_contract,
    state_checks.application_state,
    tool_checks.delegation_policy,
    state_checks.verified_state_change,
    relay.grounded_assistant_response,
)


@dataclass(frozen=True)
class GradingResult:
    """`metrics` has every name of metrics.METRICS, null where not measured. `turns` has one row per caller turn.

    `responses` holds the denominators of response_rate under CRAWL's names.
    """

    outcome: Outcome
    checks: tuple[Check, ...]
    grades: tuple[Grade, ...]
    metrics: dict[str, float | bool | None]
    turns: tuple[dict[str, Json], ...]
    notes: tuple[str, ...] = ()
    responses: dict[str, int] = field(default_factory=dict)
    rubric_version: str = ""
    judge_model: str = ""

    def to_json(self) -> dict[str, Json]:
        """Plain JSON: no NaN, no lone surrogates, lists for tuples."""
        cleaned: dict[str, Json] = clean(finite(asdict(self)))
        return cleaned


async def grade(evidence: Evidence, *, judge: JudgeClient | None, rubric: Rubric = RUBRIC) -> GradingResult:
    """The whole grading. A judge that fails costs its own grades only; nothing here raises for what it answers."""
    case = Case(evidence)
    out = broken(case)
    if out is not None:
        return _broken_result(case, rubric, out)
    metrics = _measured(case)
    silent = case.record.ending.kind == "response_timeout" and not case.reply
    asked = judge if judge is not None and not silent else None
    if asked is None:
        why = "the agent never answered" if judge is not None else "no judge"
        grades, by_assertion = ungraded(case, rubric, why), dict[str, Grade]()
    else:
        grades, by_assertion = await ask_judge(case, rubric, asked)
    about_caller = await ask_about_caller(case, rubric, asked) if asked is not None else None
    replies = [*grades, *by_assertion.values(), *([about_caller] if about_caller else [])]
    metrics |= {"semantic_quality": semantic_quality(grades)} | judge_tokens(replies)
    checks = [check(case) for check in (*DIMENSIONS, *ASSESSMENT)]
    checks.append(semantic_outcome(grades, rubric))
    checks += assertion_checks(case, metrics, judged_assertions(case, by_assertion))
    if case.record.persona is not None:
        checks.append(caller_validity(case, about_caller))
    outcome = decide(case, checks, judged=asked is not None)
    metrics["task_completed"] = (outcome.outcome == "passed") if outcome.graded else None
    model = judge.model if asked is not None and judge is not None else ""
    return _result(case, rubric, outcome, checks, grades, metrics, model)


def _broken_result(case: Case, rubric: Rubric, outcome: Outcome) -> GradingResult:
    """What was measured stays visible; nothing of it says anything about the agent."""
    reason = f"the trial is {outcome.outcome}"
    checks = [run_validity(case)] if outcome.outcome == "invalid" else []
    ids = [check.__name__ for check in (*DIMENSIONS, *ASSESSMENT)] + ["semantic_outcome"]
    ids += [assertion_id(index) for index in range(len(case.scenario.assertions))]
    checks += [not_assessed(id, reason) for id in ids if id not in {check.id for check in checks}]
    checks += [caller_validity(case, None)] if case.caller_mistakes else unassessed(case, reason)
    metrics = _timings(case)
    return _result(case, rubric, outcome, checks, ungraded(case, rubric, reason), metrics, "")


def _result(
    case: Case,
    rubric: Rubric,
    outcome: Outcome,
    checks: list[Check],
    grades: list[Grade],
    metrics: Mapping[str, float | bool | None],
    judge_model: str,
) -> GradingResult:
    return GradingResult(
        outcome=outcome,
        checks=tuple(checks),
        grades=tuple(grades),
        metrics={name: metrics.get(name) for name in METRICS},
        turns=_turn_rows(case),
        notes=_notes(case, metrics),
        responses=response_counts(case.record, case.responses) if case.voices else {},
        rubric_version=rubric.version,
        judge_model=judge_model,
    )


def _measured(case: Case) -> Numbers:
    return {**task_metrics(case), **_timings(case)}


def _timings(case: Case) -> Numbers:
    measured = {
        **realtime_metrics(case.record),
        **heard_metrics(case.record),
        **turn_taking_metrics(case.record, case.voices),
        "spoke_too_soon_ms": spoke_too_soon_ms(case),
    }
    if case.voices:
        measured |= audio_metrics(case.record, case.voices, case.responses)
        measured["latency_difference_ms"] = _latency_difference_ms(case)
    return measured


def _latency_difference_ms(case: Case) -> float | None:
    by_event = {turn.index: since_sent_ms(turn, turn.first_audio_ms) for turn in case.record.turns}
    differences = [
        response.latency_ms - event_ms
        for response in case.responses
        if response.latency_ms is not None and (event_ms := by_event.get(response.turn)) is not None
    ]
    return rounded(mean(differences), 3)


def _turn_rows(case: Case) -> tuple[dict[str, Json], ...]:
    heard, taking = turn_numbers(case.responses), turn_taking_rows(case.record, case.voices)
    return tuple(
        {
            "index": turn.index,
            "status": turn.status,
            "status_reason": turn.status_reason,
            "turn_latency_ms": since_sent_ms(turn, turn.done_ms),
            "time_to_first_token_ms": first_token_ms(turn),
            "event_latency_ms": since_sent_ms(turn, turn.first_audio_ms),
            "tool_calls": sum(call.turn == turn.index for call in case.calls),
            **taking[turn.index],
            **heard_numbers(turn),
            **heard.get(turn.index, {}),
        }
        for turn in case.record.turns
    )


def _notes(case: Case, metrics: Mapping[str, float | bool | None]) -> tuple[str, ...]:
    record = case.record
    notes = list(record.warnings)
    if record.mode == "text":
        notes.append("text mode: nothing was spoken, so metrics of sound are not measured")
    elif case.voices is None:
        notes.append("no recording: metrics of sound are not measured")
    elif not record.real_time:
        notes.append("not real time: interruptions and pacing are not measured")
    difference = metrics.get("latency_difference_ms")
    if difference is not None and abs(difference) > CLOCKS_DIFFER_MS:
        notes.append(f"the two latency clocks differ by {difference:.0f} ms")
    if record.usage.total_tokens is None and record.usage.input_tokens is None:
        notes.append("the agent reported no token usage")
    return tuple(notes)
