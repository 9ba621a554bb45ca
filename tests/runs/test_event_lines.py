"""An event reads as a line for people."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.event_lines import line_of
from runs_app.models import Event


def told(type_: str, payload: dict[str, Any], direction: str = "internal", t_ms: float = 5_900.0) -> str:
    event = Event(seq=1, t_ms=t_ms, source="harness", direction=direction, type=type_, payload=payload)
    return line_of(event).summary


@pytest.mark.parametrize(
    ("type_", "payload", "words"),
    [
        (
            "session.opened",
            {"url": "ws://127.0.0.1:1/v1/realtime", "dialect": "ga", "mode": "audio", "real_time": True},
            "ws://127.0.0.1:1/v1/realtime · audio, in real time",
        ),
        ("session.ready", {"acknowledged": True}, "the server confirmed the settings"),
        ("session.ready", {"acknowledged": False}, "the server confirmed nothing; going on"),
        (
            "caller.audio",
            {"turn": 0, "chunks": 41, "bytes": 196_080, "duration_ms": 4_085.0, "lag_max_ms": 1.4},
            "4.1 s in 41 chunks, at most 1 ms late",
        ),
        ("caller.audio", {"chunks": 41, "duration_ms": 4_085.0, "lag_max_ms": None}, "4.1 s in 41 chunks"),
        ("turn.sent", {"turn": 0}, "turn 1"),
        (
            "caller.interrupts",
            {"turn": 0, "heard_ms": 700.4, "received_ms": 3310.0},
            "turn 1, 700 ms of it were heard, 3310 ms had come",
        ),
        ("delegation.started", {"turn": 0, "target": "responses"}, "turn 1: a task for responses"),
        (
            "delegation.ended",
            {"turn": 0, "status": "completed", "rounds": 2},
            "turn 1: the task is completed after 2 rounds of calls",
        ),
        ("delegation.ended", {"turn": 1, "status": "failed", "rounds": 0}, "turn 2: the task is failed"),
        ("agent.silence", {"deltas": 120, "duration_ms": 12_040.0}, "12.0 s of silence"),
        (
            "turn.settled",
            {"turn": 0, "basis": "returned_turn"},
            "turn 1: the agent said something new after the content came, and nothing more came",
        ),
        ("tool.called", {"name": "create_reservation", "arguments": {"party_size": 2}}, None),
    ],
)
def test_what_the_harness_observed_reads_as_words(type_: str, payload: dict[str, Any], words: str | None) -> None:
    assert told(type_, payload) == (words or 'create_reservation · {"party_size": 2}')


def test_a_frame_of_the_wire_is_not_taken_for_the_harness() -> None:
    assert told("session.ready", {"acknowledged": True}, direction="received") == "acknowledged True"
