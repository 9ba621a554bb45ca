"""The clock of a Live session: the audio that the client has appended. Without audio the time stands still."""

from __future__ import annotations

import asyncio
import heapq
import itertools


class LiveClock:
    def __init__(self) -> None:
        self.now_ms = 0.0
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def advance(self, ms: float) -> None:
        """So much more audio came; who waited for this moment goes on."""
        self.now_ms += ms
        while self._waiting and self._waiting[0][0] <= self.now_ms:
            _, _, future = heapq.heappop(self._waiting)
            if not future.done():
                future.set_result(None)

    async def reach(self, place_ms: float) -> None:
        """Wait for a moment; no longer than the session lives."""
        if place_ms > self.now_ms:
            future = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (place_ms, next(self._order), future))
            await future
