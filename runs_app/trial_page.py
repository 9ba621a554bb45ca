"""What the trial page shows, made of stored evidence: plain values, no queries and no HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.record import SAMPLES_PER_MS, Caption, Record, ToolCall, Turn


@dataclass(frozen=True)
class Line:
    """A line of the transcript: words of one side, or a tool call."""

    who: str  # caller, agent, tool
    turn: int
    at_ms: float
    text: str
    call: ToolCall | None = None
    first_of_turn: bool = False  # the agent's first words of the turn


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
