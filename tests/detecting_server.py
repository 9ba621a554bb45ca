"""A scripted server with turn detection: it ends the caller's turn by the silence in the audio that it gets.

Its clock is the audio appended, as a real server's is, so it works in real time and in a test's own time alike.

    async with serving(detecting([Answer([pcm])])) as server: ...
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.scripted_events import Event, audio_delta, created, done, session_created, session_updated, transcript_delta
from tests.scripted_server import Expect, Send, Session
from tests.scripted_steps import Call, Step

RATE_HZ = 24_000
FRAME_MS = 10
LOUD_RMS = 220.0


@dataclass(frozen=True)
class Answer:
    """One response. `ends`: at once, else only when the caller's voice cancels it. `events` replace the audio."""

    audio: Sequence[bytes] = ()
    text: str = ""
    ends: bool = True
    after_ms: int = 0  # of appended audio
    events: Sequence[Event] | None = None


@dataclass
class Ear:
    session: Session
    answers: Sequence[Answer]
    silence_ms: int
    interrupts: bool
    creates: bool
    tells: bool
    heard_ms: int = 0
    loud_until_ms: int = 0
    hears: bool = False
    turns: int = 0
    answered: int = 0
    due_ms: int | None = None
    active: str | None = None
    rest: list[int] = field(default_factory=list)

    async def frame(self, loud: bool) -> None:
        self.heard_ms += FRAME_MS
        if loud:
            self.loud_until_ms = self.heard_ms
        if loud and not self.hears:
            await self._voice_begins()
        elif self.hears and self.heard_ms - self.loud_until_ms >= self.silence_ms:
            await self._voice_ends()
        if self.due_ms is not None and self.heard_ms >= self.due_ms and not self.hears:
            self.due_ms = None
            await self.answer()

    async def _voice_begins(self) -> None:
        self.hears, self.due_ms = True, None
        if self.tells:
            started = {"item_id": f"item_u{self.turns}", "audio_start_ms": self.heard_ms - FRAME_MS}
            await self.session.send({"type": "input_audio_buffer.speech_started", **started})
        if self.active and self.interrupts:
            cut = {"type": "cancelled", "reason": "turn_detected"}
            active, self.active = self.active, None
            await self.session.send(done(active, "cancelled", status_details=cut))

    async def _voice_ends(self) -> None:
        self.hears = False
        item = f"item_u{self.turns}"
        self.turns += 1
        if self.tells:
            stopped = {"item_id": item, "audio_end_ms": self.heard_ms}
            await self.session.send({"type": "input_audio_buffer.speech_stopped", **stopped})
        await self.session.send({"type": "input_audio_buffer.committed", "item_id": item, "previous_item_id": None})
        if self.creates and self.answered < len(self.answers):
            self.due_ms = self.heard_ms + self.answers[self.answered].after_ms

    async def answer(self) -> None:
        """The next answer of the script."""
        answer, response = self.answers[self.answered], f"resp_{self.answered + 1}"
        self.answered += 1
        self.active = response
        await self.session.send(created(response))
        item = f"item_{response}"
        events = [transcript_delta(answer.text, response, item)] if answer.text else []
        events += [audio_delta(piece, response, item) for piece in answer.audio]
        for event in events if answer.events is None else answer.events:
            await self.session.send(event)
        if answer.ends:
            self.active = None
            await self.session.send(done(response))


def detecting(
    answers: Sequence[Answer],
    *,
    silence_ms: int = 500,
    interrupts: bool = True,
    creates: bool = True,
    tells: bool = True,
) -> list[Step]:
    """`tells`: whether it says when it hears the caller begin and end. Also answers a response.create."""

    async def listen(session: Session) -> None:
        ear, place = Ear(session, answers, silence_ms, interrupts, creates, tells), 0
        while session.closed_s is None and session.connection.close_code is None:
            session.news.clear()
            while place < len(session.received):
                await _take(ear, session.received[place].event)
                place += 1
            if not session.news.is_set():
                await session.news.wait()

    return [Send(session_created()), Expect("session.update"), Send(session_updated()), Call(listen)]


async def _take(ear: Ear, event: dict[str, Any]) -> None:
    if event["type"] == "response.create" and ear.answered < len(ear.answers):
        await ear.answer()
    if event["type"] != "input_audio_buffer.append":
        return
    data = base64.b64decode(event["audio"])
    ear.rest += np.frombuffer(data, dtype="<i2").tolist()
    size = FRAME_MS * RATE_HZ // 1000
    while len(ear.rest) >= size:
        frame, ear.rest = np.array(ear.rest[:size], dtype=np.float64), ear.rest[size:]
        await ear.frame(bool(np.sqrt(np.mean(frame**2)) >= LOUD_RMS))
