"""The whole talk, turn by turn: the caller waits for the floor or takes it, speaks, and the reply is taken care of."""

from __future__ import annotations

from runs_app.realtime import caller, floor
from runs_app.realtime.caller import Speech
from runs_app.realtime.exchange import Exchange, settle, start_reply
from runs_app.realtime.line import Line
from runs_app.realtime.microphone import Microphone


async def hold(line: Line) -> bool:
    """Every turn of the plan. True when the agent ended the session. Raises BrokenOff."""
    microphone = Microphone(line)
    exchanges: list[Exchange] = []
    try:
        for planned in line.journal.plan.turns:
            said = await caller.prepare(line, planned) if planned.audio is not None else None
            before = exchanges[-1] if exchanges else None
            over = before is not None and await floor.take(line, before, planned)
            if before is not None and not over and before.reply.result():
                return True
            if said is None:
                _begin(line, Exchange(await caller.type_turn(line, planned.text)), exchanges)
            else:
                await _speak(line, await caller.begin(line, microphone, said, over=over), microphone, exchanges)
        return bool(exchanges) and await exchanges[-1].reply
    finally:
        microphone.put_down()
        for exchange in exchanges:
            exchange.reply.cancel()


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
