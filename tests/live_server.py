"""A scripted GPT Live server. Its clock is the audio that it gets: without any, nothing of its script happens.

async with serving(live([*says("Your table is booked.", at_ms=1500)])) as server: ...
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.scripted_server import Session
from tests.scripted_steps import Call, Close, Drop, Expect, SendRaw, Step

Event = dict[str, Any]
FRAME_MS = 20
APPEND, CLOSE = "session.input_audio.append", "session.close"
RETURNS = (
    "response.create",
    "session.commentary.append",
    "session.thinking.append",
)  # work that came back to the voice


@dataclass(frozen=True)
class Cue:
    """Events at a moment of the appended audio, counted from the n-th work that came back (RETURNS), or from the start
    (0). What is done beside the socket takes real time: words about it must count from its return.

    A frame may stand among them as it is, and an end of the connection."""

    at_ms: float
    events: Sequence[Event | SendRaw | Close | Drop]
    after_return: int = 0


def voice(ms: float) -> bytes:
    """PCM16 of a tone that is as loud as speech."""
    count = round(ms * 24)
    return (6000 * np.sin(2 * np.pi * 300 * np.arange(count) / 24_000)).astype("<i2").tobytes()


def sound(pcm: bytes) -> Event:
    return {"type": "session.output_audio.delta", "delta": base64.b64encode(pcm).decode()}


def caption(text: str, start_ms: float, end_ms: float, *, side: str = "output") -> Event:
    return {
        "type": f"session.{side}_transcript.delta",
        "event_id": f"event_{side}_{start_ms}_{text}",
        "delta": text,
        "start_ms": round(start_ms),
        "end_ms": round(end_ms),
    }


def says(text: str, *, at_ms: float, ms: float = 600, after_return: int = 0) -> list[Cue]:
    """Words and their sound at the pace of the clock."""
    cues = [Cue(at_ms, [caption(text, at_ms, at_ms + ms)], after_return)]
    for place in range(0, round(ms), FRAME_MS):
        cues.append(Cue(at_ms + place + FRAME_MS, [sound(voice(FRAME_MS))], after_return))
    return cues


def silence(*, from_ms: float, to_ms: float) -> list[Cue]:
    """Zeros without end, as some servers send them."""
    zeros = [sound(bytes(FRAME_MS * 48))]
    return [Cue(at, zeros) for at in range(round(from_ms), round(to_ms), FRAME_MS)]


def delegated(delegation: str = "dlg_1", *, target: str = "responses") -> Event:
    told = {"id": delegation, "type": "delegation", "target": target, "response_id": f"resp_{delegation}"}
    return {"type": "session.delegation.created", "event_id": f"ev_{delegation}", "offset_ms": 0, "delegation": told}


def nested(event: Event, delegation: str = "dlg_1") -> Event:
    return {"type": "response.event", "delegation_id": delegation, "event": event}


def calls(*items: tuple[str, str, str], delegation: str = "dlg_1", response: str = "resp_b1") -> list[Event]:
    """A whole response of the backend that calls functions: (name, arguments, call id)."""
    events: list[Event] = [{"type": "response.created", "response": {"id": response, "output": []}}]
    events.append(_item_done({"id": "rs_1", "type": "reasoning", "summary": []}, 0))
    for index, (name, arguments, call_id) in enumerate(items, start=1):
        item = {"id": f"fc_{call_id}", "type": "function_call", "call_id": call_id, "name": name}
        added = {**item, "status": "in_progress", "arguments": ""}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        where = {"item_id": item["id"], "output_index": index}
        events.append({"type": "response.function_call_arguments.delta", **where, "delta": arguments})
        events.append(_item_done({**item, "status": "completed", "arguments": arguments}, index))
    events.append(_completed(response))
    return [nested(event, delegation) for event in events]


def content(text: str, delegation: str = "dlg_1", response: str = "resp_b2") -> list[Event]:
    """A whole response of the backend that answers."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    events: list[Event] = [
        {"type": "response.created", "response": {"id": response, "output": []}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": text},
        _item_done(message, 1),
        _completed(response),
    ]
    return [nested(event, delegation) for event in events]


def _item_done(item: Event, index: int) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def _completed(response: str) -> Event:
    details = {"input_tokens_details": {"cached_tokens": 2}, "output_tokens_details": {"reasoning_tokens": 1}}
    usage = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25, **details}
    return {"type": "response.completed", "response": {"id": response, "status": "completed", "usage": usage}}


class Player:
    """Gives the cues of a script when the clock comes to them."""

    def __init__(self, session: Session, cues: Iterable[Cue], at_close: Sequence[Event] = ()) -> None:
        self.session, self.at_close = session, at_close
        self.rest = sorted(cues, key=lambda cue: cue.at_ms)
        self.zeros: dict[int, float] = {0: 0.0}
        self.now_ms = 0.0

    async def take(self, event: Event) -> None:
        if event["type"] == APPEND:
            self.now_ms += len(base64.b64decode(event["audio"])) / 48
        elif event["type"] in RETURNS:
            self.zeros[len(self.zeros)] = self.now_ms
        elif event["type"] == CLOSE:
            for late in self.at_close:
                await self.session.send(late)
            ended = {"reason": "close_requested", "session": {"id": "live_1"}, "usage": {"seconds": 12}}
            await self.session.send({"type": "session.closed", "event_id": "ev_closed", **ended})
            await self.session.connection.close()
            return
        await self._cues()

    async def _cues(self) -> None:
        due = [cue for cue in self.rest if self._is_due(cue)]
        self.rest = [cue for cue in self.rest if not self._is_due(cue)]
        for cue in due:
            for event in cue.events:
                await self._send(event, self.zeros[cue.after_return])

    async def _send(self, event: Event | SendRaw | Close | Drop, zero_ms: float) -> None:
        match event:
            case SendRaw(frame):
                await self.session.send(frame)
            case Close(code, reason):
                await self.session.connection.close(code, reason)
            case Drop():
                self.session.connection.transport.abort()
            case _:
                await self.session.send(_later(event, zero_ms))

    def _is_due(self, cue: Cue) -> bool:
        zero_ms = self.zeros.get(cue.after_return)
        return zero_ms is not None and self.now_ms >= zero_ms + cue.at_ms


def live(cues: Iterable[Cue], *, started: bool = True, at_close: Sequence[Event] = ()) -> list[Step]:
    """`at_close`: what is still sent between the client's session.close and session.closed."""
    cues = list(cues)

    async def start(session: Session) -> None:
        asked = session.events("session.start")[0]
        told = {"id": "live_1", "status": "active", "expires_at": 2_000_000_000, **asked["session"]}
        echo = {"client_event_id": asked["event_id"]}
        await session.send({"type": "session.started", "event_id": "ev_started", "session": told, **echo})

    async def play(session: Session) -> None:
        player, place = Player(session, cues, at_close), 0
        while session.closed_s is None and session.connection.close_code is None:
            session.news.clear()
            while place < len(session.received):
                await player.take(session.received[place].event)
                place += 1
            if not session.news.is_set():
                await session.news.wait()

    return [Expect("session.start"), *([Call(start)] if started else []), Call(play)]


def _later(event: Event, ms: float) -> Event:
    """Times of captions count from the start of the session, whatever the cue counts from."""
    timed = {key for key in ("start_ms", "end_ms") if isinstance(event.get(key), int)}
    return {key: value + round(ms) if key in timed else value for key, value in event.items()}
