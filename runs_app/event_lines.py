"""One event in one line for people: when, who, what. Pages and the live stream use the same words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runs_app.models import Event
from scenarios_app.spec import conditions

MOST_CHARACTERS = 160
_TELLING = ("delta", "transcript", "text", "arguments", "message", "reason", "caller_text", "agent_text", "output")


@dataclass(frozen=True)
class Line:
    seq: int
    t_ms: float
    at: str  # 0:05.9
    source: str
    direction: str
    type: str
    summary: str


def line_of(event: Event) -> Line:
    return Line(
        seq=event.seq,
        t_ms=event.t_ms,
        at=clock_text(event.t_ms),
        source=event.source,
        direction=event.direction,
        type=event.type,
        summary=shortened(_told(event)),
    )


def _told(event: Event) -> str:
    words = _OBSERVED.get(event.type) if event.direction == "internal" else None
    return words(event.payload) if words else summary(event.payload)


def _opened(payload: dict[str, Any]) -> str:
    pace = "in real time" if payload.get("real_time") else "not in real time"
    return f"{payload.get('url', '')} · {payload.get('mode', '')}, {pace}"


def _ready(payload: dict[str, Any]) -> str:
    return (
        "the server confirmed the settings" if payload.get("acknowledged") else "the server confirmed nothing; going on"
    )


def _spoken(payload: dict[str, Any]) -> str:
    told = [f"{payload.get('duration_ms', 0) / 1000:.1f} s in {payload.get('chunks', 0)} chunks"]
    if payload.get("lag_max_ms") is not None:
        told.append(f"at most {payload['lag_max_ms']:.0f} ms late")
    if line := payload.get("condition"):
        told.append(f"on a line with {conditions.told(line)}")
    return ", ".join(told)


def _turn(payload: dict[str, Any]) -> str:
    return f"turn {payload.get('turn', 0) + 1}"


def _broken_into(payload: dict[str, Any]) -> str:
    heard, received = payload.get("heard_ms", 0), payload.get("received_ms", 0)
    return f"{_turn(payload)}, {heard:.0f} ms of it were heard, {received:.0f} ms had come"


def _handed_on(payload: dict[str, Any]) -> str:
    request = f": “{payload['request']}”" if payload.get("request") else ""
    return f"{_turn(payload)}: a task for {payload.get('target', '')}{request}"


def _handed_back(payload: dict[str, Any]) -> str:
    rounds = payload.get("rounds", 0)
    after = f" after {rounds} round{'' if rounds == 1 else 's'} of calls" if rounds else ""
    return f"{_turn(payload)}: the task is {payload.get('status', '')}{after}"


def _thought(payload: dict[str, Any]) -> str:
    calls = payload.get("calls") or []
    told = [f"{_turn(payload)}, after {payload.get('latency_ms', 0):.0f} ms"]
    told += [f"calls {', '.join(str(name) for name in calls)}"] if calls else []
    told += [f"“{payload['text']}”"] if payload.get("text") else []
    return " · ".join(told)


def _silent(payload: dict[str, Any]) -> str:
    return f"{payload.get('duration_ms', 0) / 1000:.1f} s of silence"


_BASES = {
    "spoken_turn": "the agent spoke",
    "returned_turn": "the agent said something new after the content came",
    "returned_audio": "by its sound alone: captions do not tell the answer from its acknowledgement",
}


def _settled(payload: dict[str, Any]) -> str:
    return f"{_turn(payload)}: {_BASES.get(str(payload.get('basis')), payload.get('basis'))}, and nothing more came"


# what the harness observed, where its payload alone would read like a form
_OBSERVED: dict[str, Callable[[dict[str, Any]], str]] = {
    "session.opened": _opened,
    "session.ready": _ready,
    "caller.audio": _spoken,
    "turn.sent": _turn,
    "caller.interrupts": _broken_into,
    "delegation.started": _handed_on,
    "delegation.ended": _handed_back,
    "delegation.response": _thought,
    "agent.silence": _silent,
    "turn.settled": _settled,
}


def clock_text(t_ms: float) -> str:
    """5900.0 -> 0:05.9; what happened before the first caller sample has a minus."""
    tenths = round(abs(t_ms) / 100)
    return f"{'-' if t_ms < 0 and tenths else ''}{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"


def summary(payload: dict[str, Any]) -> str:
    """What the payload says, without its envelope."""
    error = payload.get("error")
    if isinstance(error, dict):
        return " · ".join(str(error[key]) for key in ("code", "message") if error.get(key))
    name = payload.get("name")
    told = [name] if isinstance(name, str) else []
    told += [_text(payload[key]) for key in _TELLING if payload.get(key) not in (None, "", {}, [])]
    if not told:
        told = [f"{key} {value}" for key, value in payload.items() if key not in _ENVELOPE and _is_plain(value)]
    return " · ".join(told)


_ENVELOPE = {
    "type",
    "event_id",
    "response_id",
    "item_id",
    "output_index",
    "content_index",
    "call_id",
    "previous_item_id",
}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value not in ("", None)


def _text(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"bytes"}:
        return f"{value['bytes']} bytes of audio"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
