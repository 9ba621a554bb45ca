"""When the agent said that something is done, against when the tool really ended."""

from __future__ import annotations

from typing import Any

from runs_app.grading.case import Case, span_ms
from runs_app.grading.check import Check, not_applicable, not_assessed, verdict
from runs_app.grading.spoke_too_soon import SpokenClaim, early_claims, spoken_claims
from runs_app.realtime.record import SAMPLES_PER_MS, Caption

Json = Any


def grounded_relay_order(case: Case) -> Check:
    """The result is told after the last tool ended, and its success is not claimed before."""
    id = "grounded_relay_order"
    if not case.wanted:
        return not_applicable(id, "no tool is required")
    end = case.last_tool_end_ms
    if end is None:
        return _without_a_tool(case)
    told = told_after(case, end)
    early = [one.claim for one in early_claims(case)]
    slips = [f'"{claim.sentence}" was said before the tool had ended' for claim in early]
    if not told:
        slips.append("nothing was said after the last tool ended")
    return verdict(
        id,
        not slips,
        required=False,
        reason="; ".join(slips) or "the result was told after the last tool ended",
        last_tool_end_ms=end,
        told_at_ms=told[0].t_ms if told else None,
        early=[_claim_row(claim) for claim in early],
        spans_ms=[list(claim.stretch_ms) for claim in early] or _told_spans(case, end),
    )


def _without_a_tool(case: Case) -> Check:
    claimed = list(spoken_claims(case))
    if not claimed:
        return not_applicable("grounded_relay_order", "no tool ran, and none was said to have run")
    return verdict(
        "grounded_relay_order",
        False,
        required=False,
        reason=f'"{claimed[0].sentence}" was said, and no tool ran',
        early=[_claim_row(claim) for claim in claimed],
        spans_ms=[list(claim.stretch_ms) for claim in claimed],
    )


def _claim_row(claim: SpokenClaim) -> dict[str, Json]:
    return {"sentence": claim.sentence, "said_ms": claim.said_ms, "span_ms": list(claim.stretch_ms)}


def told_after(case: Case, end_ms: float) -> list[Caption]:
    """What the agent said after a moment; a turn without captions counts by its sound."""
    captions = [c for turn in case.record.turns for c in turn.captions if c.t_ms >= end_ms and c.text.strip()]
    if captions or any(turn.captions for turn in case.record.turns):
        return captions
    voices = case.voices.agent if case.voices else ()
    heard = [span for span in voices if span.end > end_ms * SAMPLES_PER_MS]
    return [Caption(max(end_ms, span.start / SAMPLES_PER_MS), "(sound)") for span in heard]


def _told_spans(case: Case, end_ms: float) -> list[list[float]]:
    spans = [span_ms(span) for turn in case.record.turns for span in turn.agent]
    return [span for span in spans if span[1] > end_ms]


def grounded_assistant_response(case: Case) -> Check:
    """After a tool completed, the agent says something; a result that is never told is no answer."""
    id = "grounded_assistant_response"
    ends = [c.answered_ms for c in case.calls if c.status == "completed" and c.answered_ms is not None]
    if not ends:
        return not_applicable(id, "no tool completed")
    if not case.reply and case.record.mode == "audio" and case.voices is None:
        return not_assessed(id, "neither captions nor a recording to tell when the agent spoke")
    told = told_after(case, max(ends))
    return verdict(
        id,
        bool(told),
        required=True,
        reason="the agent spoke after the last result" if told else "the agent said nothing after the last result",
        last_tool_end_ms=max(ends),
        told_at_ms=told[0].t_ms if told else None,
        spans_ms=_told_spans(case, max(ends)),
    )
