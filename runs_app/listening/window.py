"""Which part of a recording to hear first: the place of what failed, with some sound around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.record import SAMPLES_PER_MS, Record, Turn

AROUND_MS = 3000.0  # heard before and after a piece of evidence


@dataclass(frozen=True)
class Window:
    """[start_ms, end_ms] of the recording, and what is found there."""

    start_ms: float
    end_ms: float
    what: str


def evidence_span(check: Mapping[str, Any]) -> tuple[float, float] | None:
    """Where to listen for this check, in ms of the recording."""
    spans = (check.get("evidence") or {}).get("spans_ms")
    return (float(spans[0][0]), float(spans[0][1])) if spans else None


def evidence_window(record: Record, checks: Iterable[Mapping[str, Any]]) -> Window | None:
    """The first failed required check that has a place, else the first failed tool call, else the last turn.

    None when nothing was recorded.
    """
    length_ms = record.audio_samples / SAMPLES_PER_MS
    if length_ms <= 0:
        return None
    for start, end, what in (*_failed(record, checks), *_failed_calls(record)):
        if start < length_ms:
            return Window(max(0.0, start - AROUND_MS), min(length_ms, end + AROUND_MS), what)
    return Window(*_last_turn_ms(record.turns, length_ms), "the last turn")


def _failed(record: Record, checks: Iterable[Mapping[str, Any]]) -> Iterable[tuple[float, float, str]]:
    for check in checks:
        if check["status"] == "failed" and check["required"]:
            span = evidence_span(check) or quoted_span(record, (check.get("evidence") or {}).get("quotes") or ())
            if span:
                yield *span, check["check_id"]


def _failed_calls(record: Record) -> Iterable[tuple[float, float, str]]:
    for call in record.tool_calls:
        if call.status == "failed":
            end = call.called_ms if call.answered_ms is None else call.answered_ms
            yield call.called_ms, end, f"{call.name} failed"


def _last_turn_ms(turns: tuple[Turn, ...], length_ms: float) -> tuple[float, float]:
    last = next((turn for turn in reversed(turns) if turn.caller or turn.agent), None)
    if last is None:
        return 0.0, length_ms
    first = last.caller or last.agent[0]
    return min(first.start / SAMPLES_PER_MS, length_ms), length_ms


def quoted_span(record: Record, quotes: Iterable[str]) -> tuple[float, float] | None:
    """The stretch of audio that carries the first of the quotes that was said; a turn's side is the finest we know."""
    for quote in quotes:
        wanted = _plain(str(quote))
        for turn in record.turns if wanted else ():
            if wanted in _plain(turn.agent_text) and turn.agent:
                return turn.agent[0].start / SAMPLES_PER_MS, turn.agent[-1].end / SAMPLES_PER_MS
            if wanted in _plain(turn.caller_text) and turn.caller:
                return turn.caller.start / SAMPLES_PER_MS, turn.caller.end / SAMPLES_PER_MS
    return None


def _plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())
