"""What the events of a Realtime server mean: one pure function for each wire type, found by a dict.

Nothing is taken for granted: servers leave fields out, send null where a string is usual, and mix GA and beta names.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from runs_app.realtime.dialects.base import (
    ArgumentsPiece,
    Body,
    CallerCommitted,
    CallSeen,
    Fault,
    Heard,
    Incoming,
    NoMeaning,
    Place,
    ResponseEnded,
    ResponseStarted,
    SessionSeen,
    Sound,
    SpeechStarted,
    SpeechStopped,
    Truncated,
    Unknown,
    Unreadable,
    WordKind,
    Words,
)
from runs_app.realtime.dialects.realtime_session import shape_of
from runs_app.realtime.record import Json, Usage

BETA_NAMES = {
    "response.text.delta": "response.output_text.delta",
    "response.text.done": "response.output_text.done",
    "response.audio.delta": "response.output_audio.delta",
    "response.audio.done": "response.output_audio.done",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.audio_transcript.done": "response.output_audio_transcript.done",
    "conversation.item.created": "conversation.item.added",
}


def read_event(body: Body) -> Incoming:
    """The neutral event for one wire event, whatever dialect its name is from."""
    type = str(body.get("type"))
    name = BETA_NAMES.get(type, type)
    if name in READERS:
        return READERS[name](body)
    return NoMeaning() if name in WITHOUT_MEANING else Unknown(type)


def _text(body: Body, key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _number(body: Body, key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(body: Body, key: str) -> Body:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _objects(body: Body, key: str) -> list[Body]:
    value = body.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _place(body: Body) -> Place:
    return Place(
        response_id=_text(body, "response_id"),
        output_index=_number(body, "output_index") or 0,
        item_id=_text(body, "item_id"),
        content_index=_number(body, "content_index") or 0,
    )


def _session(updated: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        session = _object(body, "session")
        return SessionSeen(session, updated, shape_of(session))

    return read


def _words(kind: WordKind, key: str, *, whole: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        text = _text(body, key)
        return Words(_place(body), kind, text, whole) if text else NoMeaning()

    return read


def _sound(body: Body) -> Incoming:
    delta = _text(body, "delta")
    if not delta:
        return NoMeaning()
    try:
        data = base64.b64decode(delta + "=" * (-len(delta) % 4), validate=True)
    except (binascii.Error, ValueError) as exc:
        return Unreadable("response.output_audio.delta", f"bad base64: {exc}")
    return Sound(_place(body), data)


def _call(item: Body, *, response_id: str | None, output_index: int | None) -> CallSeen:
    """A function_call item. Arguments of one in progress are not complete."""
    status = _text(item, "status")
    return CallSeen(
        response_id=response_id,
        output_index=output_index,
        item_id=_text(item, "id"),
        call_id=_text(item, "call_id"),
        name=_text(item, "name"),
        arguments=None if status == "in_progress" else _text(item, "arguments"),
        status=status,
    )


def _item(body: Body) -> Incoming:
    item = _object(body, "item")
    if item.get("type") != "function_call":
        return NoMeaning()
    added = str(body.get("type")).endswith((".added", ".created"))
    call = _call(item, response_id=_text(body, "response_id"), output_index=_number(body, "output_index"))
    # Some servers announce an item that is in progress without saying so.
    if added and not call.arguments:
        return CallSeen(call.response_id, call.output_index, call.item_id, call.call_id, call.name, None, None)
    return call


def _arguments_done(body: Body) -> Incoming:
    return CallSeen(
        response_id=_text(body, "response_id"),
        output_index=_number(body, "output_index"),
        item_id=_text(body, "item_id"),
        call_id=_text(body, "call_id"),
        name=_text(body, "name"),
        arguments=_text(body, "arguments"),
        status=None,
    )


def _arguments_piece(body: Body) -> Incoming:
    delta = _text(body, "delta")
    return ArgumentsPiece(_text(body, "item_id"), _text(body, "call_id"), delta) if delta else NoMeaning()


def _response_started(body: Body) -> Incoming:
    return ResponseStarted(_text(_object(body, "response"), "id"))


def _response_done(body: Body) -> Incoming:
    response = _object(body, "response")
    details = response.get("status_details")
    details = details if isinstance(details, dict) else {"reason": details}
    error = _object(details, "error")
    response_id = _text(response, "id")
    told: list[Words | CallSeen] = []
    for index, item in enumerate(_objects(response, "output")):
        told.extend(_told(item, response_id, index))
    return ResponseEnded(
        response_id=response_id,
        status=_text(response, "status") or "completed",
        reason=_text(details, "reason"),
        error_code=_text(error, "code") or _text(error, "type"),
        error_message=_text(error, "message") or "",
        usage=_usage(response.get("usage")),
        told=tuple(told),
    )


def _told(item: Body, response_id: str | None, index: int) -> list[Words | CallSeen]:
    if item.get("type") == "function_call":
        return [_call(item, response_id=response_id, output_index=index)]
    words: list[Words | CallSeen] = []
    for part, content in enumerate(_objects(item, "content")):
        place = Place(response_id, index, _text(item, "id"), part)
        if text := _text(content, "text"):
            words.append(Words(place, "text", text, whole=True))
        if transcript := _text(content, "transcript"):
            words.append(Words(place, "transcript", transcript, whole=True))
    return words


def _usage(told: Json) -> Usage | None:
    if not isinstance(told, dict):
        return None
    came, went = _object(told, "input_token_details"), _object(told, "output_token_details")
    return Usage(
        input_tokens=_number(told, "input_tokens"),
        output_tokens=_number(told, "output_tokens"),
        total_tokens=_number(told, "total_tokens"),
        input_text_tokens=_number(came, "text_tokens"),
        input_audio_tokens=_number(came, "audio_tokens"),
        input_cached_tokens=_number(came, "cached_tokens"),
        output_text_tokens=_number(went, "text_tokens"),
        output_audio_tokens=_number(went, "audio_tokens"),
    )


def _heard(final: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        return Heard(_text(body, "item_id"), _text(body, "transcript" if final else "delta"), final)

    return read


def _moment(body: Body, key: str) -> tuple[str | None, int | None]:
    return _text(body, "item_id"), _number(body, key)


def _error(body: Body) -> Incoming:
    error = _object(body, "error") or body
    return Fault(
        code=_text(error, "code"),
        kind=_text(error, "type"),
        message=_text(error, "message") or "no message",
        param=_text(error, "param"),
        event_id=_text(error, "event_id"),
    )


TRANSCRIPTION = "conversation.item.input_audio_transcription"

READERS: dict[str, Callable[[Body], Incoming]] = {
    "session.created": _session(updated=False),
    "session.updated": _session(updated=True),
    "response.created": _response_started,
    "response.done": _response_done,
    "response.output_text.delta": _words("text", "delta", whole=False),
    "response.output_text.done": _words("text", "text", whole=True),
    "response.output_audio_transcript.delta": _words("transcript", "delta", whole=False),
    "response.output_audio_transcript.done": _words("transcript", "transcript", whole=True),
    "response.output_audio.delta": _sound,
    "response.function_call_arguments.delta": _arguments_piece,
    "response.function_call_arguments.done": _arguments_done,
    "response.output_item.added": _item,
    "response.output_item.done": _item,
    "conversation.item.added": _item,
    "conversation.item.done": _item,
    "input_audio_buffer.committed": lambda body: CallerCommitted(_text(body, "item_id")),
    "input_audio_buffer.speech_started": lambda body: SpeechStarted(*_moment(body, "audio_start_ms")),
    "input_audio_buffer.speech_stopped": lambda body: SpeechStopped(*_moment(body, "audio_end_ms")),
    "conversation.item.truncated": lambda body: Truncated(*_moment(body, "audio_end_ms")),
    f"{TRANSCRIPTION}.delta": _heard(final=False),
    f"{TRANSCRIPTION}.completed": _heard(final=True),
    f"{TRANSCRIPTION}.failed": lambda body: Heard(_text(body, "item_id"), None, final=True),
    "error": _error,
}

WITHOUT_MEANING = frozenset(
    {
        "conversation.created",
        "conversation.item.deleted",
        "conversation.item.retrieved",
        f"{TRANSCRIPTION}.segment",
        "input_audio_buffer.cleared",
        "input_audio_buffer.dtmf_event_received",
        "input_audio_buffer.timeout_triggered",
        "output_audio_buffer.cleared",
        "output_audio_buffer.started",
        "output_audio_buffer.stopped",
        "rate_limits.updated",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_audio.done",
        *(f"response.mcp_call.{moment}" for moment in ("in_progress", "completed", "failed")),
        *(f"response.mcp_call_arguments.{moment}" for moment in ("delta", "done")),
        *(f"mcp_list_tools.{moment}" for moment in ("in_progress", "completed", "failed")),
    }
)
