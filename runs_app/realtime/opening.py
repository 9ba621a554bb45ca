"""The start of every session: our settings go out, and the server confirms them or does not."""

from __future__ import annotations

from runs_app.realtime import faults
from runs_app.realtime.dialects.base import Fault
from runs_app.realtime.line import Line


async def send_session(line: Line) -> bool:
    """Whether the server confirmed it within `session_ready_s`. Raises BrokenOff when it refuses."""
    plan, journal = line.journal.plan, line.journal
    line.update_id = line.next_id()
    await line.send(plan.dialect.session_update(plan.session, line.update_id))
    until_s = journal.clock.now_s() + plan.timeouts.session_ready_s
    while not journal.session_acknowledged:
        signal = await line.next_signal(until_s)
        if isinstance(signal, Fault):
            raise faults.session_refused(signal, plan.dialect.mismatch(signal, journal.session))
        if signal is None:
            return False
    return True
