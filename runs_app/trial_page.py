"""What the trial page shows, made of stored evidence: plain values, no queries and no HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from runs_app.realtime.record import SAMPLES_PER_MS, Caption, Record, ToolCall, Turn

AROUND_MS = 3000.0  # heard before and after a piece of evidence


@dataclass(frozen=True)
class Mark:
    """Something on a lane, in ms of the recording. `end_ms` equals `start_ms` for a moment."""

    lane: str
    start_ms: float
    end_ms: float
    label: str
    kind: str = "plain"  # plain, ok, bad, wait


@dataclass(frozen=True)
class Line:
    """A line of the transcript: words of one side, or a tool call."""

    who: str  # caller, agent, tool
    turn: int
    at_ms: float
    text: str
    call: ToolCall | None = None
    first_of_turn: bool = False  # the agent's first words of the turn


@dataclass(frozen=True)
class Lanes:
    duration_ms: float
    marks: tuple[Mark, ...] = field(default=())
    turn_starts_ms: tuple[float, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def span_ms(span: Any) -> tuple[float, float]:
    return span.start / SAMPLES_PER_MS, span.end / SAMPLES_PER_MS


def transcript(record: Record) -> list[Line]:
    """Both sides and the tool calls in the order in which a listener meets them."""
    lines: list[Line] = []
    for turn in record.turns:
        at = span_ms(turn.caller)[0] if turn.caller else turn.sent_ms
        lines.append(Line("caller", turn.index, at, turn.caller_text))
        calls = [call for call in record.tool_calls if call.turn == turn.index]
        spoken = [
            Line("agent", turn.index, at_ms, text, first_of_turn=place == 0)
            for place, (at_ms, text) in enumerate(_speeches(turn, calls))
        ]
        asked = [Line("tool", turn.index, call.called_ms, call.name, call=call) for call in calls]
        lines += sorted([*spoken, *asked], key=lambda line: line.at_ms)
    return lines


def _speeches(turn: Turn, calls: Sequence[ToolCall]) -> list[tuple[float, str]]:
    """The agent's words, cut where a tool was called; each placed at the stretch of audio that carries it."""
    cuts = sorted({call.called_ms for call in calls})
    groups: list[list[Caption]] = [[] for _ in range(len(cuts) + 1)]
    for caption in turn.captions:
        groups[sum(caption.t_ms > cut for cut in cuts)].append(caption)
    said = [group for group in groups if "".join(c.text for c in group).strip()]
    starts = _speech_starts(turn, len(said))
    if not said and turn.agent_text:
        return [(turn.first_token_ms or turn.sent_ms, turn.agent_text)]
    return [
        (starts[i] if starts else group[0].t_ms, "".join(c.text for c in group).strip()) for i, group in enumerate(said)
    ]


def _speech_starts(turn: Turn, count: int) -> list[float] | None:
    return [span_ms(span)[0] for span in turn.agent] if len(turn.agent) == count else None


def lanes(record: Record, turns: Iterable[dict[str, Any]], checks: Iterable[dict[str, Any]]) -> Lanes:
    """Gap brackets, tool bars and evidence over the two waves."""
    marks = [*_gaps(turns), *_tools(record), *_evidence(checks)]
    starts = [span_ms(turn.caller)[0] for turn in record.turns if turn.caller]
    starts += [span_ms(span)[0] for turn in record.turns for span in turn.agent]
    duration = record.audio_samples / SAMPLES_PER_MS
    return Lanes(duration, tuple(marks), tuple(sorted(max(0.0, start) for start in starts)))


def _gaps(turns: Iterable[dict[str, Any]]) -> list[Mark]:
    found = []
    for turn in turns:
        start, end = turn.get("caller_speech_end_ms"), turn.get("agent_speech_start_ms")
        if start is not None and end is not None:
            found.append(Mark("gap", start, end, f"{end - start:.0f} ms", "wait"))
    return found


def _tools(record: Record) -> list[Mark]:
    kinds = {"completed": "ok", "failed": "bad", "recorded": "plain"}
    return [
        Mark("tools", call.called_ms, call.answered_ms or call.called_ms, _called(call), kinds[call.status])
        for call in record.tool_calls
    ]


def _called(call: ToolCall) -> str:
    return f"{call.name} · made to fail: {call.fault.replace('_', ' ')}" if call.fault else call.name


def _evidence(checks: Iterable[dict[str, Any]]) -> list[Mark]:
    """Failed checks by their place; those that point to the same place share a mark, the deciding one first."""
    places: dict[tuple[float, float], list[str]] = {}
    for check in sorted(checks, key=lambda check: not check["required"]):
        span = evidence_span(check)
        if span and check["status"] == "failed":
            places.setdefault(span, []).append(check["check_id"])
    return [Mark("evidence", start, end, _several(names), "bad") for (start, end), names in places.items()]


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def evidence_span(check: dict[str, Any]) -> tuple[float, float] | None:
    """Where to listen for this check, in ms of the recording."""
    spans = (check.get("evidence") or {}).get("spans_ms")
    return (float(spans[0][0]), float(spans[0][1])) if spans else None


def hear(checks: Iterable[dict[str, Any]], duration_ms: float) -> tuple[float, float] | None:
    """The stretch to play first: the first failed required check that has a place, with some sound around it."""
    for check in checks:
        span = evidence_span(check)
        if check["status"] == "failed" and check["required"] and span:
            return max(0.0, span[0] - AROUND_MS), min(duration_ms, span[1] + AROUND_MS)
    return None


@dataclass(frozen=True)
class StateRow:
    """One path of the application's state, before and after the conversation, as JSON text. None: it was not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        return self.before != self.after


def state_rows(record: Record) -> list[StateRow]:
    return rows_between(record.initial_state, record.final_state)


def rows_between(old: dict[str, Any], new: dict[str, Any]) -> list[StateRow]:
    before, after = dict(_leaves(old)), dict(_leaves(new))
    paths = [*before, *(path for path in after if path not in before)]
    return [StateRow(path, before.get(path), after.get(path)) for path in paths]


def _leaves(value: Any, path: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    elif path:
        yield path, json.dumps(value, ensure_ascii=False)


def grouped(checks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What decided first, failures before the rest; what should have but has no verdict; what explains; the rest."""
    missing = [check for check in checks if check["required"] and check["status"] == "not_assessed"]
    applied = [check for check in checks if check["status"] in ("passed", "failed")]
    by_failure = sorted(applied, key=lambda check: check["status"] != "failed")
    return [
        {"title": "Decides", "note": "the outcome", "checks": [c for c in by_failure if c["required"]]},
        {"title": "No verdict", "note": "would decide; grade again", "checks": missing},
        {"title": "Explains", "note": "decides nothing", "checks": [c for c in by_failure if not c["required"]]},
        {"title": "Did not apply", "note": "", "checks": [c for c in checks if c not in (*applied, *missing)]},
    ]
