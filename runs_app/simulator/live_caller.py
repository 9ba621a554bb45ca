"""The caller's side of a Live session: where turns end, and what was said in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runs_app.simulator.ear import Ear, Heard
from runs_app.simulator.formats import RATE_HZ, Format, Samples, resampled
from runs_app.simulator.hearing import joined_words
from runs_app.simulator.partial import is_unfinished, words_between
from runs_app.simulator.turn_detector import TurnDetector

END_SILENCE_MS, PADDING_MS = 600, 300
_CLOCK_PER_MS = RATE_HZ // 1000


class Stretch(NamedTuple):
    """Speech between two silences, on the session's clock, at 24 kHz; what it says is being heard."""

    start_ms: float
    end_ms: float
    samples: Samples
    hearing: asyncio.Task[Heard]

    async def heard(self) -> Heard:
        """Who is interrupted while it waits takes nothing from those who ask later."""
        return await asyncio.shield(self.hearing)

    async def words(self) -> str | None:
        """Its own words; None when they were not understood."""
        heard = await self.heard()
        return None if heard.text is None else words_between(heard.text, heard.begin, heard.end)


class Understanding(NamedTuple):
    """What was said since the agent last did anything."""

    text: str | None
    unfinished: bool


class Caller:
    """`feed` gives None where speech begins and a Stretch where it has ended."""

    def __init__(self, form: Format, ear: Ear) -> None:
        self._form, self._ear = form, ear
        settings = {"type": "server_vad", "threshold": 0.5, "silence_duration_ms": END_SILENCE_MS}
        self._detector = TurnDetector(settings, 0)
        self._pieces: list[Samples] = []
        self._dropped = 0  # samples before the first piece
        self._begun_ms = 0.0
        self._open: list[Stretch] = []

    def feed(self, samples: Samples) -> Iterator[Stretch | None]:
        self._pieces.append(samples)
        if not self._detector.speaking:
            self._forget()
        for mark in self._detector.feed(samples, self._form.rate_hz):
            if mark.kind == "started":
                self._begun_ms = max(0.0, mark.place / _CLOCK_PER_MS - PADDING_MS)
                yield None
            else:
                yield self._cut(self._begun_ms, mark.place / _CLOCK_PER_MS)

    async def understand(self) -> Understanding:
        """All that nobody answered yet, heard as one."""
        parts = [await stretch.heard() for stretch in self._open]
        together = parts[0] if len(parts) == 1 else await self._ear.listen(np.concatenate([*self._with_gaps()]))
        return Understanding(joined_words(together, parts), is_unfinished(together))

    def answered(self) -> None:
        """The agent has acted: what is said from now on is something new."""
        self._open.clear()

    def _cut(self, start_ms: float, end_ms: float) -> Stretch:
        per_ms = self._form.rate_hz // 1000
        first, last = (int(place_ms * per_ms) - self._dropped for place_ms in (start_ms, end_ms))
        narrow = np.concatenate(self._pieces)[max(first, 0) : last]
        samples = resampled(narrow, from_hz=self._form.rate_hz, to_hz=RATE_HZ)
        stretch = Stretch(start_ms, end_ms, samples, asyncio.create_task(self._ear.listen(samples)))
        self._open.append(stretch)
        return stretch

    def _forget(self) -> None:
        """Nobody speaks: a second is more than the padding of the next speech needs."""
        while len(self._pieces) > 1 and sum(map(len, self._pieces[1:])) > self._form.rate_hz:
            self._dropped += len(self._pieces.pop(0))

    def _with_gaps(self) -> Iterator[Samples]:
        end_ms = self._open[0].start_ms
        for stretch in self._open:
            yield np.zeros(max(0, int((stretch.start_ms - end_ms) * _CLOCK_PER_MS)), np.int16)
            yield stretch.samples
            end_ms = stretch.end_ms
