"""The assistant of a conversation: there from before the first word until after the last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from runs_app.realtime import faults
from runs_app.realtime.clock import Clock
from runs_app.realtime.delegation.assistant import Assistant, Delegate, DelegationError
from runs_app.realtime.delegation.delegate_tool import DelegateTool
from runs_app.realtime.delegation.live_tasks import serve_tasks
from runs_app.realtime.delegation.remote import open_remote
from runs_app.realtime.line import Line


@asynccontextmanager
async def delegating(line: Line) -> AsyncIterator[None]:
    """Serves what the voice hands on while the block lasts, where the plan says who does. Raises BrokenOff."""
    journal = line.journal
    if journal.plan.delegate is None:
        yield
        return
    assistant = await _opened(journal.plan.delegate, journal.clock)
    journal.live.assistant = assistant
    tasks: asyncio.Task[None] | None = None
    if journal.plan.protocol == "live":
        tasks = asyncio.create_task(serve_tasks(line, assistant))
        line.watch(tasks)
    else:
        journal.hand_over = DelegateTool(line, assistant).answer
    try:
        yield
    finally:
        if tasks is not None:
            tasks.cancel()
        await assistant.close("the conversation is over")


async def _opened(delegate: Delegate, clock: Clock) -> Assistant:
    try:
        return await (open_remote(delegate) if delegate.is_remote else _own(delegate, clock))
    except DelegationError as error:
        raise faults.delegation_broke(error.stage, error.code, str(error)) from error


async def _own(delegate: Delegate, clock: Clock) -> Assistant:
    # Its client takes a second to import, and the loop paces audio.
    module = await asyncio.to_thread(import_module, "runs_app.realtime.delegation.responses")
    assistant: Assistant = await module.open_responses(delegate, clock)
    return assistant
