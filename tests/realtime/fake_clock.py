"""Clocks that a test turns: sleeping takes no time, and may be late on purpose."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Mapping
from typing import Any

ANSWER_S = 0.002  # of real time without a byte on any socket before the next sleeper wakes


class FakeClock:
    def __init__(self, now_s: float = 1000.0, *, late_ms: Mapping[int, float] | None = None) -> None:
        """`late_ms`: how late the n-th sleep (from 0) wakes up."""
        self.time_s = now_s
        self.sleeps = 0
        self.late_ms = dict(late_ms or {})

    def now_s(self) -> float:
        return self.time_s

    def advance(self, ms: float) -> None:
        self.time_s += ms / 1000

    async def sleep_until(self, due_s: float) -> None:
        late_s = self.late_ms.get(self.sleeps, 0.0) / 1000
        self.sleeps += 1
        self.time_s = max(self.time_s, due_s) + late_s
        await asyncio.sleep(0)


class WarpClock:
    """For whole sessions with several sleepers: time stands still while anybody may have something to say, then jumps
    to the moment for which somebody waits. So every sleeper wakes exactly when it wanted to."""

    def __init__(self, now_s: float = 1000.0) -> None:
        self.time_s = now_s
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self._turning: asyncio.Task[None] | None = None

    def now_s(self) -> float:
        return self.time_s

    async def sleep_until(self, due_s: float) -> None:
        if due_s <= self.time_s:
            await asyncio.sleep(0)
            return
        self._count += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due_s, self._count, woken))
        if self._turning is None or self._turning.done():
            self._turning = asyncio.create_task(self._turn())
        await woken

    async def _turn(self) -> None:
        while self._sleepers:
            await _idle()
            while self._sleepers and self._sleepers[0][2].cancelled():
                heapq.heappop(self._sleepers)
            if self._sleepers:
                due_s, _, woken = heapq.heappop(self._sleepers)
                self.time_s = max(self.time_s, due_s)
                woken.set_result(None)


async def _idle() -> None:
    """Until for a while nothing came to the loop and nobody kept it busy: who works now is not late."""
    heard = _sockets_of(asyncio.get_running_loop())
    while True:
        began_s, before = time.monotonic(), heard[0]
        await asyncio.sleep(ANSWER_S)
        if heard[0] == before and time.monotonic() - began_s < 1.5 * ANSWER_S:
            return


def _sockets_of(loop: Any) -> list[int]:
    """How often sockets of this loop were ready so far, counted from the first call on. Time alone does not tell: on a
    busy machine an answer may be on its way for longer than any pause that is long enough."""
    if not hasattr(loop, "counted_sockets"):
        loop.counted_sockets = [0]
        process = loop._process_events

        def count(ready: list[Any]) -> None:
            loop.counted_sockets[0] += len(ready)
            process(ready)

        loop._process_events = count
    counted: list[int] = loop.counted_sockets
    return counted
