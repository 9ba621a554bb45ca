"""What the events of a Realtime server mean: one pure function for each wire type, found by a dict.

Nothing is taken for granted: servers leave fields out, send null where a string is usual, and mix GA and beta names.
"""

from __future__ import annotations

from collections.abc import Callable

from runs_app.realtime.dialects.base import (
    ArgumentsPiece,
    Body,
    CallerCommitted,
    CallSeen,
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
    WordKind,
    Words,
)
from runs_app.realtime.dialects.fields import fault_in, object_in, objects_in, sound_in, text_in, whole_in
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


def _place(body: Body) -> Place:
    return Place(
        response_id=text_in(body, "response_id"),
        output_index=whole_in(body, "output_index") or 0,
        item_id=text_in(body, "item_id"),
        content_index=whole_in(body, "content_index") or 0,
    )


def _session(updated: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        session = object_in(body, "session")
        return SessionSeen(session, updated, shape_of(session))

    return read


def _words(kind: WordKind, key: str, *, whole: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        text = text_in(body, key)
        return Words(_place(body), kind, text, whole) if text else NoMeaning()

    return read


def _sound(body: Body) -> Incoming:
    return sound_in(body, "response.output_audio.delta", lambda data: Sound(_place(body), data))


def _call(item: Body, *, response_id: str | None, output_index: int | None) -> CallSeen:
    """A function_call item. Arguments of one in progress are not complete."""
    status = text_in(item, "status")
    return CallSeen(
        response_id=response_id,
        output_index=output_index,
        item_id=text_in(item, "id"),
        call_id=text_in(item, "call_id"),
        name=text_in(item, "name"),
        arguments=None if status == "in_progress" else text_in(item, "arguments"),
        status=status,
    )


def _item(body: Body) -> Incoming:
    item = object_in(body, "item")
    if item.get("type") != "function_call":
        return NoMeaning()
    added = str(body.get("type")).endswith((".added", ".created"))
    call = _call(item, response_id=text_in(body, "response_id"), output_index=whole_in(body, "output_index"))
    # Some servers announce an item that is in progress without saying so.
    if added and not call.arguments:
        return CallSeen(call.response_id, call.output_index, call.item_id, call.call_id, call.name, None, None)
    return call


def _arguments_done(body: Body) -> Incoming:
    return CallSeen(
        response_id=text_in(body, "response_id"),
        output_index=whole_in(body, "output_index"),
        item_id=text_in(body, "item_id"),
        call_id=text_in(body, "call_id"),
        name=text_in(body, "name"),
        arguments=text_in(body, "arguments"),
        status=None,
    )


def _arguments_piece(body: Body) -> Incoming:
    delta = text_in(body, "delta")
    return ArgumentsPiece(text_in(body, "item_id"), text_in(body, "call_id"), delta) if delta else NoMeaning()


def _response_started(body: Body) -> Incoming:
    return ResponseStarted(text_in(object_in(body, "response"), "id"))


def _response_done(body: Body) -> Incoming:
    response = object_in(body, "response")
    details = response.get("status_details")
    details = details if isinstance(details, dict) else {"reason": details}
    error = object_in(details, "error")
    response_id = text_in(response, "id")
    told: list[Words | CallSeen] = []
    for index, item in enumerate(objects_in(response, "output")):
        told.extend(_told(item, response_id, index))
    return ResponseEnded(
        response_id=response_id,
        status=text_in(response, "status") or "completed",
        reason=text_in(details, "reason"),
        error_code=text_in(error, "code") or text_in(error, "type"),
        error_message=text_in(error, "message") or "",
        usage=_usage(response.get("usage")),
        told=tuple(told),
    )


def _told(item: Body, response_id: str | None, index: int) -> list[Words | CallSeen]:
    if item.get("type") == "function_call":
        return [_call(item, response_id=response_id, output_index=index)]
    words: list[Words | CallSeen] = []
    for part, content in enumerate(objects_in(item, "content")):
        place = Place(response_id, index, text_in(item, "id"), part)
        if text := text_in(content, "text"):
            words.append(Words(place, "text", text, whole=True))
        if transcript := text_in(content, "transcript"):
            words.append(Words(place, "transcript", transcript, whole=True))
    return words


def _usage(told: Json) -> Usage | None:
    if not isinstance(told, dict):
        return None
    came, went = object_in(told, "input_token_details"), object_in(told, "output_token_details")
    return Usage(
        input_tokens=whole_in(told, "input_tokens"),
        output_tokens=whole_in(told, "output_tokens"),
        total_tokens=whole_in(told, "total_tokens"),
        input_text_tokens=whole_in(came, "text_tokens"),
        input_audio_tokens=whole_in(came, "audio_tokens"),
        input_cached_tokens=whole_in(came, "cached_tokens"),
        output_text_tokens=whole_in(went, "text_tokens"),
        output_audio_tokens=whole_in(went, "audio_tokens"),
    )


def _heard(final: bool) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        return Heard(text_in(body, "item_id"), text_in(body, "transcript" if final else "delta"), final)

    return read


def _moment(body: Body, key: str) -> tuple[str | None, int | None]:
    return text_in(body, "item_id"), whole_in(body, key)


def _error(body: Body) -> Incoming:
    return fault_in(body, event_id=text_in(object_in(body, "error") or body, "event_id"))


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
    "input_audio_buffer.committed": lambda body: CallerCommitted(text_in(body, "item_id")),
    "input_audio_buffer.speech_started": lambda body: SpeechStarted(*_moment(body, "audio_start_ms")),
    "input_audio_buffer.speech_stopped": lambda body: SpeechStopped(*_moment(body, "audio_end_ms")),
    "conversation.item.truncated": lambda body: Truncated(*_moment(body, "audio_end_ms")),
    f"{TRANSCRIPTION}.delta": _heard(final=False),
    f"{TRANSCRIPTION}.completed": _heard(final=True),
    f"{TRANSCRIPTION}.failed": lambda body: Heard(text_in(body, "item_id"), None, final=True),
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
