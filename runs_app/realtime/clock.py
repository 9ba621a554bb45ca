"""The one clock of a conversation. Everything that waits or measures takes it as an argument."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds on a monotonic scale, and waiting on that scale."""

    def now_s(self) -> float: ...

    async def sleep_until(self, due_s: float) -> None: ...


class MonotonicClock:
    """The machine's monotonic clock, which is also the event loop's."""

    def now_s(self) -> float:
        return time.monotonic()

    async def sleep_until(self, due_s: float) -> None:
        """Returns at once when the time has passed, but lets others run first."""
        await asyncio.sleep(max(0.0, due_s - time.monotonic()))
