"""What stands above, between and below the two waves of a recording: plain values, no queries and no HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runs_app.listening.window import evidence_span, quoted_span
from runs_app.realtime.record import SAMPLES_PER_MS, Record, ToolCall, Turn

Row = Mapping[str, Any]

# Types of events worth a dot, with what people call them. Deltas and the rest are in the table of events.
DOTS = {
    "session.updated": "session updated",
    "input_audio_buffer.speech_started": "heard speech start",
    "input_audio_buffer.speech_stopped": "heard speech stop",
    "input_audio_buffer.committed": "committed",
    "conversation.item.input_audio_transcription.completed": "recognised",
    "response.created": "response created",
    "response.function_call_arguments.done": "tool arguments done",
    "response.done": "response done",
    "turn.sent": "turn sent",
    "caller.interrupts": "caller breaks in",
    "tool.fault": "tool made to fail",
    "tool.result": "tool result",
    "warning": "warning",
    "error": "error",
    "session.ended": "session ended",
}


@dataclass(frozen=True)
class Mark:
    """Something on a lane, in ms of the recording. `end_ms` equals `start_ms` for a moment.

    lane: caller and agent (drawn over the wave), gap, tools, events, judge, marks. kind: plain, ok, bad, wait (a
    bracket), early (a red bracket), dot, made (by a person).
    """

    lane: str
    start_ms: float
    end_ms: float
    label: str
    kind: str = "plain"
    seq: int | None = None  # of an event
    number: int | None = None  # of a moment that a person marked


@dataclass(frozen=True)
class Anchor:
    """Where a turn begins: the caller's first sample and the agent's; None where that side was silent."""

    caller_ms: float | None
    agent_ms: float | None

    @property
    def start_ms(self) -> float:
        return min(ms for ms in (self.caller_ms, self.agent_ms) if ms is not None)


@dataclass(frozen=True)
class Lanes:
    """`audio_ms` is what can be heard; `duration_ms` also has room for what happened after the recording ended."""

    duration_ms: float
    audio_ms: float
    marks: tuple[Mark, ...] = ()
    anchors: tuple[Anchor, ...] = ()

    @property
    def stops_ms(self) -> list[float]:
        """Where the keys for turns stop: every first word of either side."""
        sides = [ms for anchor in self.anchors for ms in (anchor.caller_ms, anchor.agent_ms) if ms is not None]
        return sorted({max(0.0, ms) for ms in sides})

    @property
    def turn_starts_ms(self) -> list[float]:
        return [max(0.0, anchor.start_ms) for anchor in self.anchors]

    def of(self, lane: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.lane == lane]

    def with_marks(self, more: Iterable[Mark]) -> Lanes:
        marks = (*self.marks, *more)
        return replace(self, marks=marks, duration_ms=_duration(self.audio_ms, marks))

    def lasting(self, audio_ms: float) -> Lanes:
        """With a recording of that length, which may be shorter than what is marked."""
        return replace(self, audio_ms=audio_ms, duration_ms=_duration(audio_ms, self.marks))


def lanes_of(
    record: Record,
    *,
    turns: Iterable[Row] = (),
    checks: Iterable[Row] = (),
    grades: Iterable[Row] = (),
    events: Iterable[Row] = (),
) -> Lanes:
    """`turns` are the rows of a grading, `checks` and `grades` its verdicts, `events` rows of seq, t_ms, type."""
    marks = (
        *_gaps(turns),
        *_tools(record),
        *_dots(events),
        *_too_soon(checks),
        *_failed_checks(checks),
        *_failed_grades(record, grades),
    )
    audio_ms = record.audio_samples / SAMPLES_PER_MS
    return Lanes(_duration(audio_ms, marks), audio_ms, marks, tuple(anchors_of(record.turns)))


def _duration(audio_ms: float, marks: Sequence[Mark]) -> float:
    return max([audio_ms, *(mark.end_ms for mark in marks)])


def anchors_of(turns: Iterable[Turn]) -> Iterable[Anchor]:
    for turn in turns:
        caller = turn.caller.start / SAMPLES_PER_MS if turn.caller else None
        agent = turn.agent[0].start / SAMPLES_PER_MS if turn.agent else None
        if caller is not None or agent is not None:
            yield Anchor(caller, agent)


def _gaps(turns: Iterable[Row]) -> Iterable[Mark]:
    for turn in turns:
        start, end = turn.get("caller_speech_end_ms"), turn.get("agent_speech_start_ms")
        if start is not None and end is not None:
            yield Mark("gap", min(start, end), max(start, end), f"{end - start:.0f} ms", "wait")


def _tools(record: Record) -> Iterable[Mark]:
    kinds = {"completed": "ok", "failed": "bad", "recorded": "plain"}
    for call in record.tool_calls:
        end_ms = call.called_ms if call.answered_ms is None else call.answered_ms
        yield Mark("tools", call.called_ms, end_ms, _called(call), kinds[call.status])


def _called(call: ToolCall) -> str:
    return f"{call.name} · made to fail: {call.fault.replace('_', ' ')}" if call.fault else call.name


def _dots(events: Iterable[Row]) -> Iterable[Mark]:
    for event in events:
        if event["t_ms"] >= 0 and event["type"] in DOTS:
            yield Mark("events", event["t_ms"], event["t_ms"], DOTS[event["type"]], "dot", seq=event["seq"])


def _failed_checks(checks: Iterable[Row]) -> list[Mark]:
    """Those that point to the same place share a mark, the deciding one first."""
    places: dict[tuple[float, float], list[str]] = {}
    for check in sorted(checks, key=lambda check: not check["required"]):
        span = evidence_span(check)
        if span and check["status"] == "failed":
            places.setdefault(span, []).append(check["check_id"])
    return [Mark("judge", start, end, _several(names), "bad") for (start, end), names in places.items()]


def _too_soon(checks: Iterable[Row]) -> Iterable[Mark]:
    """Over the agent's wave, from what it said to be done to the answer of the tool that does it."""
    for check in checks:
        if check["check_id"] == "spoke_too_soon":
            for early in (check["evidence"] or {}).get("early", ()):
                start, end = early["bracket_ms"]
                yield Mark("agent", start, end, early["label"], "early")


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _failed_grades(record: Record, grades: Iterable[Row]) -> Iterable[Mark]:
    """Where the judge's quotes were said, of the dimensions that failed."""
    for grade in grades:
        span = quoted_span(record, grade["evidence"] or ()) if grade["status"] == "failed" else None
        if span:
            yield Mark("judge", *span, grade["dimension"], "bad")
