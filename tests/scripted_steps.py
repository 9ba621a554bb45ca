"""What a scripted server can do: the steps of its script (see scripted_server)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.scripted_server import Session


@dataclass(frozen=True)
class Send:
    """Send one event. A function of the session gives an event that depends on what the client said."""

    event: dict[str, Any] | Callable[[Session], dict[str, Any]]


@dataclass(frozen=True)
class SendRaw:
    """Send a frame as it is: text that is no JSON, or bytes."""

    frame: str | bytes


@dataclass(frozen=True)
class Expect:
    """Wait for the next client event of this type, after the one that the last Expect found."""

    type: str
    within_s: float = 10.0


@dataclass(frozen=True)
class Pause:
    """Let real time pass."""

    ms: float


@dataclass(frozen=True)
class StopReading:
    """Read nothing more from the socket: not even the client's close frame."""


@dataclass(frozen=True)
class Close:
    code: int = 1000
    reason: str = ""


@dataclass(frozen=True)
class Drop:
    """Cut the TCP connection without a close frame."""


@dataclass(frozen=True)
class Hang:
    """Say nothing more until the client goes away."""


@dataclass(frozen=True)
class Call:
    """Run a coroutine function of the session: for what the other steps cannot say."""

    function: Callable[[Session], Awaitable[None]]


Step = Send | SendRaw | Expect | Pause | StopReading | Close | Drop | Hang | Call
