"""What was said since the last task was handed on. GPT Live never tells what a task is: the words have to."""

from __future__ import annotations

from dataclasses import dataclass, field

from runs_app.realtime.clock import Clock
from runs_app.realtime.delegation.assistant import Role
from runs_app.realtime.live.events import Transcript, lacks_blank

QUIET_S = 0.25  # words that come within this time belong together
WAIT_S = 2.0  # for the caller's words, which some servers write down only after they have handed on
LOOK_S = 0.05
ROLES: dict[str, Role] = {"caller": "user", "agent": "assistant"}


@dataclass
class Overheard:
    clock: Clock
    pieces: list[Transcript] = field(default_factory=list)
    last_s: float = 0.0

    def hear(self, piece: Transcript, *, last: bool = False) -> None:
        self.last_s = self.clock.now_s() - (QUIET_S if last else 0.0)
        self.pieces.append(piece)

    async def told(self) -> list[tuple[Role, str]]:
        """Everything since the last time, once the caller's words are there and nothing more comes of them."""
        until_s = self.clock.now_s() + WAIT_S
        while not self._is_whole() and self.clock.now_s() < until_s:
            await self.clock.sleep_until(self.clock.now_s() + LOOK_S)
        pieces, self.pieces = self.pieces, []
        return _joined(_in_order(pieces))

    def _is_whole(self) -> bool:
        heard = any(piece.side == "caller" and piece.text.strip() for piece in self.pieces)
        return heard and self.clock.now_s() - self.last_s >= QUIET_S


def _in_order(pieces: list[Transcript]) -> list[Transcript]:
    """As they were said; a piece without a time stays behind what came before it."""
    timed: list[tuple[float, Transcript]] = []
    for piece in pieces:
        before_ms = timed[-1][0] if timed else 0.0
        timed.append((before_ms if piece.start_ms is None else piece.start_ms, piece))
    return [piece for _, piece in sorted(timed, key=lambda one: one[0])]


def _joined(pieces: list[Transcript]) -> list[tuple[Role, str]]:
    told: list[tuple[Role, str]] = []
    for piece in pieces:
        role = ROLES[piece.side]
        if told and told[-1][0] == role:
            told[-1] = (role, _with(told[-1][1], piece.text))
        else:
            told.append((role, piece.text))
    return [(role, text.strip()) for role, text in told if text.strip()]


def _with(before: str, more: str) -> str:
    return f"{before} {more}" if lacks_blank(before, more) else before + more
