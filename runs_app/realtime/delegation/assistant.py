"""Who does the work that a voice hands on, when it is not the provider: our own backend, or a remote assistant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from runs_app.realtime.dialects.base import Body, CallSeen
from runs_app.realtime.live.events import Transcript
from runs_app.realtime.record import Json, Usage

DELEGATE_TOOL = "delegate"  # the one function by which a voice on the Realtime protocol hands a task on
DELEGATION_S = 60.0  # of one delegated task, tools included
MOST_PENDING = 4  # tasks of one session that are under way at once
MOST_DELEGATIONS = 64  # tasks of one session

Role = Literal["user", "assistant"]


@dataclass(frozen=True)
class Delegate:
    """A backend as a plan knows it, with its secrets filled in. `endpoint`: http or https for the Responses API,
    ws or wss for a remote assistant. `history`: what was said before the call."""

    endpoint: str = field(repr=False)
    model: str | None
    instructions: str
    tools: tuple[Body, ...] = ()
    history: tuple[tuple[Role, str], ...] = ()
    api_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    reasoning: str | None = None
    verbosity: str | None = None
    max_output_tokens: int | None = None

    @property
    def is_remote(self) -> bool:
        return is_remote(self.endpoint)


def is_remote(endpoint: str) -> bool:
    """Whether a remote assistant is there, and no Responses API."""
    return endpoint.startswith(("ws://", "wss://"))


class DelegationError(Exception):
    """The work could not be done, and that says nothing about the agent. `stage` is one of record.STAGES."""

    def __init__(self, message: str, *, code: str | None = None, stage: str = "delegation") -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage


@dataclass(frozen=True)
class Answered:
    """One response of the backend. `text` may be empty: then it only calls tools, or has nothing to say."""

    response_id: str | None
    status: str
    text: str
    calls: tuple[CallSeen, ...]
    usage: Usage | None
    latency_ms: float


@dataclass(frozen=True)
class Executed:
    """A call that a remote assistant made and answered by itself. `state`: of its application, where it tells that."""

    call_id: str
    name: str
    arguments: dict[str, Json]
    status: Literal["completed", "failed"]
    output: Json
    state: dict[str, Json] | None


class Desk(Protocol):
    """What an assistant finds around it while it does one task."""

    async def run(self, calls: Sequence[CallSeen]) -> dict[str, str]:
        """Execute calls in order: the outputs by call id. A call without one gets no answer, and ends the task."""
        ...

    async def say(self, text: str) -> None:
        """Something to be said of the task, as soon as it is known."""
        ...

    def note(self, answered: Answered) -> None: ...

    def note_called(self, call_id: str, name: str, arguments: dict[str, Json]) -> None: ...

    def note_executed(self, executed: Executed) -> None: ...


class Assistant(Protocol):
    """One conversation's assistant. Tasks may overlap."""

    def hear(self, piece: Transcript, *, last: bool = False) -> None:
        """A piece of what either side of the call said; `last` when nothing more of it can follow."""
        ...

    async def answer(self, delegation_id: str, offset_ms: float, desk: Desk) -> None:
        """Do the task that the conversation so far asks for, and say what came of it. Raises DelegationError."""
        ...

    async def close(self, reason: str) -> None: ...
