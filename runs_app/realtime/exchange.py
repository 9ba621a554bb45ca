"""A caller's turn and the reply to it: one or more responses, with rounds of tools between them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from runs_app.realtime import detection, faults, replies, toolround
from runs_app.realtime.dialects.base import CallerCommitted, Fault, ResponseEnded
from runs_app.realtime.line import Line
from runs_app.realtime.live.reply import live_reply
from runs_app.realtime.replies import Request
from runs_app.realtime.toolround import Round
from runs_app.realtime.turns import Status, TurnDraft

LONG_S = 3600.0  # nothing is due while the caller speaks


@dataclass
class Exchange:
    """`reply` gives True when the agent ended the session. `waiting`: for a response, and not for a tool."""

    turn: TurnDraft
    reply: asyncio.Task[bool] = field(init=False)
    waiting: bool = False


def start_reply(line: Line, exchange: Exchange, before: Exchange | None) -> None:
    """Have the reply taken care of while the caller goes on."""
    plan = line.journal.plan
    if plan.protocol == "live":
        reply = live_reply(line, exchange.turn, before.reply if before else None)
    elif plan.turn_detection is not None:
        reply = _detected_reply(line, exchange, before)
    else:
        reply = _asked_reply(line, exchange)
    exchange.reply = asyncio.create_task(reply)
    line.watch(exchange.reply)


async def replied(line: Line, exchange: Exchange) -> bool:
    """The whole reply came. True when the agent ended the session. Raises BrokenOff as soon as the line breaks."""
    while not exchange.reply.done():
        await line.wait_for_news(None)
    return exchange.reply.result()


async def settle(line: Line, exchange: Exchange) -> None:
    """Until an interrupted reply is over. A server that never confirms the cancellation is not waited for."""
    confirm_s = line.journal.plan.timeouts.confirm_s
    while not exchange.reply.done():
        waiting = exchange.waiting
        await asyncio.wait({exchange.reply}, timeout=confirm_s)
        if waiting and exchange.waiting and not exchange.reply.done():
            line.journal.warn("cancel_not_confirmed", f"no response.done within {confirm_s:g} s of the cancellation")
            exchange.reply.cancel()
            line.journal.end_turn(exchange.turn, "cancelled", "not_confirmed")
            return
    line.check()


async def _asked_reply(line: Line, exchange: Exchange) -> bool:
    request = await replies.ask(line, exchange.turn, since_s=line.journal.clock.now_s())
    ended = await _response(line, exchange, request)
    round = await toolround.answer_calls(line, exchange.turn, ended)
    return await _rounds(line, exchange, ended, round)


async def _response(line: Line, exchange: Exchange, request: Request) -> ResponseEnded:
    exchange.waiting = True
    ended = await replies.wait(line, request)
    exchange.waiting = False
    return _unless_failed(ended)


def _unless_failed(ended: ResponseEnded) -> ResponseEnded:
    if ended.status == "failed":
        raise faults.response_failed(ended)
    return ended


async def _rounds(line: Line, exchange: Exchange, ended: ResponseEnded, round: Round) -> bool:
    """Ask again as long as tools were answered; a caller who talks over it asks himself."""
    journal, turn = line.journal, exchange.turn
    while round.answered and not turn.interrupted:
        turn.rounds += 1
        request = await replies.ask(line, turn, since_s=journal.clock.now_s())
        ended = await _response(line, exchange, request)
        round = await toolround.answer_calls(line, turn, ended)
    if round.over:
        journal.warn("tool_rounds_limit", f"tools were called after {turn.rounds} rounds")
    journal.end_turn(turn, _status(line, ended.status), "tool_rounds_limit" if round.over else ended.reason)
    return round.done and not turn.interrupted


def _status(line: Line, told: str) -> Status:
    if told == "incomplete":
        return "incomplete"
    if told == "cancelled":
        return "cancelled"
    if told != "completed":
        line.journal.warn("unknown_response_status", told)
    return "completed"


async def _detected_reply(line: Line, exchange: Exchange, before: Exchange | None) -> bool:
    """The server ends the turn and answers by itself. An answer that began within the words has its tools run, and
    counts unless another follows."""
    if before is not None:
        await asyncio.wait({before.reply})  # what comes now is still its own; at the latest its deadline ends it
        line.check()
    request = Request(exchange.turn, deadline_s=0.0)
    held: tuple[ResponseEnded, Round] | None = None
    while True:
        exchange.waiting = True
        ended = await _next_answer(line, request, held_back=held is not None)
        exchange.waiting = False
        if ended is None and held is not None:
            return await _rounds(line, exchange, *held)
        if ended is not None:
            round = await toolround.answer_calls(line, exchange.turn, _unless_failed(ended))
            if _verdict(line, exchange.turn, ended) == "answer":
                return await _rounds(line, exchange, ended, round)
            held = ended, round


async def _next_answer(line: Line, request: Request, *, held_back: bool) -> ResponseEnded | None:
    """The next response to this turn that was not cut off. None when one is held back and nothing else follows."""
    while True:
        limit_s = _limit_s(line, request, held_back)
        signal = await line.next_signal(limit_s)
        if signal is None and held_back and line.journal.clock.now_s() >= limit_s:
            return None
        if signal is None:
            await replies.on_silence(line, request)
        elif isinstance(signal, Fault):
            replies.on_fault(line, request, signal)
        elif isinstance(signal, CallerCommitted):
            await _ask_if_nobody_else(line, request)
        elif isinstance(signal, ResponseEnded) and _counts(line, request.turn, signal):
            return signal


def _verdict(line: Line, turn: TurnDraft, ended: ResponseEnded) -> detection.Verdict:
    return detection.verdict(turn, line.journal.owner_of(ended.response_id), ended)


def _counts(line: Line, turn: TurnDraft, ended: ResponseEnded) -> bool:
    kind = _verdict(line, turn, ended)
    if kind == "foreign":
        line.journal.warn("foreign_response")
    if kind == "again" and not turn.splits:
        turn.splits += 1
        line.journal.warn("turn_split", "the server began to answer, and cut itself off")
    return kind in ("answer", "perhaps")


def _limit_s(line: Line, request: Request, held_back: bool) -> float:
    turn, clock = request.turn, line.journal.clock
    if turn.said_s is None:
        request.deadline_s = clock.now_s() + LONG_S
        return request.deadline_s
    request.deadline_s = turn.said_s + line.journal.plan.timeouts.turn_s
    if held_back and not line.journal.active and not turn.hears_caller:
        return min(request.deadline_s, turn.said_s + line.journal.plan.timeouts.settle_s)
    return replies.limit_s(line, request)


async def _ask_if_nobody_else(line: Line, request: Request) -> None:
    """A detection that creates no response leaves it to us, once the caller has said everything."""
    detected = line.journal.plan.turn_detection or {}
    if not detected.get("create_response", True) and request.turn.said_s is not None:
        await replies.send(line, request)
