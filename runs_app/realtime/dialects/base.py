"""What a session knows of a protocol: neutral events that come in, and the shapes that go out.

A dialect turns wire dicts into the frozen events below and builds every event that is sent. Nothing else in this
package knows a wire name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from runs_app.realtime.formats import UNTOLD, Formats
from runs_app.realtime.live.events import LiveEvent
from runs_app.realtime.record import Json, Usage

WordKind = Literal["text", "transcript"]
Body = dict[str, Json]


@dataclass(frozen=True)
class Place:
    """Where in the agent's output something belongs. Servers may leave any of it out."""

    response_id: str | None = None
    output_index: int = 0
    item_id: str | None = None
    content_index: int = 0


@dataclass(frozen=True)
class SessionSeen:
    """The server told its session. `looks_like` names the dialect of its shape when that can be told."""

    session: Body
    updated: bool
    looks_like: str | None


@dataclass(frozen=True)
class ResponseStarted:
    response_id: str | None


@dataclass(frozen=True)
class Words:
    """A piece of the agent's words; `whole` when it repeats all of the part, which counts only if no pieces came."""

    place: Place
    kind: WordKind
    text: str
    whole: bool = False


@dataclass(frozen=True)
class Sound:
    """Agent audio as it came: bytes that need not end with a whole sample."""

    place: Place
    data: bytes


@dataclass(frozen=True)
class CallSeen:
    """What one event tells of a function call. Any of it may be missing; `arguments` are complete when given."""

    response_id: str | None
    output_index: int | None
    item_id: str | None
    call_id: str | None
    name: str | None
    arguments: str | None
    status: str | None


@dataclass(frozen=True)
class ArgumentsPiece:
    item_id: str | None
    call_id: str | None
    text: str


@dataclass(frozen=True)
class ResponseEnded:
    """The end of a response. `told` repeats its output: words and calls, for servers that streamed nothing."""

    response_id: str | None
    status: str
    reason: str | None
    error_code: str | None
    error_message: str
    usage: Usage | None
    told: tuple[Words | CallSeen, ...] = ()


@dataclass(frozen=True)
class CallerCommitted:
    item_id: str | None


@dataclass(frozen=True)
class SpeechStarted:
    """The server's turn detection heard the caller begin. `audio_start_ms` counts all audio appended so far, and lies
    before the words by the padding of that server; None when it was not told."""

    item_id: str | None
    audio_start_ms: int | None


@dataclass(frozen=True)
class SpeechStopped:
    """It heard the caller end. Most servers tell where their window of silence ended, not where the words did."""

    item_id: str | None
    audio_end_ms: int | None


@dataclass(frozen=True)
class Truncated:
    """The server forgot what lay behind this moment of an item of the agent."""

    item_id: str | None
    audio_end_ms: int | None


@dataclass(frozen=True)
class Heard:
    """What the agent's side understood of the caller. Failed recognition has no text."""

    item_id: str | None
    text: str | None
    final: bool


@dataclass(frozen=True)
class Fault:
    """An error event."""

    code: str | None
    kind: str | None
    message: str
    param: str | None
    event_id: str | None


@dataclass(frozen=True)
class NoMeaning:
    """A known event that says nothing we need."""


@dataclass(frozen=True)
class Unknown:
    type: str


@dataclass(frozen=True)
class Unreadable:
    """A known event that cannot be understood."""

    type: str
    reason: str


Incoming = (
    SessionSeen
    | ResponseStarted
    | Words
    | Sound
    | CallSeen
    | ArgumentsPiece
    | ResponseEnded
    | CallerCommitted
    | SpeechStarted
    | SpeechStopped
    | Truncated
    | Heard
    | Fault
    | NoMeaning
    | Unknown
    | Unreadable
    | LiveEvent
)


class Dialect(Protocol):
    """One protocol. Bodies are whole events, ready to be sent as JSON; session shapes are its `session` alone."""

    @property
    def name(self) -> str: ...

    @property
    def headers(self) -> dict[str, str]:
        """What the handshake needs besides the configuration's own headers."""
        ...

    def default_session(self, mode: Literal["text", "audio"]) -> Body: ...

    def configured_session(
        self,
        *,
        instructions: str,
        voice: str | None,
        tools: list[Body],
        formats: Formats = UNTOLD,
        turn_detection: Body | None = None,
    ) -> Body:
        """The session keys for fields of a configuration. `turn_detection` is sent whole, with what it leaves out."""
        ...

    def session_update(self, session: Body, event_id: str) -> Body: ...

    def message(self, role: Literal["user", "assistant"], text: str) -> Body: ...

    def append(self, data: bytes) -> str:
        """An append event as JSON text: by far the most frequent event, so it is made by template."""
        ...

    def commit(self) -> Body: ...

    def ask_for_response(self, event_id: str) -> Body: ...

    def cancel(self, event_id: str) -> Body:
        """The response under way, whatever its id: servers that name none still understand this."""
        ...

    def truncate(self, item_id: str, *, content_index: int, audio_end_ms: int, event_id: str) -> Body: ...

    def tool_output(self, call_id: str, text: str) -> Body: ...

    def read(self, body: Body) -> Incoming: ...

    def formats(self, session: Body) -> Formats:
        """How sound travels both ways in a session, ours or a server's."""
        ...

    def turn_detection(self, session: Body) -> Body | None:
        """How the server ends the caller's turns in a session, ours or a server's; None when it does not."""
        ...

    def tools(self, session: Body) -> list[Body]:
        """What the agent may call in a session of ours."""
        ...

    def wants_transcript(self, session: Body) -> bool:
        """Whether the server writes down what it hears."""
        ...

    def mismatch(self, fault: Fault, session: Body | None) -> str | None:
        """The dialect that the server seems to speak instead, when a refused session.update shows one."""
        ...
