"""The open line to the agent: sending with a deadline, receiving in order, waiting that notices when it breaks.

What the other side does to end a conversation travels in the same queue as its answers, so an answer that was complete
before the socket closed still counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from runs_app.realtime import faults
from runs_app.realtime.dialects.base import Body
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.frames import without_audio
from runs_app.realtime.hearing import Signal, hear
from runs_app.realtime.journal import Journal
from runs_app.realtime.transport import closing_of

T = TypeVar("T")

VERDICT_S = 1.0  # a send that fails waits so long for what the receiver still finds in its buffer


@dataclass
class Line:
    journal: Journal
    socket: ClientConnection
    signals: asyncio.Queue[Signal] = field(default_factory=asyncio.Queue)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    broken: asyncio.Event = field(default_factory=asyncio.Event)
    cause: BaseException | None = None
    sent_ids: int = 0
    update_id: str = ""  # of our session.update
    asked: set[str] = field(default_factory=set)  # event ids of every response.create

    def next_id(self) -> str:
        """An event_id of ours, by which an error event names what it refuses."""
        self.sent_ids += 1
        return f"soundcheck_{self.sent_ids}"

    async def send(self, body: Body) -> None:
        """Recorded, then sent. Raises BrokenOff."""
        self.check()
        now_s = self.journal.clock.now_s()
        self.journal.log.add(now_s, "caller", "sent", str(body["type"]), without_audio(body))
        await self._write(json.dumps(body))

    async def send_audio(self, append: str) -> None:
        """One append event as text. The journal keeps one event for all of a turn instead of each."""
        self.check()
        await self._write(append)

    async def send_truncations(self) -> None:
        """Tell the server how much of its audio was heard, where that is less than it sent."""
        journal = self.journal
        pending, journal.to_truncate = journal.to_truncate, []
        for item_id, content_index, end_ms in pending:
            body = journal.plan.dialect.truncate(
                item_id, content_index=content_index, audio_end_ms=end_ms, event_id=self.housekeeping_id()
            )
            await self.send(body)

    def housekeeping_id(self) -> str:
        """Of an event whose refusal says nothing about the agent's answer."""
        event_id = self.next_id()
        self.journal.housekeeping.add(event_id)
        return event_id

    def watch(self, task: asyncio.Task[Any]) -> None:
        """Whatever ends this task with an error ends the conversation; whoever waits is woken."""
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self.news.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._break(error)

    def _break(self, cause: BaseException) -> None:
        if self.cause is None:
            self.cause = cause
            self.broken.set()

    def check(self) -> None:
        if self.cause is not None:
            raise self.cause

    def mend(self) -> None:
        """The conversation came to an end, and the line did not: what is left can be said."""
        self.cause = None
        self.broken.clear()

    async def receive(self) -> None:
        """Until the socket closes; that is the last signal."""
        try:
            while True:
                raw = await self.socket.recv()
                self._pass_on(hear(self.journal, raw, self.journal.clock.now_s()))
        except ConnectionClosed as exc:
            self._pass_on(self._closed(exc))

    async def next_signal(self, until_s: float) -> Signal | None:
        """None when nothing came until then. Raises BrokenOff when its turn in the queue comes."""
        try:
            signal = self.signals.get_nowait()
        except asyncio.QueueEmpty:
            try:
                async with asyncio.timeout(max(0.0, until_s - self.journal.clock.now_s())):
                    signal = await self.signals.get()
            except TimeoutError:
                return None
        if isinstance(signal, BrokenOff):
            raise signal
        return signal

    def waiting_signals(self) -> list[Signal]:
        """What came and nobody asked for yet, taken out of the queue. A break stays known as `cause`."""
        signals: list[Signal] = []
        while not self.signals.empty():
            signals.append(self.signals.get_nowait())
        return signals

    async def wait_until(self, due_s: float) -> None:
        """Sleep on the journal's clock. Raises BrokenOff as soon as the line breaks."""
        await self._first_of(self.journal.clock.sleep_until(due_s), self.broken.wait())

    async def wait_for_news(self, due_s: float | None) -> None:
        """The next frame or the end of a watched task; at the latest until due_s. Raises BrokenOff."""
        self.news.clear()
        sleep = [] if due_s is None else [self.journal.clock.sleep_until(due_s)]
        await self._first_of(*sleep, self.news.wait(), self.broken.wait())

    async def unless_broken(self, work: Awaitable[T]) -> T:
        """What the work comes to. Raises BrokenOff as soon as the line breaks."""
        task, broken = asyncio.ensure_future(work), asyncio.ensure_future(self.broken.wait())
        try:
            await asyncio.wait((task, broken), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self.check()
            return task.result()
        finally:
            broken.cancel()
            task.cancel()

    async def _first_of(self, *waits: Coroutine[Any, Any, Any]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        self.check()

    async def wait_for(self, is_so: Callable[[], bool], *, within_s: float) -> None:
        """Until it is so, nothing more can come, or the time is up."""
        try:
            async with asyncio.timeout(within_s):
                while not is_so() and self.cause is None:
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            return

    def _pass_on(self, signal: Signal | None) -> None:
        self.news.set()
        if signal is None:
            return
        if isinstance(signal, BrokenOff):
            self._break(signal)
        self.signals.put_nowait(signal)

    async def _write(self, text: str) -> None:
        limit_s = self.journal.plan.timeouts.turn_s
        try:
            async with asyncio.timeout(limit_s):
                await self.socket.send(text)
        except ConnectionClosed as exc:
            await self.wait_for(self.broken.is_set, within_s=VERDICT_S)
            self.check()
            raise self._closed(exc) from None
        except TimeoutError:
            raise faults.send_blocked(limit_s) from None

    def _closed(self, exc: ConnectionClosed) -> BrokenOff:
        journal = self.journal
        return faults.socket_closed(
            closing_of(exc), before_first_turn=journal.turn is None, looks_like=journal.other_dialect
        )
