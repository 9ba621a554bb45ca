"""The way out of a session: frames to the client, the close, and the tasks that live as long as the session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int, str], Awaitable[None]]


class Outlet:
    def __init__(self, *, group: asyncio.TaskGroup, send: Send, close: Close) -> None:
        self._group, self._send, self._close = group, send, close
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = True

    async def emit_raw(self, text: str) -> None:
        if self._open:
            await self._send(text)

    async def hang_up(self, code: int, reason: str) -> None:
        if self._open:
            self._open = False
            await self._close(code, reason)

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Do `work` beside the client's events, as long as the session lives."""
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def end(self) -> None:
        """The socket is gone: nothing is sent any more, and what is under way stops."""
        self._open = False
        for task in self._tasks:
            task.cancel()
