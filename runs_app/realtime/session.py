"""One conversation from the handshake to the close.

Three things run side by side: the receiver, the watch for a request to stop, and the driving side, whose every wait
has a deadline. What the other side does ends in the Record; only our own mistakes are raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from runs_app.realtime import faults, turntaking
from runs_app.realtime.clock import Clock, MonotonicClock
from runs_app.realtime.delegation.opening import delegating
from runs_app.realtime.endpoints import shown
from runs_app.realtime.eventlog import EventLog
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.frames import FrameReader
from runs_app.realtime.journal import Journal
from runs_app.realtime.line import Line
from runs_app.realtime.live import session as live_session
from runs_app.realtime.opening import send_session
from runs_app.realtime.pacing import watch_loop
from runs_app.realtime.pcm import Int16
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import DONE, Ending, Event, Record
from runs_app.realtime.timeline import Timeline
from runs_app.realtime.transport import close_socket, open_socket

ABORT_S = 0.5  # a conversation that broke off waits no longer for a polite close


class Conversation(NamedTuple):
    """What happened, and the stereo samples (n, 2), caller left; None in text mode or when nothing was said."""

    record: Record
    audio: Int16 | None


async def converse(
    plan: Plan,
    *,
    emit: Callable[[Event], None],
    stop: asyncio.Event,
    clock: Clock | None = None,
    on_air: Callable[[Journal], None] | None = None,
) -> Conversation:
    """Hold the conversation. `emit` gets each event once, in order, from the loop: it must not wait. `on_air` is told
    once, before the first word, and may read the journal's timeline from another thread: the loop does nothing more.

    Nothing that the agent's side does is raised; the record's ending tells it. Setting `stop` ends the conversation
    within a second as cancelled.
    """
    journal = _open_journal(plan, emit, clock or MonotonicClock())
    if on_air is not None:
        on_air(journal)
    try:
        ending = await _until_broken(journal, stop)
    except BrokenOff as broken:
        ending = broken.ending
        journal.end_open_turns(broken.turn_status, broken.turn_reason)
        journal.keep_open_calls()
    _note_ended(journal, ending)
    journal.log.close(journal.clock.now_s())
    # Minutes of stereo take tens of milliseconds to put together, and the loop serves others.
    audio = await asyncio.to_thread(journal.timeline.stereo)
    heard = audio if plan.mode == "audio" and audio.size else None
    return Conversation(journal.record(ending, plan.executor.snapshot(), heard), heard)


def _open_journal(plan: Plan, emit: Callable[[Event], None], clock: Clock) -> Journal:
    timeline = Timeline(real_time=plan.real_time or plan.mode == "text")
    return Journal(
        plan=plan,
        clock=clock,
        timeline=timeline,
        log=EventLog(emit, timeline),
        reader=FrameReader(plan.secrets),
        initial_state=plan.executor.snapshot(),
    )


async def _until_broken(journal: Journal, stop: asyncio.Event) -> Ending:
    """Raises BrokenOff, or the one mistake of ours that ended it, out of the task group's wrapping."""
    try:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_watch(stop))
            return await _connected(journal, group, watch)
    except BaseExceptionGroup as errors:
        ours = errors.split(BrokenOff)[1]
        raise (ours or errors).exceptions[0] from None


async def _watch(stop: asyncio.Event) -> None:
    await stop.wait()
    raise faults.stopped()


async def _connected(journal: Journal, group: asyncio.TaskGroup, watch: asyncio.Task[None]) -> Ending:
    plan = journal.plan
    times = plan.timeouts
    socket = await open_socket(plan.url, plan.headers, timeout_s=times.connect_s, close_s=times.close_s)
    line = Line(journal, socket)
    within_s = ABORT_S
    receiver = group.create_task(line.receive())
    lateness = group.create_task(_watch_lateness(journal))
    try:
        journal.log.note(
            journal.clock.now_s(),
            "session.opened",
            url=shown(plan.url),
            dialect=plan.dialect.name,
            mode=plan.mode,
            real_time=plan.real_time,
        )
        async with delegating(line):
            ending = await _talk(line)
        within_s = times.close_s
        watch.cancel()  # who asks to stop now is too late: the conversation stands
        return ending
    except BrokenOff as broken:
        receiver.cancel()  # nothing that comes now belongs to the conversation
        journal.end_open_turns(broken.turn_status, broken.turn_reason)
        raise
    finally:
        lateness.cancel()
        await _hang_up(line, within_s)
        receiver.cancel()


async def _watch_lateness(journal: Journal) -> None:
    if journal.plan.mode == "audio" and journal.plan.real_time:
        await watch_loop(journal.clock, journal.notice_lag)


async def _hang_up(line: Line, within_s: float) -> None:
    try:
        closed = await close_socket(line.socket, within_s=within_s)
    except asyncio.CancelledError:
        line.socket.transport.abort()
        raise
    if not closed:
        line.journal.warn("close_not_answered", f"no close frame within {within_s:g} s")


async def _talk(line: Line) -> Ending:
    if line.journal.plan.protocol == "live":
        return await live_session.talk(line)
    await _set_up(line)
    ending = await turntaking.hold(line)
    if ending == DONE:
        return ending
    if line.journal.plan.wants_transcript:
        await line.wait_for(_all_understood(line), within_s=line.journal.plan.timeouts.transcript_s)
    return ending


def _all_understood(line: Line) -> Callable[[], bool]:
    return lambda: all(turn.heard_is_final for turn in line.journal.turns)


async def _set_up(line: Line) -> None:
    """session.update, its confirmation (servers that never confirm are believed), then the history."""
    plan, journal = line.journal.plan, line.journal
    if not await send_session(line):
        journal.warn("session_not_acknowledged", f"no session.updated within {plan.timeouts.session_ready_s:g} s")
    journal.log.note(journal.clock.now_s(), "session.ready", acknowledged=journal.session_acknowledged)
    for role, text in plan.history:
        await line.send(plan.dialect.message(role, text))


def _note_ended(journal: Journal, ending: Ending) -> None:
    journal.log.note(
        journal.clock.now_s(),
        "session.ended",
        kind=ending.kind,
        stage=ending.stage,
        code=ending.code,
        message=ending.message,
    )
