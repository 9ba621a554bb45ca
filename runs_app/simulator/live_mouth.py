"""What a Live agent says: one thing after the other, at the pace of the session's clock, with its words in time."""

from __future__ import annotations

import base64
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy as np

from runs_app.simulator.formats import RATE_HZ, Format, Samples, resampled
from runs_app.simulator.live_clock import LiveClock
from runs_app.simulator.wire import Json

CHUNK_MS = 100
GAP_MS = 900  # between two things that are said: a shorter one would make one turn of them
_WORDS_PER_CAPTION = 3


@dataclass
class Utterance:
    """Something to be said, not before `earliest_ms` and `gap_ms` after what was said before."""

    text: str
    samples: Samples  # at the format's rate
    rate_hz: int
    earliest_ms: float
    gap_ms: float
    start_ms: float | None = None
    sent: int = 0
    captions: deque[tuple[str, float, float]] = field(default_factory=deque)
    spoken: str = ""

    @property
    def length_ms(self) -> float:
        return len(self.samples) * 1000 / self.rate_hz


class Mouth:
    """`said(text)` is told what went out: the whole of an utterance, or what an interruption left of it."""

    def __init__(
        self,
        *,
        clock: LiveClock,
        form: Format,
        emit: Callable[[dict[str, Json]], Awaitable[None]],
        said: Callable[[str], None],
        zeros: bool = False,
    ) -> None:
        self._clock, self._form, self._emit, self._said, self._zeros = clock, form, emit, said, zeros
        self._queue: deque[Utterance] = deque()
        self._free_ms = -math.inf  # until when the last utterance reached
        self._silent_to_ms = 0.0

    @property
    def speaking(self) -> bool:
        return bool(self._queue) and self._queue[0].start_ms is not None

    def say(self, text: str, samples: Samples, *, earliest_ms: float, gap_ms: float) -> None:
        """Queue `samples` (24 kHz): they begin as soon as what came before is over."""
        narrow = resampled(samples, from_hz=RATE_HZ, to_hz=self._form.rate_hz)
        self._queue.append(Utterance(text, narrow, self._form.rate_hz, earliest_ms, gap_ms))

    def interrupt(self) -> None:
        """Stop at once, and forget what was still to be said."""
        if self.speaking:
            self._said(self._queue[0].spoken)
            self._free_ms = self._clock.now_ms
        self._queue.clear()

    async def go_on(self) -> None:
        """Say what the clock allows by now."""
        while self._queue:
            utterance = self._queue[0]
            if utterance.start_ms is None:
                self._begin(utterance)
            if not await self._speak(utterance):
                return
            self._said(utterance.spoken)
            self._free_ms = (utterance.start_ms or 0.0) + utterance.length_ms
            self._queue.popleft()
        if self._zeros:
            await self._send_zeros()

    def _begin(self, utterance: Utterance) -> None:
        utterance.start_ms = max(utterance.earliest_ms, self._free_ms + utterance.gap_ms)
        words = utterance.text.split(" ")
        letters, passed = sum(map(len, words)) + len(words), 0
        for first in range(0, len(words), _WORDS_PER_CAPTION):
            piece = words[first : first + _WORDS_PER_CAPTION]
            begin = utterance.start_ms + utterance.length_ms * passed / letters
            passed += sum(map(len, piece)) + len(piece)
            end = utterance.start_ms + utterance.length_ms * passed / letters
            utterance.captions.append((" " * bool(first) + " ".join(piece), begin, end))

    async def _speak(self, utterance: Utterance) -> bool:
        """Send what is due of it; whether it is over."""
        start_ms, size = utterance.start_ms or 0.0, CHUNK_MS * utterance.rate_hz // 1000
        while utterance.sent < len(utterance.samples):
            piece = utterance.samples[utterance.sent : utterance.sent + size]
            due_ms = start_ms + (utterance.sent + len(piece)) * 1000 / utterance.rate_hz
            if due_ms > self._clock.now_ms:
                return False
            await self._caption(utterance, due_ms)
            utterance.sent += len(piece)
            self._silent_to_ms = due_ms
            await self._send(piece)
        return True

    async def _caption(self, utterance: Utterance, to_ms: float) -> None:
        while utterance.captions and utterance.captions[0][1] < to_ms:
            words, begin, end = utterance.captions.popleft()
            utterance.spoken += words
            times = {"start_ms": int(begin), "end_ms": int(end)}
            await self._emit({"type": "session.output_transcript.delta", "delta": words, **times})

    async def _send_zeros(self) -> None:
        while self._silent_to_ms + CHUNK_MS <= self._clock.now_ms:
            self._silent_to_ms += CHUNK_MS
            await self._send(np.zeros(CHUNK_MS * self._form.rate_hz // 1000, np.int16))

    async def _send(self, samples: Samples) -> None:
        delta = base64.b64encode(self._form.write(samples)).decode()
        await self._emit({"type": "session.output_audio.delta", "delta": delta})
