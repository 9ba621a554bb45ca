"""One delegated task from its hand-over to its answer, and what ends the conversation instead."""

from __future__ import annotations

import asyncio

from runs_app.realtime import faults
from runs_app.realtime.delegation.assistant import DELEGATION_S, Assistant, DelegationError
from runs_app.realtime.delegation.desk import TrialDesk


async def answer(assistant: Assistant, desk: TrialDesk) -> None:
    """What is to be said stands on the desk. Raises BrokenOff: a backend that cannot be asked is not the agent's doing,
    one that is too slow is."""
    work = desk.work
    try:
        async with asyncio.timeout(DELEGATION_S):
            await assistant.answer(work.id or "", work.created_ms, desk)
    except DelegationError as error:
        raise faults.delegation_broke(error.stage, error.code, str(error)) from error
    except TimeoutError as error:
        raise faults.no_answer(DELEGATION_S, "answer of the backend that the task was handed to") from error
