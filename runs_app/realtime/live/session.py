"""A Live session from session.start to session.closed."""

from __future__ import annotations

from runs_app.realtime import faults, turntaking
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.line import Line
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.live.speech import end_sound
from runs_app.realtime.opening import send_session
from runs_app.realtime.record import Ending


async def talk(line: Line) -> Ending:
    """Raises BrokenOff. A conversation that ran out of time is closed like any other: its usage is worth knowing."""
    await _start(line)
    try:
        ending = await turntaking.hold(line)
    except BrokenOff as broken:
        if broken.ending.kind == "response_timeout":
            line.journal.end_open_turns(broken.turn_status, broken.turn_reason)
            line.mend()
            await _close(line)
        raise
    else:
        await _close(line)
        return ending
    finally:
        end_sound(line.journal)


async def _start(line: Line) -> None:
    """The client speaks first; without session.started there is no session."""
    journal = line.journal
    if not await send_session(line):
        raise faults.session_not_started(journal.plan.timeouts.session_ready_s, seen=journal.unknown_events)
    journal.log.note(journal.clock.now_s(), "session.ready", acknowledged=True)


async def _close(line: Line) -> None:
    """Only session.closed confirms what is billed, and that all was kept."""
    journal, within_s = line.journal, line.journal.plan.timeouts.closed_s
    journal.live.closing_ms = journal.now_ms()
    dialect = journal.plan.dialect
    assert isinstance(dialect, LiveDialect)
    try:
        await line.send(dialect.close(line.next_id()))
    except BrokenOff:
        pass  # what was settled stands; the warning tells the rest
    else:
        await line.wait_for(lambda: journal.live.closed is not None, within_s=within_s)
    if journal.live.closed is None:
        journal.warn("session_not_closed", f"no session.closed within {within_s:g} s: what was billed is not known")
