"""What is known of a Live conversation while it goes on: what was said, what was heard, and who still works.

Times are t_ms of the timeline. The session's own clock is the audio that we append, which begins with the caller's
first sample, so the times that the server tells are times of the timeline, but for what we sent too late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runs_app.realtime.dialects.base import Fault
from runs_app.realtime.live.events import SessionClosed
from runs_app.realtime.record import Delegation, Span
from runs_app.realtime.turns import TurnDraft

if TYPE_CHECKING:
    from runs_app.realtime.delegation.assistant import Assistant
    from runs_app.realtime.toolround import Round

GROUP_GAP_MS = 500.0  # captions closer than this are one group
STRETCH_GAP_MS = 200.0  # a longer silence ends a stretch of speech


@dataclass
class CaptionGroup:
    """Captions that follow one another. `arrived_ms`: the last of them; `last_start_ms`: when it was said."""

    index: int
    turn: TurnDraft
    start_ms: float
    end_ms: float
    last_start_ms: float
    arrived_ms: float
    text: str = ""


@dataclass
class Stretch:
    """Voiced audio of the agent on the playout clock, with no silence worth the name in it."""

    turn: TurnDraft
    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class Content:
    """What a backend answered became known then; so many caption groups had begun."""

    at_ms: float
    groups: int


@dataclass
class Work:
    """One delegation. `running`: a response of it is under way; `called`: that response made a call; `goes_on`: its
    calls are answered or will be, and another response follows."""

    id: str | None
    target: str
    turn: int
    created_ms: float
    response_id: str | None = None
    running: bool = True
    called: bool = False
    goes_on: bool = False
    rounds: int = 0
    words: Content | None = None
    ended_ms: float | None = None
    status: str = "open"
    reason: str | None = None  # of a response that is incomplete
    texts: list[str] = field(default_factory=list)  # what the backend answered, message by message

    @property
    def busy(self) -> bool:
        return self.running or self.goes_on

    def told(self) -> Delegation:
        return Delegation(
            id=self.id or "",
            target=self.target,
            turn=self.turn,
            created_ms=self.created_ms,
            ended_ms=self.ended_ms,
            status=self.status,
            rounds=self.rounds,
            texts=tuple(self.texts),
        )


@dataclass
class LiveState:
    works: list[Work] = field(default_factory=list)
    groups: list[CaptionGroup] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    content: Content | None = None
    owed: bool = False  # an output was given, and the backend is not told yet to go on
    news_ms: float = 0.0  # the last thing that was no silence, no usage and no receipt
    backend_ms: float = 0.0  # the last thing that the backend told
    fault: Fault | None = None
    skipped_ms: float = 0.0  # that we sent nothing for: the session's clock stood still meanwhile
    seconds: float | None = None
    closing_ms: float | None = None  # we asked for the end: what is said from then on answers nothing
    closed: SessionClosed | None = None
    quiet: list[Span] = field(default_factory=list)  # audio since the last speech, which may turn out to be a pause
    quiet_samples: int = 0
    hushed_to: int = 0  # sample to which silence was sent that lies nowhere, since nothing else would be heard there
    arrived_s: float = 0.0  # of the clock: the last delta of audio
    zeros: int = 0  # silent deltas since the last that was told
    zeros_ms: float = 0.0
    assistant: Assistant | None = None  # who does the tasks that are ours to do
    handed: asyncio.Queue[Work] = field(default_factory=asyncio.Queue)  # to it, and not begun
    cut: Round | None = None  # the calls of such a task ended the turn

    @property
    def working(self) -> bool:
        """Whether a delegated task is under way."""
        return self.owed or any(work.busy for work in self.works)

    @property
    def calling(self) -> bool:
        """Whether a response that made a call is not over: more calls may come."""
        return any(work.running and work.called for work in self.works)

    def work_of(self, delegation_id: str | None) -> Work | None:
        """The delegation of this id; where none is told, the latest."""
        named = (work for work in reversed(self.works) if delegation_id is None or work.id == delegation_id)
        return next(named, None)

    def stretches_of(self, turn: TurnDraft) -> Iterator[Stretch]:
        """From the last to the first."""
        return (stretch for stretch in reversed(self.stretches) if stretch.turn is turn)
