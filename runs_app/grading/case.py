"""The stored evidence of one trial, and what every check reads from it, computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from runs_app.grading.alignment import Alignment, Wanted, align
from runs_app.grading.audio_metrics import Response, Voices, listen, responses
from runs_app.grading.caller_mistakes import Mistake, caller_mistakes
from runs_app.realtime.record import SAMPLES_PER_MS, Record, Span, ToolCall
from scenarios_app.spec.scenario import Scenario

Json = Any

DEFAULT_DONE_TOOL: Final = "end_session"


@dataclass(frozen=True)
class Evidence:
    """All that grading needs; another conversation is never needed.

    `audio` is the stereo recording, int16 of shape (samples, 2) at 24 kHz, None in text mode or when it is lost.
    `facts` are the application's public facts. A call of `done_tool` ends the session and is no business action,
    unless the scenario expects it.
    """

    scenario: Scenario
    record: Record
    audio: npt.NDArray[np.int16] | None = None
    facts: dict[str, Json] = field(default_factory=dict)
    done_tool: str | None = DEFAULT_DONE_TOOL


class Case:
    """Evidence with its derived facts. Reading them changes nothing."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence: Final = evidence
        self.scenario: Final = evidence.scenario
        self.record: Final = evidence.record

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        required = self.scenario.expected.tools.required
        return tuple(Wanted(call.name, call.arguments, call.status) for call in required)

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The agent's calls, once per call id, without the one that only ends the session."""
        seen: dict[str, ToolCall] = {}
        for number, call in enumerate(self.record.tool_calls):
            if not self._only_ends(call):
                seen.setdefault(call.call_id or f"call {number}", call)
        return tuple(seen.values())

    def _only_ends(self, call: ToolCall) -> bool:
        tools = self.scenario.expected.tools
        named = {wanted.name for wanted in (*tools.required, *tools.prohibited)}
        return call.name == self.evidence.done_tool and call.name not in named

    @cached_property
    def alignment(self) -> Alignment:
        return align(self.wanted, self.calls)

    @cached_property
    def caller_mistakes(self) -> tuple[Mistake, ...]:
        """What rules find of a caller that a model played."""
        return caller_mistakes(self.scenario, self.record)

    @cached_property
    def hands_on(self) -> bool:
        """Whether a backend stands behind the voice."""
        return self.record.protocol == "live" or bool(self.record.delegations)

    @cached_property
    def delegations(self) -> int:
        """Responses that called at least one function; where a backend stands behind the voice, tasks handed on."""
        if self.hands_on:
            return len(self.record.delegations)
        return len({call.response_id or (call.turn, call.round) for call in self.calls})

    @cached_property
    def tools_judged(self) -> bool:
        """Whether the scenario says anything about which tools to call: some, or (no delegation) none."""
        return bool(self.wanted) or self.scenario.expected.delegation == "forbidden"

    @cached_property
    def reply(self) -> str:
        return "\n".join(turn.agent_text for turn in self.record.turns if turn.agent_text.strip())

    @cached_property
    def voices(self) -> Voices | None:
        audio = self.evidence.audio
        if self.record.mode != "audio" or audio is None:
            return None
        return listen(audio, self.record.turns)

    @cached_property
    def responses(self) -> tuple[Response, ...]:
        return responses(self.record, self.voices) if self.voices else ()

    @cached_property
    def last_tool_end_ms(self) -> float | None:
        ends = [call.answered_ms for call in self.calls if call.answered_ms is not None]
        return max(ends, default=None)

    def fulfilled(self, wanted: Wanted, call: ToolCall) -> bool:
        """Whether the call ran as far as it had to."""
        if wanted.status == "any" or call.status == "completed":
            return True
        return call.status == "recorded" and call.name == self.evidence.done_tool


def call_row(call: ToolCall) -> dict[str, Json]:
    """A call as evidence shows it, with where to listen."""
    return {
        "name": call.name,
        "arguments": call.arguments if call.arguments is not None else call.arguments_raw,
        "status": call.status,
        "error": call.error or call.parse_error,
        "call_id": call.call_id,
        "span_ms": [call.called_ms, call.answered_ms if call.answered_ms is not None else call.called_ms],
    }


def call_spans(calls: Iterable[ToolCall]) -> list[list[float]]:
    return [call_row(call)["span_ms"] for call in calls]


def span_ms(span: Span) -> list[float]:
    return [round(span.start / SAMPLES_PER_MS, 3), round(span.end / SAMPLES_PER_MS, 3)]
