"""A caller who waits only so long: silence from his last word, or from the agent's, and he hangs up."""

from __future__ import annotations

from collections.abc import Sequence

from runs_app.realtime import faults
from runs_app.realtime.exchange import Exchange
from runs_app.realtime.line import Line
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.turns import TurnDraft

LOOK_S = 0.25


async def watch(line: Line, exchanges: Sequence[Exchange], patience_s: float) -> None:
    """For as long as the conversation lasts. Raises BrokenOff: the agent's failure, like any answer that never came."""
    clock = line.journal.clock
    while True:
        since_s = _silent_since_s(line, exchanges)
        now_s = clock.now_s()
        if since_s is not None and now_s - since_s >= patience_s:
            raise faults.gave_up(patience_s)
        await clock.sleep_until(now_s + LOOK_S)


def _silent_since_s(line: Line, exchanges: Sequence[Exchange]) -> float | None:
    """Since when nobody says anything while the caller waits for a reply; None when he does not."""
    turn = exchanges[-1].turn if exchanges else None
    if turn is None or exchanges[-1].reply.done() or _caller_speaks(line, turn):
        return None
    heard_ms = [turn.sent_ms, *(caption.t_ms for caption in turn.captions)]
    if turn.sounds:
        heard_ms.append(line.journal.timeline.agent.end / SAMPLES_PER_MS)
    return line.journal.clock.now_s() - max(0.0, line.journal.now_ms() - max(heard_ms)) / 1000


def _caller_speaks(line: Line, turn: TurnDraft) -> bool:
    """Also while he talks over the reply that he waits for. Where the server ends his turns, the reply is awaited from
    his first word on."""
    return line.journal.turn is not turn or (line.journal.plan.turn_detection is not None and turn.said_s is None)
