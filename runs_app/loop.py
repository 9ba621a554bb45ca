"""An asyncio loop in a thread of its own, for code that blocks (Celery threads, recorders) to hand work to.

All conversations of a process share one: one loop holds the 20 ms cadence of hundreds of sessions, a loop per thread
does not. Nothing slow may run on it, so gradings and rings have theirs. A loop starts with its first use, and a
forked child starts its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    def __init__(self, name: str) -> None:
        self.name = name
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # the lock too: the parent's other threads may have held it while it forked
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name=f"loop {self.name}", daemon=True).start()
            return self._loop

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts the coroutine on the loop. Cancelling the future cancels the coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def call_soon(self, function: Callable[..., object], *arguments: Any) -> None:
        self._running().call_soon_threadsafe(function, *arguments)


conversations = LoopThread("conversations")
gradings = LoopThread("gradings")
rings = LoopThread("rings")
