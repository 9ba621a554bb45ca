"""The caller's microphone. With turn detection by the server it stays open between the turns and sends silence:
a server that gets no more audio never hears the end of the words."""

from __future__ import annotations

import asyncio

import numpy as np

from runs_app.realtime.formats import wire_speech
from runs_app.realtime.line import Line
from runs_app.realtime.pacing import Cadence
from runs_app.realtime.record import SAMPLES_PER_MS


class Microphone:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._open: asyncio.Task[None] | None = None
        self._due_s = 0.0
        self._closing = False

    def stay_open(self, due_s: float) -> None:
        """Silence from this moment of the clock on, always in real time."""
        self._closing = False
        self._open = asyncio.create_task(self._send_silence(due_s))
        self._line.watch(self._open)

    async def take(self) -> float:
        """Stop the silence after the chunk that is under way. When the first chunk of the words is due."""
        now_s = self._line.journal.clock.now_s()
        if self._open is None:
            return now_s
        self._closing = True
        await asyncio.wait({self._open})
        self._open = None
        self._line.check()
        return self._due_s if self._line.journal.plan.real_time else max(now_s, self._due_s)

    def put_down(self) -> None:
        if self._open is not None:
            self._open.cancel()

    async def _send_silence(self, due_s: float) -> None:
        journal = self._line.journal
        size = journal.plan.chunk_ms * SAMPLES_PER_MS
        form = journal.caller_format
        append = journal.plan.dialect.append(wire_speech(np.zeros(size, dtype=np.int16), form).piece(0, size))
        cadence = Cadence(due_s)
        while True:
            # A late chunk is followed at once by the next: silence lost would delay what the server hears in it.
            self._due_s = cadence.due_s
            await journal.clock.sleep_until(cadence.due_s)
            if self._closing:
                return
            await self._line.send_truncations()
            await self._line.send_audio(append)
            cadence.advance(size)
