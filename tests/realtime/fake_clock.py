"""A clock that a test turns by hand: sleeping takes no time, and may be late on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping


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
