"""Small real evidence: scenarios through the contract, records as the engine leaves them, sounds with known edges."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from runs_app.grading.case import Case, Evidence
from runs_app.grading.judge import Question, Reply
from runs_app.realtime.record import (
    RATE_HZ,
    SAMPLES_PER_MS,
    Caption,
    Ending,
    Record,
    Span,
    ToolCall,
    Turn,
    Usage,
)
from scenarios_app.spec.scenario import Scenario, parse_scenario

_numbers = itertools.count(1)

BOOKING = {"guest_name": "Nora", "date": "2027-05-15", "time": "18:00", "party_size": 3}
REPLY = "I've booked a table for three under Nora on 15 May at six."


@dataclass
class PlainJudge:
    """A judge of our own protocol: says what it is told to say about each dimension, by default that all is well."""

    bodies: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    asked: list[Question] = field(default_factory=list)
    model: str = "plain-judge"

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        fine = json.dumps({"passed": True, "score": 1, "rationale": "All is well.", "evidence": []})
        body = self.bodies.get(question.dimension, fine)
        return Reply(body, self.errors.get(question.dimension, ""), 1, 12.5, 90, 20)


def scenario(**changes: Any) -> Scenario:
    """The BASE scenario of the cases; `expected` and others replace its fields."""
    base: dict[str, Any] = {
        "id": "booking-001",
        "title": "A table for three, date corrected",
        "type": "booking",
        "interaction": "single_turn",
        "tags": ["booking", "correction"],
        "input": {"text": "Book a table for Nora on 14 May - sorry, 15 May - at six in the evening for three."},
        "expected": {
            "answer": "Confirms 15 May at 18:00 for three.",
            "delegation": "required",
            "tools": {"required": [{"name": "create_reservation", "arguments": BOOKING}]},
            "state": {"reservation_created": True},
        },
    }
    return parse_scenario(base | changes)


def expecting(**expected: Any) -> Scenario:
    return scenario(expected=expected)


def call(name: str = "create_reservation", arguments: Any = None, **changes: Any) -> ToolCall:
    given = BOOKING if arguments is None else arguments
    base: dict[str, Any] = {
        "call_id": f"call_{next(_numbers)}",
        "name": name,
        "arguments_raw": "{}",
        "arguments": given,
        "parse_error": None,
        "turn": 0,
        "round": 0,
        "response_id": "resp_1",
        "output_index": 0,
        "called_ms": 1_500.0,
        "status": "completed",
        "answered_ms": 1_600.0,
        "output": {"ok": True},
    }
    return ToolCall(**(base | changes))


def unreadable_call(raw: str, **changes: Any) -> ToolCall:
    failed = {"arguments": None, "parse_error": "the object is not closed", "status": "failed", "arguments_raw": raw}
    made = call(**changes)
    return ToolCall(**({k: getattr(made, k) for k in made.__dataclass_fields__} | failed))


def turn(text: str = REPLY, *, said_ms: float = 1_900.0, **changes: Any) -> Turn:
    base: dict[str, Any] = {
        "index": 0,
        "caller_text": "Book a table for Nora on 15 May at six in the evening for three.",
        "agent_text": text,
        "status": "completed",
        "status_reason": None,
        "sent_ms": 1_000.0,
        "first_token_ms": said_ms,
        "first_audio_ms": None,
        "done_ms": said_ms + 300.0,
        "rounds": 1,
        "captions": (Caption(said_ms, text),) if text else (),
    }
    return Turn(**(base | changes))


def record(*calls: ToolCall, turns: tuple[Turn, ...] | None = None, **changes: Any) -> Record:
    """A text conversation that went well; `calls` are its tool calls."""
    base: dict[str, Any] = {
        "protocol": "realtime",
        "dialect": "ga",
        "mode": "text",
        "real_time": False,
        "ending": Ending("completed"),
        "turns": (turn(),) if turns is None else turns,
        "tool_calls": calls,
        "initial_state": {},
        "final_state": {"reservation_created": True} if calls else {},
        "usage": Usage(input_tokens=120, output_tokens=30, total_tokens=150),
        "session_acknowledged": True,
        "ws_messages_received": 12,
    }
    return Record(**(base | changes))


def case(scenario_: Scenario, record_: Record, **changes: Any) -> Case:
    return Case(Evidence(scenario_, record_, **changes))


def tone(duration_ms: float, *, amplitude: int = 6_000, pitch_hz: float = 187.0) -> npt.NDArray[np.int16]:
    samples = np.arange(round(duration_ms * SAMPLES_PER_MS))
    # A cosine: the very first sample is loud, so that the edge of the sound is the edge of the array.
    return (amplitude * np.cos(2 * np.pi * pitch_hz * samples / RATE_HZ)).astype(np.int16)


def recording(caller: list[tuple[float, float]], agent: list[tuple[float, float]], total_ms: float) -> Any:
    """Stereo with a tone in each stretch of [start_ms, end_ms)."""
    audio = np.zeros((round(total_ms * SAMPLES_PER_MS), 2), dtype=np.int16)
    for channel, stretches in enumerate((caller, agent)):
        for start_ms, end_ms in stretches:
            sound = tone(end_ms - start_ms)
            start = round(start_ms * SAMPLES_PER_MS)
            audio[start : start + len(sound), channel] = sound[: len(audio) - start]
    return audio


def span(start_ms: float, end_ms: float) -> Span:
    return Span(round(start_ms * SAMPLES_PER_MS), round(end_ms * SAMPLES_PER_MS))


def spoken(
    *,
    caller: tuple[float, float] = (0.0, 1_000.0),
    agent: tuple[tuple[float, float], ...] = ((1_800.0, 3_000.0),),
    text: str = REPLY,
    **changes: Any,
) -> Turn:
    """A turn of an audio conversation; times in ms."""
    base: dict[str, Any] = {
        "caller": span(*caller),
        "agent": tuple(span(*stretch) for stretch in agent),
        "sent_ms": caller[1],
        "first_audio_ms": agent[0][0] if agent else None,
        "done_ms": agent[-1][1] if agent else caller[1] + 400.0,
    }
    said_ms = agent[0][0] if agent else caller[1] + 100.0
    return turn(text, said_ms=said_ms, **(base | changes))


def audio_record(*calls: ToolCall, turns: tuple[Turn, ...] | None = None, **changes: Any) -> Record:
    base: dict[str, Any] = {"mode": "audio", "real_time": True, "audio_samples": 0}
    return record(*calls, turns=(spoken(),) if turns is None else turns, **(base | changes))
