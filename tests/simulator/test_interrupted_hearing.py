"""The caller goes on while the simulator still listens to the words before: whoever waited is interrupted, the words
are not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runs_app.simulator.desk import Desk
from runs_app.simulator.dialects import Ga
from runs_app.simulator.ear import Ear, Heard
from runs_app.simulator.formats import PCM
from runs_app.simulator.hearing import Hearing
from runs_app.simulator.live_caller import Caller
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.voices import Voices

Samples = npt.NDArray[np.int16]
WORDS = "Book a table for Maya on June 12 at 7 p.m. for two."


class SlowEar(Ear):
    """Listens as long as the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.done = asyncio.Event()

    async def listen(self, samples: Samples) -> Heard:
        await self.done.wait()
        return self.hear(samples)


@pytest.fixture(scope="module")
def sound() -> Samples:
    return Voices().say(WORDS)


async def interrupted(wait: Coroutine[Any, Any, object]) -> None:
    task = asyncio.ensure_future(wait)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_live_session_still_hears_what_an_interrupted_thought_waited_for(sound: Samples) -> None:
    ear = SlowEar()
    ear.remember(WORDS, sound)
    caller = Caller(PCM, ear)
    line = np.concatenate([sound, np.zeros(24_000, np.int16)])
    ended = [mark for start in range(0, len(line), 2_400) for mark in caller.feed(line[start : start + 2_400]) if mark]
    await interrupted(caller.understand())
    await interrupted(ended[0].words())
    ear.done.set()
    assert (await caller.understand()).text == WORDS
    assert await ended[0].words() == WORDS


async def test_a_realtime_session_still_hears_what_an_interrupted_answer_waited_for(sound: Samples) -> None:
    async def nowhere(*_: object) -> None:
        """Nobody is at the other end."""

    ear = SlowEar()
    ear.remember(WORDS, sound)
    item = {"id": "item_1", "type": "message", "role": "user", "content": []}
    async with asyncio.TaskGroup() as group:
        outlet = Outlet(group=group, send=nowhere, close=nowhere)
        hearing = Hearing(Desk(options=Options(), dialect=Ga(), outlet=outlet), ear)
        hearing.listen(item, sound)
        await interrupted(hearing.understand([item]))
        ear.done.set()
        assert (await hearing.understand([item])).texts == {"item_1": WORDS}
