"""When a reply is over. GPT Live has no turns and no end of audio, so the end is read from what was heard.

A turn has settled when the caller has finished, no delegated work is under way, the agent has spoken and captioned
since the caller's last word, and nothing has happened for a while. After delegated work something new must have been
said: what was under way, or captioned, when the content came is an acknowledgement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.live.state import CaptionGroup, Content, LiveState, Stretch
from runs_app.realtime.turns import TurnDraft

NEAR_MS = 500.0  # captions and the speech that they are of lie as close as this

Basis = Literal["spoken_turn", "returned_turn", "returned_audio"]


@dataclass(frozen=True)
class Verdict:
    """`basis`: the turn has settled, and by which rule. Else `missing` says what is waited for, and `due_ms` when it
    is worth looking again without any news."""

    basis: Basis | None = None
    missing: str = ""
    due_ms: float | None = None


def judge(
    live: LiveState, turn: TurnDraft, *, calls_wait: bool, now_ms: float, quiet_ms: float, patience_ms: float
) -> Verdict:
    """`calls_wait`: a call has no output yet. `quiet_ms`: for how long nothing must have happened; `patience_ms`: for
    how long where a clearer answer may still follow."""
    if turn.said_s is None:
        return Verdict(missing="the caller has not finished")
    if calls_wait or live.working:
        return Verdict(missing="the delegated work was not complete")
    stretch, group = next(live.stretches_of(turn), None), live.groups[-1] if live.groups else None
    if stretch is None or stretch.end_ms <= turn.sent_ms:
        return Verdict(missing="the agent said nothing after the caller's last word")
    if group is None or not _belong(group, stretch):
        return Verdict(missing="the agent's last speech has no transcript")
    basis = _basis(live.content if _works_in(live, turn) else None, group, stretch)
    if basis is None:
        return Verdict(missing="nothing new was said after the delegated work returned its content")
    wait_ms = patience_ms if basis == "returned_audio" else quiet_ms
    due_ms = max(live.news_ms, stretch.end_ms, group.arrived_ms) + wait_ms
    return Verdict(basis) if now_ms >= due_ms else Verdict(missing="the agent was still speaking", due_ms=due_ms)


def _works_in(live: LiveState, turn: TurnDraft) -> bool:
    """Whether work of this turn, or work that ended in it, has something to tell here."""
    return any(work.turn == turn.index or (work.ended_ms or 0.0) > turn.sent_ms for work in live.works)


def _belong(group: CaptionGroup, stretch: Stretch) -> bool:
    return group.start_ms <= stretch.end_ms + NEAR_MS and stretch.start_ms <= group.end_ms + NEAR_MS


def _basis(content: Content | None, group: CaptionGroup, stretch: Stretch) -> Basis | None:
    if content is None:
        return "spoken_turn"
    if group.index >= content.groups and group.start_ms > content.at_ms:
        return "returned_turn"
    # One group with the acknowledgement; but the sound began anew after the content came, and words came with it.
    later = stretch.start_ms > content.at_ms and group.last_start_ms > content.at_ms
    return "returned_audio" if later else None
