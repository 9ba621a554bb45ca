"""Who has the floor: when the caller says his next words, and what it takes to say them over the agent's."""

from __future__ import annotations

from runs_app.realtime.exchange import Exchange
from runs_app.realtime.line import Line
from runs_app.realtime.overlap import heard, sample_when_heard
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS
from runs_app.realtime.script import PlannedTurn

QUIET_S = 1.0  # of the agent, that a caller who waits for silence takes for his turn


async def take(line: Line, exchange: Exchange, planned: PlannedTurn) -> bool:
    """Wait until the caller says this turn. True when he says it over the reply to the one before."""
    if _can_break_in(line, planned) and await _moment_comes(line, exchange, planned):
        await _break_in(line, exchange)
        return True
    if await exchange.reply:
        return False
    timeline, clock = line.journal.timeline, line.journal.clock
    while (due_s := timeline.played_out_s(clock.now_s())) > clock.now_s():
        await line.wait_until(due_s)
    return False


def _can_break_in(line: Line, planned: PlannedTurn) -> bool:
    if planned.interrupt_after_ms is None and planned.wait == "reply":
        return False
    plan = line.journal.plan
    if plan.mode == "audio" and plan.real_time:
        return True
    line.journal.warn("nobody_breaks_in", "only a call in real time can be interrupted; the caller waits for the reply")
    return False


async def _moment_comes(line: Line, exchange: Exchange, planned: PlannedTurn) -> bool:
    """Whether so much of the agent is heard before the whole reply is; false also when the agent ends the session."""
    while True:
        due_s = _due_s(line, exchange, planned)
        if exchange.reply.done() and (due_s is None or exchange.reply.result()):
            return False
        if due_s is not None and due_s <= line.journal.clock.now_s():
            return True
        await line.wait_for_news(due_s)


def _due_s(line: Line, exchange: Exchange, planned: PlannedTurn) -> float | None:
    """The moment for these words, as far as it can be told yet."""
    timeline, turn = line.journal.timeline, exchange.turn
    after_ms = planned.interrupt_after_ms
    if after_ms == 0:
        return line.journal.clock.now_s() if turn.began_s else None
    if after_ms is not None:
        at = sample_when_heard(turn.agent, round(after_ms * SAMPLES_PER_MS))
        return None if at is None else timeline.moment_s(at)
    # The reply is over: it needs no silence to tell.
    if exchange.reply.done() or not turn.sounds:
        return None
    return timeline.moment_s(timeline.agent.end) + QUIET_S


async def _break_in(line: Line, exchange: Exchange) -> None:
    """The caller begins to talk now. Without detection by the server it is we who stop the agent."""
    journal, turn = line.journal, exchange.turn
    now_s = journal.clock.now_s()
    at = journal.timeline.sample_at(now_s)
    turn.interrupted_ms = journal.timeline.t_ms(now_s)
    journal.log.note(
        now_s,
        "caller.interrupts",
        source="caller",
        turn=turn.index,
        heard_ms=round(heard(turn.agent, at) / SAMPLES_PER_MS, 3),
        received_ms=round(sum(span.end - span.start for span in turn.agent) * 1000 / RATE_HZ, 3),
    )
    if journal.plan.turn_detection is not None:
        return
    journal.stop_playback(now_s)
    if exchange.waiting:
        turn.cancel_ms = turn.interrupted_ms
        await line.send(journal.plan.dialect.cancel(line.housekeeping_id()))
    await line.send_truncations()
