"""What one conversation left behind: the neutral facts that grading, pages and exports read.

Every time is `t_ms`: milliseconds on the trial's timeline, where zero is the first caller sample (in text mode:
the sending of the first turn). Times before it are negative. Every position is in samples of the stereo WAV
(`RATE_HZ`, caller left, agent right), so `t_ms * 24` and a position speak of the same moment.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runs_app.realtime.persona.told import CallerThought, PersonaTold, thought_of, told_of

RATE_HZ = 24_000
SAMPLES_PER_MS = RATE_HZ // 1000

Json = Any  # parsed JSON: null, bool, number, text, list or dict

Source = Literal["caller", "agent", "tool", "harness"]
Direction = Literal["sent", "received", "internal"]


@dataclass(frozen=True)
class Event:
    """One line of the timeline.

    Frames of the wire keep their own `type` (source "caller" when we sent them, "agent" when we received them)
    and their payload without audio: `"audio"` and audio `"delta"` become `{"bytes": n}`. What the harness itself
    observed has direction "internal" and one of the types listed in docs/events.md.
    """

    seq: int
    t_ms: float
    source: Source
    direction: Direction
    type: str
    payload: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCall:
    """A function the agent called, once per call id, in the order of the agent's output.

    status: "completed" (executed, answered), "failed" (an error was answered: bad arguments, declared error, fault),
    "recorded" (nobody declared an answer, or the done tool: kept and not answered).
    `arguments` is None when `arguments_raw` could not be read as a JSON object; `parse_error` then says why.
    """

    call_id: str
    name: str
    arguments_raw: str
    arguments: dict[str, Json] | None
    parse_error: str | None
    turn: int
    round: int
    response_id: str | None
    output_index: int
    called_ms: float
    status: Literal["completed", "failed", "recorded"]
    answered_ms: float | None = None
    output: Json = None
    error: str | None = None
    fault: str | None = None  # the mode of a declared tool fault that came to pass here


@dataclass(frozen=True)
class Caption:
    """A piece of the agent's words and when it arrived."""

    t_ms: float
    text: str


@dataclass(frozen=True)
class Span:
    """Samples [start, end) of one channel of the WAV."""

    start: int
    end: int


@dataclass(frozen=True)
class CallerLine:
    """What a condition of the line made of the caller's clean words in one turn.

    `condition`: its parts and their settings. `seed` draws it again, sample by sample. `levels`: RMS in int16 steps
    (`speech_rms`, `noise_rms`, `background_rms`), `packets_lost`, `packets_lost_share`, `clipped` samples. `voice`:
    where the caller speaks, read from the clean words, since noise hides the edges of what was sent.
    """

    condition: dict[str, Json]
    seed: int
    levels: dict[str, float]
    voice: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One caller turn and all that the agent answered to it, tool rounds included.

    status: "completed", "incomplete" (reason: max_output_tokens, content_filter), "cancelled", or how it broke off:
    "failed" (a failed response), "error" (an error event), "closed" (the socket), "timeout", "stopped" (a person).
    `caller` is what we sent, `agent` where each stretch of agent audio lies; both empty in text mode.
    `sent_ms`: the commit, or with turn detection by the server the caller's last voiced sample (text mode: the item).
    `interrupted_ms`: the caller's next words began then, over this turn's reply. `interruption_stop_ms`: from our
    response.cancel to the response.done that confirms it. `endpoint_ms`: the server took the caller's words as ended;
    `splits` counts how often it did so too early. `line`: None where the caller's words were sent clean.
    """

    index: int
    caller_text: str
    agent_text: str
    status: Literal["completed", "incomplete", "cancelled", "failed", "error", "closed", "timeout", "stopped"]
    status_reason: str | None
    sent_ms: float
    heard_text: str | None = None
    first_token_ms: float | None = None
    first_audio_ms: float | None = None
    done_ms: float | None = None
    rounds: int = 0
    interrupted: bool = False
    interrupted_ms: float | None = None
    interruption_stop_ms: float | None = None
    endpoint_ms: float | None = None
    splits: int = 0
    caller: Span | None = None
    agent: tuple[Span, ...] = ()
    captions: tuple[Caption, ...] = ()
    line: CallerLine | None = None
    thought: CallerThought | None = None  # of a caller that a model plays


@dataclass(frozen=True)
class Usage:
    """Tokens summed over every response.done that told them. None means that no response told."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_text_tokens: int | None = None
    input_audio_tokens: int | None = None
    input_cached_tokens: int | None = None
    output_text_tokens: int | None = None
    output_audio_tokens: int | None = None


@dataclass(frozen=True)
class Delegation:
    """A task that a voice handed on. `target`: responses (the provider's backend), client (ours) or decisions. `turn`:
    the caller's turn in which it did so. status: "completed", "incomplete", "failed", or "open" when it never came to
    an end. `rounds`: how often function outputs went back for it. `texts`: what the backend answered, message by
    message, along with calls too."""

    id: str
    target: str
    turn: int
    created_ms: float
    ended_ms: float | None = None
    status: str = "open"
    rounds: int = 0
    texts: tuple[str, ...] = ()


LATE_MS = 60.0


@dataclass(frozen=True)
class Pacing:
    """How late the caller's chunks were sent, against their absolute deadlines. None when not in real time.

    `loop_lag_max_ms`: how late this machine was with anything at all, also while the agent spoke: an arrival that was
    noticed late makes the agent look slow.
    """

    chunks: int
    lag_p99_ms: float | None
    lag_max_ms: float | None
    worst_at_ms: float | None
    loop_lag_max_ms: float | None = None
    loop_worst_at_ms: float | None = None
    late_chunks: int = 0  # by LATE_MS or more


@dataclass(frozen=True)
class Ending:
    """How the conversation ended.

    kind "completed": every turn was answered (also incomplete ones).
    kind "response_timeout": the agent never gave the qualifying answer in time: the agent's failure.
    kind "invalid": not the agent's doing; `stage` says where (see STAGES).
    kind "cancelled": a person stopped it, or the lease was lost.
    """

    kind: Literal["completed", "response_timeout", "invalid", "cancelled"]
    stage: str | None = None
    code: str | None = None
    message: str = ""


COMPLETED = Ending("completed")
DONE = Ending("completed", None, "done_tool", "the agent ended the session")

# The stages of an invalid trial, in the order in which they can happen.
STAGES = (
    "configuration",  # the plan could not be built: unknown secret, bad template, tool conflict
    "speech",  # the caller's words could not be synthesised
    "caller_audio",  # they could, but what came back is not usable audio (empty, under 100 ms, not audio)
    "caller",  # our own caller: a persona that could not be played, or that made mistakes
    "connect",  # no socket: refused, DNS, TLS, time-out of the handshake
    "authorisation",  # 401, 403, invalid_api_key, beta_api_shape_disabled, account or billing refused
    "provider_limit",  # 429, quota, rate limit, session limit
    "session",  # session.update refused, or the socket closed before the first turn
    "session_expired",
    "response_failed",  # response.done with status failed, not a quota
    "error_event",  # an error event that ended the turn
    "socket_closed",  # the socket closed while a turn was open
    "message_too_big",
    "protocol",  # frames that cannot be understood and end the turn
    "pacing",  # this machine was too busy to send the caller's audio in time
    "tool_sandbox",  # our own tool executor broke
    "delegation",  # our own backend or a remote assistant could not be asked, or broke its protocol
    "worker_lost",
    "internal",  # our own fault
)


@dataclass(frozen=True)
class Record:
    """Everything about one attempt but the audio itself and the raw events."""

    protocol: str
    dialect: str
    mode: Literal["text", "audio"]
    real_time: bool
    ending: Ending
    turns: tuple[Turn, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    initial_state: dict[str, Json] = field(default_factory=dict)
    final_state: dict[str, Json] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    pacing: Pacing | None = None
    session: dict[str, Json] = field(default_factory=dict)  # as the server says it is, no secrets
    session_acknowledged: bool = False
    audio_samples: int = 0  # length of the stereo WAV
    ws_messages_received: int = 0
    unknown_events: dict[str, int] = field(default_factory=dict)  # type -> count
    warnings: tuple[str, ...] = ()  # one line each, such as "dangling_audio_byte=1"
    reference_date: str | None = None
    delegations: tuple[Delegation, ...] = ()  # where a backend stands behind the voice
    backend_usage: Usage = field(default_factory=Usage)  # of our own backend; a provider's is part of `usage`
    session_seconds: float | None = None  # Live only: what the provider bills
    persona: PersonaTold | None = None  # of a caller that a model plays

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Record:
        """Inverse of to_json; also reads what JSON made of it (lists for tuples)."""
        known = dict(data)
        known["ending"] = Ending(**data["ending"])
        known["turns"] = tuple(_turn(t) for t in data.get("turns", ()))
        known["tool_calls"] = tuple(ToolCall(**c) for c in data.get("tool_calls", ()))
        known["usage"] = Usage(**data.get("usage", {}))
        pacing = data.get("pacing")
        known["pacing"] = Pacing(**pacing) if pacing else None
        known["warnings"] = tuple(data.get("warnings", ()))
        known["persona"] = told_of(data["persona"]) if data.get("persona") else None
        known["delegations"] = tuple(_delegation(d) for d in data.get("delegations", ()))
        known["backend_usage"] = Usage(**data.get("backend_usage", {}))
        return cls(**known)


def _turn(data: dict[str, Json]) -> Turn:
    known = dict(data)
    known["caller"] = Span(**data["caller"]) if data.get("caller") else None
    known["agent"] = tuple(Span(**s) for s in data.get("agent", ()))
    known["captions"] = tuple(Caption(**c) for c in data.get("captions", ()))
    known["line"] = _line(data["line"]) if data.get("line") else None
    known["thought"] = thought_of(data["thought"]) if data.get("thought") else None
    return Turn(**known)


def _delegation(data: dict[str, Json]) -> Delegation:
    return Delegation(**{**data, "texts": tuple(data.get("texts", ()))})


def _line(data: dict[str, Json]) -> CallerLine:
    return CallerLine(**{**data, "voice": tuple(Span(**span) for span in data["voice"])})
