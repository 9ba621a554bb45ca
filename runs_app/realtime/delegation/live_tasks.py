"""Client delegation of GPT Live: tasks are served side by side, and their answers appended as commentary."""

from __future__ import annotations

import asyncio
from typing import Literal

from runs_app.realtime import faults
from runs_app.realtime.delegation import task
from runs_app.realtime.delegation.assistant import MOST_DELEGATIONS, MOST_PENDING, Assistant
from runs_app.realtime.delegation.commentary import pieces_of
from runs_app.realtime.delegation.desk import TrialDesk
from runs_app.realtime.line import Line
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.live.hearing import end_work
from runs_app.realtime.live.state import Content, Work

NOTHING_TO_SAY = "The task is done, and its backend had nothing to say about it."


async def serve_tasks(line: Line, assistant: Assistant) -> None:
    """Until it is cancelled, and every task with it. Whatever breaks one breaks the line."""
    live, count = line.journal.live, 0
    pending: set[asyncio.Task[None]] = set()
    try:
        while True:
            work = await live.handed.get()
            count += 1
            pending = {one for one in pending if not one.done()}
            if len(pending) >= MOST_PENDING or count > MOST_DELEGATIONS:
                raise faults.too_many_delegations(MOST_PENDING, MOST_DELEGATIONS)
            one = asyncio.create_task(_serve(line, assistant, work))
            line.watch(one)
            pending.add(one)
    finally:
        for one in pending:
            one.cancel()


async def _serve(line: Line, assistant: Assistant, work: Work) -> None:
    journal = line.journal

    async def publish(text: str) -> None:
        await _publish(line, work, "commentary", pieces_of(text))

    desk = TrialDesk(line, journal.turns[work.turn], work, publish)
    await task.answer(assistant, desk)
    if desk.round is not None:
        journal.live.cut = desk.round
    elif not desk.said:
        await _publish(line, work, "thinking", [NOTHING_TO_SAY])
    end_work(journal, work, "completed", journal.clock.now_s())
    line.news.set()


async def _publish(line: Line, work: Work, kind: Literal["commentary", "thinking"], pieces: list[str]) -> None:
    """What is to be said as commentary; where there is nothing, the model learns silently that the task is over."""
    journal = line.journal
    dialect = journal.plan.dialect
    assert isinstance(dialect, LiveDialect)
    # Noted before anything is sent: what the agent says from now on may be the answer.
    journal.live.content = Content(journal.now_ms(), len(journal.live.groups))
    for piece in pieces:
        event_id = line.next_id()
        line.asked.add(event_id)
        await line.send(dialect.comment(kind, piece, work.id, event_id))
