"""Asking for a response and waiting for its end, through refusals, races and errors that may not matter."""

from __future__ import annotations

from dataclasses import dataclass, field

from runs_app.realtime import faults
from runs_app.realtime.dialects.base import Fault, ResponseEnded
from runs_app.realtime.line import Line
from runs_app.realtime.turns import TurnDraft

RETRY_S = 0.25  # when the server says that a response is active of which we never heard
MOST_RETRIES = 5


@dataclass
class Request:
    """One response that we want. `stale`: responses of others, active when we asked; their ends are not ours."""

    turn: TurnDraft
    deadline_s: float
    event_id: str = ""
    stale: set[str | None] = field(default_factory=set)
    fault: Fault | None = None
    fault_until_s: float = 0.0
    retry_at_s: float | None = None
    retries: int = 0


async def ask(line: Line, turn: TurnDraft, *, since_s: float) -> Request:
    """Send response.create. The deadline runs from `since_s`, when the turn (or the tool output) was sent."""
    request = Request(turn, deadline_s=since_s + line.journal.plan.timeouts.turn_s)
    await send(line, request)
    return request


async def wait(line: Line, request: Request) -> ResponseEnded:
    """The end of the response. Raises BrokenOff: no answer in time, an error that nothing followed, a broken line."""
    while True:
        signal = await line.next_signal(limit_s(line, request))
        if signal is None:
            await on_silence(line, request)
        elif isinstance(signal, Fault):
            on_fault(line, request, signal)
        elif isinstance(signal, ResponseEnded) and await _is_ours(line, request, signal):
            return signal


async def send(line: Line, request: Request) -> None:
    """Ask now. What came before belongs to others."""
    for signal in line.waiting_signals():
        if isinstance(signal, ResponseEnded):  # it ended before we asked: a greeting, or another's answer
            line.journal.warn("foreign_response")
        elif isinstance(signal, Fault):
            on_fault(line, request, signal)
    request.retry_at_s = None  # what was refused before is asked for now
    # A server that names no responses has them under None, which tells none of them apart.
    request.stale = line.journal.active - {None}
    line.journal.asking = request.turn
    request.event_id = line.next_id()
    line.asked.add(request.event_id)
    await line.send(line.journal.plan.dialect.ask_for_response(request.event_id))


def limit_s(line: Line, request: Request) -> float:
    """Until when to wait for the next signal. While a response is under way only the deadline counts."""
    deadline_s = request.deadline_s
    if line.journal.active:
        return deadline_s
    if request.retry_at_s is not None:
        return min(deadline_s, request.retry_at_s)
    return min(deadline_s, request.fault_until_s) if request.fault else deadline_s


async def on_silence(line: Line, request: Request) -> None:
    now_s = line.journal.clock.now_s()
    if request.retry_at_s is not None and now_s < request.deadline_s:
        await _retry(line, request)
    elif request.fault is not None and now_s >= limit_s(line, request):
        raise faults.error_ended(request.fault)
    elif now_s >= request.deadline_s:
        raise faults.no_answer(line.journal.plan.timeouts.turn_s)


def on_fault(line: Line, request: Request, fault: Fault) -> None:
    now_s = line.journal.clock.now_s()
    if faults.is_already_active(fault) and request.retries < MOST_RETRIES:
        line.journal.warn("response_already_active", fault.message)
        request.retry_at_s = now_s + RETRY_S
        return
    if fault.event_id is not None and fault.event_id == line.update_id:  # later than we waited for session.updated
        raise faults.session_refused(fault, line.journal.plan.dialect.mismatch(fault, line.journal.session))
    if fault.event_id is not None and fault.event_id == request.event_id:
        raise faults.error_ended(fault)
    if fault.event_id in line.asked:  # of an earlier request: its turn is over
        line.journal.warn("late_error", fault.message)
        return
    line.journal.warn(f"error:{fault.code or fault.kind or 'no_code'}", fault.message)
    request.fault = fault
    request.fault_until_s = now_s + line.journal.plan.timeouts.error_grace_s


async def _is_ours(line: Line, request: Request, ended: ResponseEnded) -> bool:
    foreign = ended.response_id in request.stale
    if request.retry_at_s is not None:
        if not foreign and ended.response_id is not None and ended.status == "completed":
            # Some servers answer a tool's output by themselves, and refuse our request because of that answer.
            line.journal.warn("adopted_response")
            return True
        await _retry(line, request)
        return False
    if foreign:
        line.journal.warn("foreign_response")
    return not foreign


async def _retry(line: Line, request: Request) -> None:
    request.retries += 1
    request.deadline_s = line.journal.clock.now_s() + line.journal.plan.timeouts.turn_s
    await send(line, request)
