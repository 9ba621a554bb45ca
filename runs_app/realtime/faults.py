"""What broke a conversation off, and whose doing it was.

Error codes, close codes and refused handshakes are told apart here, once. Codes come from the protocol reference;
one that nobody knows still ends as the stage at which it happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal, NamedTuple

from runs_app.realtime.dialects.base import Fault, ResponseEnded
from runs_app.realtime.record import Ending

Broken = Literal["failed", "error", "closed", "timeout", "stopped"]


class BrokenOff(Exception):
    """The conversation ends here. `turn_status` is what becomes of a turn that is open."""

    def __init__(self, ending: Ending, turn_status: Broken, turn_reason: str | None = None) -> None:
        super().__init__(ending.message)
        self.ending = ending
        self.turn_status = turn_status
        self.turn_reason = turn_reason or ending.code or ending.stage


class Closing(NamedTuple):
    """How the socket went away. `code` is None when no close frame came."""

    code: int | None
    reason: str
    by_us: bool


SHOWN_OF_BODY = 200
ALREADY_ACTIVE = "conversation_already_has_active_response"

BENIGN_CODES = frozenset(
    {
        "response_cancel_not_active",
        "item_truncate_invalid_item_id",
        "item_delete_invalid_item_id",
        "item_retrieve_invalid_item_id",
    }
)
BENIGN_TEXTS = ("is already shorter than", "Only model output audio messages can be truncated", "Cancellation failed")

FATAL_STAGES = {
    "session_expired": "session_expired",
    **dict.fromkeys(
        (
            "invalid_api_key",
            "authentication_error",
            "permission_denied",
            "account_deactivated",
            "billing_hard_limit_reached",
            "billing_not_active",
            "beta_api_shape_disabled",
        ),
        "authorisation",
    ),
    **dict.fromkeys(
        (
            "insufficient_quota",
            "rate_limit_exceeded",
            "inference_rate_limit_exceeded",
            "too_many_requests",
            "concurrent_session_limit_exceeded",
            "session_limit_reached",
        ),
        "provider_limit",
    ),
    **dict.fromkeys(("model_not_found", "invalid_model", "DeploymentNotFound"), "session"),
}

HINTS = {
    "beta_api_shape_disabled": "This server no longer speaks the beta dialect: set dialect: ga.",
    "DeploymentNotFound": "On Azure the model is the name of the deployment.",
    "invalid_api_key": "Check the Authorization header and the secret behind it.",
}


def is_benign(fault: Fault) -> bool:
    """Races that every client can lose (a cancel that came too late): the reply goes on."""
    return fault.code in BENIGN_CODES or any(text in fault.message for text in BENIGN_TEXTS)


def is_already_active(fault: Fault) -> bool:
    return fault.code == ALREADY_ACTIVE or "already has an active response" in fault.message


def fatal(fault: Fault) -> BrokenOff | None:
    """The end of the session, for codes after which no server goes on."""
    code = next((code for code in (fault.code, fault.kind) if code in FATAL_STAGES), None)
    return BrokenOff(_invalid(FATAL_STAGES[code], code, fault.message), "error", code) if code else None


def session_refused(fault: Fault, looks_like: str | None) -> BrokenOff:
    """An error while the session was being set up."""
    where = f" (param {fault.param})" if fault.param else ""
    message = f"the session was refused: {fault.message}{where}{_other_dialect(looks_like)}"
    return BrokenOff(_invalid("session", fault.code or fault.kind, message), "error")


def unreadable_audio(form: str) -> BrokenOff:
    message = (
        f"the session speaks {form}, which is neither PCM16 at a usual rate nor G.711: set audio.input and audio.output"
    )
    return BrokenOff(_invalid("session", "audio_format", message), "error")


def session_not_started(within_s: float, *, seen: Iterable[str] = ()) -> BrokenOff:
    """A Live server that does not answer session.start. `seen`: the events that it sent instead."""
    realtime = " The server speaks the Realtime protocol: set protocol: realtime." if "session.created" in seen else ""
    message = f"no session.started within {within_s:g} s of session.start{realtime}"
    return BrokenOff(_invalid("session", "not_started", message), "error")


def session_closed(reason: str) -> BrokenOff:
    """A Live session that ended by itself."""
    stage = "session_expired" if reason == "expired" else "socket_closed"
    return BrokenOff(_invalid(stage, reason, f"the agent's side closed the session ({reason})"), "closed", reason)


def error_ended(fault: Fault) -> BrokenOff:
    """An error event that no response.done followed."""
    where = f" (param {fault.param})" if fault.param else ""
    return BrokenOff(_invalid("error_event", fault.code or fault.kind, f"{fault.message}{where}"), "error")


def response_failed(done: ResponseEnded) -> BrokenOff:
    stage = FATAL_STAGES.get(done.error_code or "", "response_failed")
    message = done.error_message or done.reason or "the response failed without a reason"
    return BrokenOff(_invalid(stage, done.error_code or done.reason, message), "failed")


def no_answer(timeout_s: float, what: str = "response.done") -> BrokenOff:
    message = f"no {what} within {timeout_s:g} s"
    return BrokenOff(Ending("response_timeout", None, "response_timeout", message), "timeout")


def nothing_settled(timeout_s: float, missing: str) -> BrokenOff:
    """A Live reply that never came to an end that counts."""
    message = f"no settled answer within {timeout_s:g} s of the caller's last word: {missing}"
    return BrokenOff(Ending("response_timeout", None, "response_timeout", message), "timeout")


def gave_up(patience_s: float) -> BrokenOff:
    """A caller who hung up on silence. To the agent it is an answer that did not come in time."""
    message = f"the caller hung up after {patience_s:g} s of silence"
    return BrokenOff(Ending("response_timeout", None, "patience", message), "timeout", "patience")


def caller_failed(stage: str, reason: str) -> BrokenOff:
    """Our own caller found no words, or no voice for them."""
    return BrokenOff(_invalid(stage, None, reason), "stopped", stage)


def send_blocked(timeout_s: float) -> BrokenOff:
    message = f"the agent's side stopped reading: nothing could be sent for {timeout_s:g} s"
    return BrokenOff(_invalid("socket_closed", "send_timeout", message), "closed", "send_timeout")


def stopped() -> BrokenOff:
    return BrokenOff(Ending("cancelled", None, None, "stopped on request"), "stopped", None)


def delegation_broke(stage: str, code: str | None, reason: str) -> BrokenOff:
    """Our own backend, or a remote assistant, could not do a task that the voice had handed on."""
    return BrokenOff(_invalid(stage, code, reason), "failed")


def too_many_delegations(pending: int, total: int) -> BrokenOff:
    message = f"the voice handed on more tasks than {pending} at once or {total} in all"
    return BrokenOff(_invalid("delegation", "too_many_delegations", message), "failed")


def sandbox_broke(name: str, reason: str) -> BrokenOff:
    return BrokenOff(_invalid("tool_sandbox", name, f"the tool {name} could not be run: {reason}"), "failed")


def socket_closed(closing: Closing, *, before_first_turn: bool, looks_like: str | None = None) -> BrokenOff:
    """The other side (or the network) closed. Reasons such as `invalid_request_error.CODE` tell more than codes.
    `looks_like`: the dialect of the session that it opened, if that is not ours."""
    named = closing.reason.rsplit(".", 1)[-1].strip()
    message = f"the socket closed ({_shown(closing)})"
    if named in FATAL_STAGES:
        return BrokenOff(_invalid(FATAL_STAGES[named], named, message), "closed", named)
    if closing.code == 1009:
        return BrokenOff(_invalid("message_too_big", "1009", message), "closed", "message_too_big")
    if closing.code == 1001 and _tells_of_expiry(closing.reason):
        return BrokenOff(_invalid("session_expired", "1001", message), "closed", "session_expired")
    if before_first_turn:
        stage = "authorisation" if closing.code in (1008, 3000) else "session"
        return BrokenOff(_invalid(stage, str(closing.code), f"{message}{_other_dialect(looks_like)}"), "closed")
    if closing.by_us and closing.code == 1011:
        return BrokenOff(_invalid("socket_closed", "keepalive", "no pong came back in time"), "closed", "keepalive")
    code = "no_close_frame" if closing.code is None else str(closing.code)
    return BrokenOff(_invalid("socket_closed", code, message), "closed", code)


def refused_handshake(status: int, body: str, *, hint: str = "") -> BrokenOff:
    """An HTTP answer instead of an upgrade. Its code is the name that the provider gives the error, else the status."""
    name, said = _named_error(body)
    by_status = {401: "authorisation", 403: "authorisation", 429: "provider_limit"}
    stage = FATAL_STAGES.get(name, by_status.get(status, "connect"))
    note = " (redirects are not followed)" if 300 <= status < 400 else ""
    message = f"the connection was refused with HTTP {status}{note}{f': {said}' if said else ''}"
    return BrokenOff(_invalid(stage, name or str(status), f"{message} ({hint})" if hint else message), "closed")


def _named_error(body: str) -> tuple[str, str]:
    """(name, what is said) of `{"error": {"code", "message"}}`, as OpenAI and Azure answer; else no name."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    error = told.get("error") if isinstance(told, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return "", body.strip()[:SHOWN_OF_BODY]
    code = error.get("code") or error.get("type")
    name = code if isinstance(code, str) and not code.isdigit() else ""
    return name, f"{name}, {error['message']}"[:SHOWN_OF_BODY] if name else error["message"][:SHOWN_OF_BODY]


def not_connected(code: str, reason: str) -> BrokenOff:
    return BrokenOff(_invalid("connect", code, f"no connection: {reason}"), "closed")


def _invalid(stage: str, code: str | None, message: str) -> Ending:
    hint = HINTS.get(code or "")
    return Ending("invalid", stage, code, f"{message} {hint}" if hint else message)


def _shown(closing: Closing) -> str:
    code = "without a close frame" if closing.code is None else f"code {closing.code}"
    return f"{code}, {closing.reason}" if closing.reason else code


def _other_dialect(looks_like: str | None) -> str:
    return f" The server speaks the {looks_like} dialect: set dialect: {looks_like}." if looks_like else ""


def _tells_of_expiry(reason: str) -> bool:
    return any(word in reason.lower() for word in ("maximum duration", "session_expired", "session expired"))
