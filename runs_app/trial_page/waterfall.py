"""Where the time of each turn went: from the caller's last word to the end of the answer, on both clocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs_app.grading.metrics import CLOCKS_DIFFER_MS
from runs_app.realtime.record import SAMPLES_PER_MS, Record, ToolCall, Turn

Row = Mapping[str, Any]

# What the server tells of a turn, by the first event of the type that comes in it; the rest is in the record.
TOLD = {"input_audio_buffer.committed": "committed", "response.created": "created"}


@dataclass(frozen=True)
class Step:
    """A moment of a turn: on the timeline, and since the turn was sent."""

    name: str
    at_ms: float
    since_ms: float


@dataclass(frozen=True)
class Bar:
    """A stretch of a turn, since it was sent. kind: wait, speech, tool, or failed (a tool)."""

    name: str
    from_ms: float
    to_ms: float
    kind: str

    @property
    def length_ms(self) -> float:
        return self.to_ms - self.from_ms


@dataclass(frozen=True)
class Fall:
    """One turn. `span_ms` is what the drawing shows, alike for all turns, from `from_ms`."""

    index: int
    sent_ms: float
    steps: tuple[Step, ...]
    bars: tuple[Bar, ...]
    event_ms: float | None  # latency by the protocol's clock
    audio_ms: float | None  # latency in the recording
    from_ms: float = 0.0
    span_ms: float = 1.0

    @property
    def difference_ms(self) -> float | None:
        return None if self.event_ms is None or self.audio_ms is None else self.audio_ms - self.event_ms

    @property
    def suspicious(self) -> bool:
        return self.difference_ms is not None and abs(self.difference_ms) > CLOCKS_DIFFER_MS


def waterfall(record: Record, rows: Iterable[Row], events: Iterable[Row]) -> list[Fall]:
    """`rows` are the turns of a grading, `events` have t_ms and type of those in TOLD, in order."""
    by_index = {row.get("index"): row for row in rows}
    told = list(events)
    falls = []
    for place, turn in enumerate(record.turns):
        until = record.turns[place + 1].sent_ms if place + 1 < len(record.turns) else float("inf")
        own = [event for event in told if turn.sent_ms <= event["t_ms"] < until]
        falls.append(_fall(turn, by_index.get(turn.index, {}), own, _calls(record, turn)))
    return _alike(falls)


def _calls(record: Record, turn: Turn) -> list[ToolCall]:
    return [call for call in record.tool_calls if call.turn == turn.index]


def _fall(turn: Turn, row: Row, events: Sequence[Row], calls: Sequence[ToolCall]) -> Fall:
    moments: dict[str, float] = {}
    if row.get("caller_speech_end_ms") is not None:
        moments["caller's last word"] = row["caller_speech_end_ms"]
    moments["sent"] = turn.sent_ms
    for event in events:
        moments.setdefault(TOLD[event["type"]], event["t_ms"])
    first_words_ms = turn.captions[0].t_ms if turn.captions else turn.first_token_ms
    if first_words_ms is not None:
        moments["first transcript"] = first_words_ms
    if turn.first_audio_ms is not None:
        moments["first audio"] = turn.first_audio_ms
    if row.get("agent_speech_start_ms") is not None:
        moments["first word heard"] = row["agent_speech_start_ms"]
    if turn.done_ms is not None:
        moments["done"] = turn.done_ms
    steps = [Step(name, at_ms, at_ms - turn.sent_ms) for name, at_ms in moments.items()]
    return Fall(
        index=turn.index,
        sent_ms=turn.sent_ms,
        steps=tuple(sorted(steps, key=lambda step: step.at_ms)),
        bars=(*_waits(turn), *_speech(turn), *(_tool(turn, call) for call in calls)),
        event_ms=row.get("event_latency_ms"),
        audio_ms=row.get("response_latency_ms"),
    )


def _waits(turn: Turn) -> list[Bar]:
    first = [ms for ms in (turn.first_token_ms, turn.first_audio_ms, turn.done_ms) if ms is not None]
    return [Bar("waiting", 0.0, min(first) - turn.sent_ms, "wait")] if first and min(first) > turn.sent_ms else []


def _speech(turn: Turn) -> list[Bar]:
    spans = [(span.start / SAMPLES_PER_MS, span.end / SAMPLES_PER_MS) for span in turn.agent]
    return [Bar("agent speaks", start - turn.sent_ms, end - turn.sent_ms, "speech") for start, end in spans]


def _tool(turn: Turn, call: ToolCall) -> Bar:
    end = call.called_ms if call.answered_ms is None else call.answered_ms
    kind = "failed" if call.status == "failed" else "tool"
    return Bar(f"{call.name}, round {call.round + 1}", call.called_ms - turn.sent_ms, end - turn.sent_ms, kind)


def _alike(falls: Sequence[Fall]) -> list[Fall]:
    """One scale for all turns, so that a slow one looks slow."""
    edges = [step.since_ms for fall in falls for step in fall.steps]
    edges += [edge for fall in falls for bar in fall.bars for edge in (bar.from_ms, bar.to_ms)]
    low, high = min(edges, default=0.0), max(edges, default=1.0)
    return [Fall(**{**fall.__dict__, "from_ms": low, "span_ms": max(1.0, high - low)}) for fall in falls]
