"""The whole talk, turn by turn: the caller waits for the floor or takes it, speaks, and the reply is taken care of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from runs_app.realtime import caller, floor
from runs_app.realtime.caller import Speech
from runs_app.realtime.exchange import Exchange, replied, settle, start_reply
from runs_app.realtime.line import Line
from runs_app.realtime.microphone import Microphone
from runs_app.realtime.persona import patience
from runs_app.realtime.persona.calling import PersonaCaller
from runs_app.realtime.record import COMPLETED, DONE, Ending
from runs_app.realtime.script import PlannedTurn


class Caller(Protocol):
    """Who says the turns. `ending`: what the conversation has come to when there are no more."""

    ending: Ending

    async def next(self, exchanges: Sequence[Exchange]) -> PlannedTurn | None: ...


@dataclass
class Script:
    turns: Iterator[PlannedTurn]
    ending: Ending = COMPLETED

    async def next(self, exchanges: Sequence[Exchange]) -> PlannedTurn | None:
        return next(self.turns, None)


async def hold(line: Line) -> Ending:
    """Every turn of the caller, and the replies to them. Raises BrokenOff."""
    microphone = Microphone(line)
    exchanges: list[Exchange] = []
    watch = _watched_patience(line, exchanges)
    try:
        return await _turns(line, _caller_of(line), microphone, exchanges)
    finally:
        if watch is not None:
            watch.cancel()
        microphone.put_down()
        for exchange in exchanges:
            exchange.reply.cancel()


def _caller_of(line: Line) -> Caller:
    plan = line.journal.plan
    return Script(iter(plan.turns)) if plan.part is None else PersonaCaller(line, plan.part, plan.turns[0])


def _watched_patience(line: Line, exchanges: Sequence[Exchange]) -> asyncio.Task[None] | None:
    patience_s = line.journal.plan.patience_s
    if patience_s is None:
        return None
    watch = asyncio.create_task(patience.watch(line, exchanges, patience_s))
    line.watch(watch)
    return watch


async def _turns(line: Line, who: Caller, microphone: Microphone, exchanges: list[Exchange]) -> Ending:
    while (planned := await who.next(exchanges)) is not None:
        said = await caller.prepare(line, planned) if planned.audio is not None else None
        before = exchanges[-1] if exchanges else None
        over = before is not None and await floor.take(line, before, planned)
        if before is not None and not over and before.reply.result():
            return DONE
        if planned.only_over and not over:
            continue
        if said is None:
            turn = await caller.type_turn(line, planned.text)
            turn.thought = planned.thought
            _begin(line, Exchange(turn), exchanges)
        else:
            speech = await caller.begin(line, microphone, said, over=over)
            speech.turn.thought = planned.thought
            await _speak(line, speech, microphone, exchanges)
    if exchanges and await replied(line, exchanges[-1]):
        return DONE
    return who.ending


async def _speak(line: Line, speech: Speech, microphone: Microphone, exchanges: list[Exchange]) -> None:
    """The caller's words. With detection by the server the reply may begin, and end, before they do."""
    exchange = Exchange(speech.turn)
    if line.journal.plan.turn_detection is not None:
        _begin(line, exchange, exchanges)
        await caller.speak(line, microphone, speech)
        return
    await caller.speak(line, microphone, speech)
    if exchanges:
        await settle(line, exchanges[-1])
    _begin(line, exchange, exchanges)


def _begin(line: Line, exchange: Exchange, exchanges: list[Exchange]) -> None:
    start_reply(line, exchange, exchanges[-1] if exchanges else None)
    exchanges.append(exchange)
