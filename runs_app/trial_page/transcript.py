"""What was said and called, in the order in which a listener meets it."""

from __future__ import annotations

from collections.abc import Sequence
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
