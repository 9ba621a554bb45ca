"""Trouble on request: what real servers do wrong, made to happen by name.

`x-sim-fault: NAME[@PROBABILITY][,NAME...]` in the handshake's headers, query or model name. Without a probability a
fault always happens; with one, the seed decides once per connection, so the same seed has the same trouble.
"""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.simulator.luck import luck

# The connection is refused before it is a websocket.
REFUSALS = {
    "refuse_401": 401,
    "refuse_403": 403,
    "refuse_404": 404,
    "refuse_429": 429,
    "refuse_500": 500,
    "refuse_503": 503,
}

# The socket opens, then an error event and a close come instead of session.created: (error code, close code).
EARLY_ENDS = {
    "invalid_api_key": ("invalid_api_key", 3000),
    "session_limit": ("session_limit_reached", 1008),
    "beta_disabled": ("beta_api_shape_disabled", 4000),
}

# The socket closes in the middle of a response.
CLOSES = {"close_1001": 1001, "close_1011": 1011, "close_4000": 4000}

# response.done with status failed and no output: (error type, error code).
FAILURES = {
    "insufficient_quota": ("insufficient_quota", "insufficient_quota"),
    "rate_limited": ("rate_limit_exceeded", "rate_limit_exceeded"),
    "server_error": ("server_error", "server_error"),
}

# The arguments of a function call are spoilt: what replaces the JSON text.
SPOILT_ARGUMENTS = ("invalid_json_arguments", "empty_arguments", "array_arguments", "trailing_arguments")

OTHERS = {
    "silent_start": "session.created never comes",
    "delay_session_updated": "session.updated comes `x-sim-fault-delay-ms` late (default 5000)",
    "no_session_updated": "session.updated never comes",
    "never_answer": "nothing follows response.created",
    "drop_response_done": "everything of a response but its response.done",
    "duplicate_events": "every event of a response is sent twice, word for word",
    "text_only": "a text part although audio was asked for",
    "parallel_calls": "all calls of the plan in one response, their argument deltas interleaved; a single one twice",
    "missing_name": "response.function_call_arguments.done without its name",
    "late_transcript": "the caller's transcript comes after response.done",
    "late_audio": "the last audio delta comes after response.output_audio.done",
    "odd_audio": "audio deltas are cut in the middle of samples",
    "dangling_byte": "one surplus byte at the end of the audio",
    "leading_silence": "400 ms of silence inside the audio before the words",
    "late_after_cancel": "up to 500 ms of sound still come after a cancel",
    "ignore_cancel": "a cancelled reply is said to its end all the same, and is completed",
    "short_audio_count": "the server counts 85 ms less of a reply than it sent, so truncate is refused earlier",
    "unasked_response": "a tool's output is answered at once, without response.create",
    "conversation_created": "conversation.created follows session.created",
    "bare_events": "no items and no content parts: deltas, their ends and response.done alone",
    "mixed_dialect": "a GA session whose deltas have the names of the beta",
    "no_response_id": "events of a response do not say of which",
    "obfuscation": "padding of random length in every delta",
    "zero_silence": "Live: silence between words is sent as zeros instead of not at all",
    "blended_answer": "Live: what came back is said in one breath with the acknowledgement",
    "early_answer": "Live: an answer is claimed before the tool has returned, and nothing after",
    "acknowledgement_only": "Live: what came back is never said",
    "no_session_closed": "Live: the socket closes without session.closed",
    "error_null_event_id": "a harmless error event with a null event_id in the middle of a response",
    "unknown_event": "an event type that nobody knows in the middle of a response",
    "bad_frame": "a frame that is not JSON in the middle of a response",
    "null_usage": "response.done with usage null",
    "no_created": "a response without response.created",
    "max_output_tokens": "the reply breaks off half way: incomplete (max_output_tokens)",
    "content_filter": "no words at all: incomplete (content_filter)",
    "session_expired": "error session_expired and close 1001 in the middle of a response",
}

NAMES = frozenset((*REFUSALS, *EARLY_ENDS, *CLOSES, *FAILURES, *SPOILT_ARGUMENTS, *OTHERS))


class UnknownFaultError(ValueError):
    """A fault that the simulator does not know; the message lists those that it does."""


@dataclass(frozen=True)
class Faults:
    """The faults that this connection shall have."""

    active: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        return name in self.active

    def refusal_status(self) -> int | None:
        return next((status for name, status in REFUSALS.items() if name in self), None)

    def early_end(self) -> tuple[str, int] | None:
        return next((end for name, end in EARLY_ENDS.items() if name in self), None)

    def close_code(self) -> int | None:
        return next((code for name, code in CLOSES.items() if name in self), None)

    def failure(self) -> tuple[str, str] | None:
        return next((failure for name, failure in FAILURES.items() if name in self), None)

    def spoil(self, arguments: str) -> str:
        """The arguments as the active fault leaves them."""
        if "invalid_json_arguments" in self:
            return arguments.rstrip()[:-1]
        if "empty_arguments" in self:
            return ""
        if "array_arguments" in self:
            return f"[{arguments}]"
        if "trailing_arguments" in self:
            return f"{arguments} That is all."
        return arguments


def read_faults(text: str, seed: str) -> Faults:
    """Faults from a list such as `text_only,close_1011@0.3`. UnknownFaultError for a name that is none."""
    active = set()
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, probability = entry.partition("@")
        if name not in NAMES:
            raise UnknownFaultError(f"unknown fault {name!r}; known faults: {', '.join(sorted(NAMES))}")
        if luck(seed, f"fault {name}") < _probability(name, probability):
            active.add(name)
    return Faults(frozenset(active))


def _probability(name: str, text: str) -> float:
    if not text:
        return 1.0
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UnknownFaultError(f"the probability of {name} must be a number from 0 to 1, not {text!r}")
    return value
