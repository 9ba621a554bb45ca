"""Whether the trial can be judged at all: the session stood, the caller was heard in time, the wire held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from runs_app.grading.case import Case, span_ms
from runs_app.grading.check import Check, verdict
from runs_app.realtime.record import LATE_MS, Pacing, Record

PACING_MAX_LIMIT_MS: Final = 250.0


@dataclass(frozen=True)
class Fault:
    """Why a trial says nothing about the agent: the stage of an invalid trial, and one sentence."""

    stage: str
    reason: str


def run_validity(case: Case) -> Check:
    found = faults(case)
    pacing = case.record.pacing if case.record.real_time else None
    return verdict(
        "run_validity",
        not found,
        required=True,
        reason="; ".join(fault.reason for fault in found) or "the session, the caller's audio and the wire held",
        stage=found[0].stage if found else None,
        session_acknowledged=case.record.session_acknowledged,
        pacing={"p99_ms": pacing.lag_p99_ms, "max_ms": pacing.lag_max_ms} if pacing else None,
        spans_ms=_spans(case, found),
    )


def faults(case: Case) -> list[Fault]:
    """In the order in which they can happen. A trial that was cancelled or timed out is judged by its ending."""
    record = case.record
    ending = record.ending
    if ending.kind == "invalid":
        return [Fault(ending.stage or "internal", ending.message or f"the conversation broke off ({ending.code})")]
    if ending.kind == "cancelled":
        return []
    checks = (
        _no_turn(record),
        _unsent_audio(record),
        _pacing_fault(record),
        _caller_fault(case),
    )
    return [fault for fault in checks if fault is not None]


def _no_turn(record: Record) -> Fault | None:
    return None if record.turns else Fault("internal", "no caller turn was recorded")


def _unsent_audio(record: Record) -> Fault | None:
    if record.mode != "audio":
        return None
    silent = [turn.index for turn in record.turns if turn.caller is None or turn.caller.end <= turn.caller.start]
    if not silent:
        return None
    return Fault("internal", f"the caller's audio of turn {silent[0] + 1} was not sent")


def _caller_fault(case: Case) -> Fault | None:
    mistakes = case.caller_mistakes
    return Fault("caller", "; ".join(mistake.reason for mistake in mistakes)) if mistakes else None


def _pacing_fault(record: Record) -> Fault | None:
    pacing = record.pacing
    if not record.real_time or pacing is None:
        return None
    if (pacing.lag_max_ms or 0.0) > PACING_MAX_LIMIT_MS:
        return Fault("pacing", f"this machine was too busy: {_worst(pacing)}")
    if (pacing.loop_lag_max_ms or 0.0) > PACING_MAX_LIMIT_MS:
        when = "" if pacing.loop_worst_at_ms is None else f" at {clock(pacing.loop_worst_at_ms)}"
        return Fault(
            "pacing", f"this machine was too busy: it noticed nothing for {pacing.loop_lag_max_ms:.0f} ms{when}"
        )
    # one in a hundred; a short call has fewer than that many chunks, and is not lost over a single one
    if pacing.late_chunks > max(1, pacing.chunks // 100):
        many = f"{pacing.late_chunks} of {pacing.chunks} chunks were {LATE_MS:.0f} ms late or more"
        return Fault("pacing", f"this machine was too busy: {many}, the worst {_worst(pacing)}")
    return None


def _worst(pacing: Pacing) -> str:
    late = f"{pacing.lag_max_ms or 0:.0f} ms late"
    return late if pacing.worst_at_ms is None else f"{late} at {clock(pacing.worst_at_ms)}"


def clock(t_ms: float) -> str:
    """`0:04` for 4,312 ms."""
    seconds = max(0, int(t_ms // 1000))
    return f"{seconds // 60}:{seconds % 60:02d}"


def _spans(case: Case, found: list[Fault]) -> list[list[float]]:
    pacing = case.record.pacing
    if pacing and any(fault.stage == "pacing" for fault in found):
        lag_ms, until_ms = _what_was_late(pacing)
        if until_ms is not None:
            return [[max(0.0, until_ms - lag_ms), until_ms]]
    return [span_ms(turn.caller) for turn in case.record.turns if turn.caller]


def _what_was_late(pacing: Pacing) -> tuple[float, float | None]:
    """By how much, and when it was over: the lag that the reason tells."""
    chunk_ms, loop_ms = pacing.lag_max_ms or 0.0, pacing.loop_lag_max_ms or 0.0
    if chunk_ms <= PACING_MAX_LIMIT_MS < loop_ms:
        return loop_ms, pacing.loop_worst_at_ms
    return chunk_ms, pacing.worst_at_ms
