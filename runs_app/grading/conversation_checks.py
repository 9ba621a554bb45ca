"""Checks about the conversation as such: it came to its end, the agent answered, it asked where it had to ask."""

from __future__ import annotations

from runs_app.grading.case import Case, call_row, span_ms
from runs_app.grading.check import Check, not_applicable, verdict
from runs_app.grading.rubric import is_clarification
from runs_app.grading.speech_acts import asks
from runs_app.grading.state_checks import final_state


def conversation_completed(case: Case) -> Check:
    ending = case.record.ending
    reason = ending.message or ("every turn was answered" if ending.kind == "completed" else ending.kind)
    return verdict(
        "conversation_completed",
        ending.kind == "completed" and ending.code != "patience",
        required=True,
        reason=reason,
        turns=[
            {"index": turn.index, "status": turn.status, "reason": turn.status_reason} for turn in case.record.turns
        ],
    )


def assistant_responded(case: Case) -> Check:
    heard = bool(case.voices and case.voices.agent)
    reply = bool(case.reply.strip())
    found = "the agent answered" if reply else "the agent was heard, without a transcript" if heard else ""
    return verdict(
        "assistant_responded",
        reply or heard,
        required=True,
        reason=found or "the agent said nothing",
        voiced=heard if case.voices else None,
        spans_ms=[span_ms(span) for turn in case.record.turns for span in turn.agent],
    )


def clarification_behavior(case: Case) -> Check:
    """A clarification scenario wants a question, and nothing done before the answer."""
    id = "clarification_behavior"
    if not is_clarification(case.scenario):
        return not_applicable(id, "not a clarification scenario")
    slips = []
    if not asks(case.reply):
        slips.append("the agent asked no question")
    if case.calls:
        slips.append(f"the agent called {case.calls[0].name} before it asked")
    state = final_state(case)
    if state.failed:
        slips.append(state.reason)
    return verdict(
        id,
        not slips,
        required=True,
        reason="; ".join(slips) or "the agent asked, and did nothing yet",
        calls=[call_row(call) for call in case.calls],
        spans_ms=[span_ms(span) for turn in case.record.turns for span in turn.agent],
    )
