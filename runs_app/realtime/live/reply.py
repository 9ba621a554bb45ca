"""The reply to a caller's turn in a Live session: delegated work is served until what was said has settled."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from runs_app.realtime import faults, toolround
from runs_app.realtime.dialects.base import Fault, ResponseEnded
from runs_app.realtime.line import Line
from runs_app.realtime.live.hearing import end_work
from runs_app.realtime.live.settling import Verdict, judge
from runs_app.realtime.live.speech import tell_silence
from runs_app.realtime.live.state import Work
from runs_app.realtime.toolround import Round
from runs_app.realtime.turns import TurnDraft

LOOK_S = 0.25  # also when nothing comes: the news of one waiter may be cleared by another
BACKEND_QUIET_MS = 1000.0  # a backend that told a call and then nothing has ended its response without saying so
RETRY_S = 0.25
MOST_RETRIES = 5

# A call counts as soon as its item is done, whatever becomes of the rest of its response.
WHOLE = ResponseEnded(None, "completed", None, None, "", None)


@dataclass
class Backend:
    """The calls of delegated work: executed one batch after the other, all answered, then one request to go on."""

    line: Line
    turn: TurnDraft
    task: asyncio.Task[Round] | None = None
    retry_at_s: float | None = None
    retries: int = 0

    async def go_on(self) -> Round | None:
        """What a batch came to, once it is over."""
        journal = self.line.journal
        if self.task is not None:
            if not self.task.done():
                return None
            round, self.task = self.task.result(), None
            await self._ask(round)
            return round
        if journal.calls.waiting and self._is_due():
            self.task = asyncio.create_task(toolround.answer_calls(self.line, self.turn, WHOLE))
            self.line.watch(self.task)
        elif self.retry_at_s is not None and journal.clock.now_s() >= self.retry_at_s:
            await self._send()
        return None

    def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def refuse(self, fault: Fault) -> None:
        """Our request to go on was refused. Raises BrokenOff unless it is only too early."""
        if not faults.is_already_active(fault) or self.retries >= MOST_RETRIES:
            raise faults.error_ended(fault)
        self.line.journal.warn("response_already_active", fault.message)
        self.retries += 1
        self.retry_at_s = self.line.journal.clock.now_s() + RETRY_S

    def _is_due(self) -> bool:
        live = self.line.journal.live
        if not live.calling:
            return True
        if self.line.journal.now_ms() - live.backend_ms < BACKEND_QUIET_MS:
            return False
        self.line.journal.warn("backend_end_not_told", "a response of the backend called a function and never ended")
        for work in live.works:
            if work.called:
                work.running, work.goes_on = False, True
        return True

    async def _ask(self, round: Round) -> None:
        """One request for all outputs, when no call waits any more."""
        journal = self.line.journal
        journal.live.owed = journal.live.owed or round.answered
        if not journal.live.owed:
            for work in journal.live.works:
                if work.goes_on:
                    end_work(journal, work, "completed", journal.clock.now_s())
            return
        if journal.calls.waiting or journal.live.calling:
            return
        self.turn.rounds += 1
        for work in journal.live.works:
            work.rounds += work.goes_on
        self.retries = 0
        await self._send()

    async def _send(self) -> None:
        self.retry_at_s = None
        event_id = self.line.next_id()
        self.line.asked.add(event_id)
        self.line.journal.live.owed = False
        await self.line.send(self.line.journal.plan.dialect.ask_for_response(event_id))


async def live_reply(line: Line, turn: TurnDraft, before: asyncio.Task[bool] | None) -> bool:
    """True when the agent ended the session. Raises BrokenOff, also when nothing settled in time."""
    if before is not None:
        await asyncio.wait({before})
        line.check()
    backend = Backend(line, turn)
    try:
        return await _until_settled(line, turn, backend)
    finally:
        backend.stop()
        tell_silence(line.journal, line.journal.clock.now_s())


async def _until_settled(line: Line, turn: TurnDraft, backend: Backend) -> bool:
    journal, clock = line.journal, line.journal.clock
    while True:
        for signal in line.waiting_signals():
            if isinstance(signal, Fault):
                _on_fault(line, backend, signal)
        round = await backend.go_on() or journal.live.cut
        if round is not None and (round.done or round.over):
            return _cut_short(line, turn, round)
        if turn.interrupted and backend.task is None and _is_hushed(line, turn):
            journal.end_turn(turn, "cancelled", "interrupted")
            return False
        verdict = _verdict(line, turn, backend)
        if verdict.basis is not None:
            _settle(line, turn, verdict)
            return False
        deadline_s = _deadline_s(line, turn)
        if deadline_s is not None and clock.now_s() >= deadline_s:
            raise _too_late(line, turn, verdict)
        await line.wait_for_news(_look_again_s(line, verdict, deadline_s))


def _verdict(line: Line, turn: TurnDraft, backend: Backend) -> Verdict:
    journal = line.journal
    if journal.timeline.zero_s is None:
        return Verdict(missing="the caller has not begun")
    waits = journal.calls.waiting or backend.task is not None or backend.retry_at_s is not None
    times = journal.plan.timeouts
    return judge(
        journal.live,
        turn,
        calls_wait=waits,
        now_ms=journal.now_ms(),
        quiet_ms=times.quiet_s * 1000,
        patience_ms=times.settle_s * 1000,
    )


def _deadline_s(line: Line, turn: TurnDraft) -> float | None:
    """From the caller's last word, and never again: not for tools, and not for what they return."""
    if turn.said_s is None or turn.interrupted:
        return None
    return turn.said_s + line.journal.plan.timeouts.response_s


def _look_again_s(line: Line, verdict: Verdict, deadline_s: float | None) -> float:
    now_s = line.journal.clock.now_s()
    soon_s = now_s + LOOK_S
    if verdict.due_ms is not None:
        soon_s = min(soon_s, now_s + max(0.0, verdict.due_ms - line.journal.now_ms()) / 1000)
    return soon_s if deadline_s is None else min(soon_s, deadline_s)


def _is_hushed(line: Line, turn: TurnDraft) -> bool:
    """The agent gave way to the caller; one that never does is not waited for."""
    journal, times = line.journal, line.journal.plan.timeouts
    since_ms = turn.interrupted_ms or 0.0
    last = next(journal.live.stretches_of(turn), None)
    quiet_ms = max(since_ms, last.end_ms if last else since_ms) + times.quiet_s * 1000
    return journal.now_ms() >= min(quiet_ms, since_ms + times.confirm_s * 1000)


def _cut_short(line: Line, turn: TurnDraft, round: Round) -> bool:
    line.journal.live.cut = None
    if round.over:
        line.journal.warn("tool_rounds_limit", f"tools were called after {turn.rounds} rounds")
    line.journal.end_turn(turn, "completed", "tool_rounds_limit" if round.over else None)
    return round.done and not turn.interrupted


def _settle(line: Line, turn: TurnDraft, verdict: Verdict) -> None:
    journal = line.journal
    spoken = list(journal.live.stretches_of(turn))
    turn.done_ms = spoken[0].end_ms
    content = journal.live.content
    journal.log.note(
        journal.clock.now_s(),
        "turn.settled",
        turn=turn.index,
        basis=verdict.basis,
        content_ms=content.at_ms if content and verdict.basis != "spoken_turn" else None,
        speech_end_ms=turn.done_ms,
    )
    blended = verdict.basis == "returned_audio"
    if blended:
        journal.warn("returned_audio", "the answer followed its acknowledgement so closely that captions make one turn")
    cut = _cut_off(line, turn)
    reason = cut.reason if cut else None
    journal.end_turn(turn, "incomplete" if cut else "completed", reason or ("returned_audio" if blended else None))


def _cut_off(line: Line, turn: TurnDraft) -> Work | None:
    """Work of this turn whose answer was cut off at a limit, or by a filter."""
    works = (work for work in line.journal.live.works if work.turn == turn.index and work.status == "incomplete")
    return next(works, None)


def _too_late(line: Line, turn: TurnDraft, verdict: Verdict) -> faults.BrokenOff:
    """An error that the server told and nothing followed is not the agent's silence."""
    if line.journal.live.fault is not None:
        return faults.error_ended(line.journal.live.fault)
    missing = verdict.missing
    if cut := _cut_off(line, turn):
        missing += f" (the backend's answer was incomplete: {cut.reason or 'no reason given'})"
    return faults.nothing_settled(line.journal.plan.timeouts.response_s, missing)


def _on_fault(line: Line, backend: Backend, fault: Fault) -> None:
    if fault.event_id is not None and fault.event_id in line.asked:
        backend.refuse(fault)
        return
    line.journal.warn(f"error:{fault.code or fault.kind or 'no_code'}", fault.message)
    line.journal.live.fault = fault
