"""What a GPT Live session tells that no Realtime server does: two tracks that never end, and work done elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.record import Usage


@dataclass(frozen=True)
class LiveSound:
    """Agent audio, in order of delivery. It belongs to no item and no response."""

    data: bytes


@dataclass(frozen=True)
class Transcript:
    """A piece of what was said, and when: milliseconds of the audio that we appended. None where it is not told."""

    side: Literal["caller", "agent"]
    text: str
    start_ms: float | None
    end_ms: float | None


def lacks_blank(before: str, more: str) -> bool:
    """Whether a sentence ended and a word follows it at once: no server says which pieces are one text."""
    return before[-1:] in (".", "!", "?", "…") and more[:1].isalpha()


@dataclass(frozen=True)
class Delegated:
    """A task was handed on. What the task is, nobody tells. `target`: responses, client or decisions."""

    delegation_id: str | None
    target: str
    response_id: str | None


@dataclass(frozen=True)
class BackendStarted:
    """A response of the backend. Its later events name the delegation alone."""

    delegation_id: str | None
    response_id: str | None


@dataclass(frozen=True)
class BackendWords:
    """Content of the backend's answer, in pieces; `whole` where a message is told once more, from its beginning."""

    delegation_id: str | None
    text: str
    whole: bool = False


@dataclass(frozen=True)
class BackendCall:
    """A function call, whole: told once, when its item is done."""

    delegation_id: str | None
    output_index: int | None
    item_id: str | None
    call_id: str | None
    name: str | None
    arguments: str | None
    status: str | None


@dataclass(frozen=True)
class BackendEnded:
    """status: completed, incomplete or failed."""

    delegation_id: str | None
    response_id: str | None
    status: str
    reason: str | None
    error_code: str | None
    error_message: str
    usage: Usage | None


@dataclass(frozen=True)
class BackendBusy:
    """Anything else of the backend: it is still at work."""

    delegation_id: str | None


@dataclass(frozen=True)
class LiveUsage:
    """Seconds of the session so far, as they are billed. Never to be summed."""

    seconds: float | None


@dataclass(frozen=True)
class SessionClosed:
    reason: str
    seconds: float | None


LiveEvent = (
    LiveSound
    | Transcript
    | Delegated
    | BackendStarted
    | BackendWords
    | BackendCall
    | BackendEnded
    | BackendBusy
    | LiveUsage
    | SessionClosed
)
