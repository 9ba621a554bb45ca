"""What the events of a Live server mean: one pure function for each wire type, found by a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from runs_app.realtime.dialects.base import Body, Incoming, NoMeaning, SessionSeen, Unknown
from runs_app.realtime.dialects.fields import (
    fault_in,
    number_in,
    object_in,
    objects_in,
    response_usage_in,
    sound_in,
    text_in,
    whole_in,
)
from runs_app.realtime.live.events import (
    BackendBusy,
    BackendCall,
    BackendEnded,
    BackendStarted,
    BackendWords,
    Delegated,
    LiveSound,
    LiveUsage,
    SessionClosed,
    Transcript,
)


def read_event(body: Body) -> Incoming:
    """The neutral event for one wire event."""
    type = str(body.get("type"))
    if type in READERS:
        return READERS[type](body)
    return NoMeaning() if type in WITHOUT_MEANING else Unknown(type)


def _session(updated: bool) -> Callable[[Body], Incoming]:
    return lambda body: SessionSeen(object_in(body, "session"), updated, looks_like=None)


def _sound(body: Body) -> Incoming:
    return sound_in(body, "session.output_audio.delta", LiveSound)


def _transcript(side: Literal["caller", "agent"]) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        text = text_in(body, "delta")
        if not text:
            return NoMeaning()
        start_ms, end_ms = number_in(body, "start_ms"), number_in(body, "end_ms")
        if start_ms is None or end_ms is None or end_ms < start_ms:
            return Transcript(side, text, None, None)
        return Transcript(side, text, start_ms, end_ms)

    return read


def _delegated(body: Body) -> Incoming:
    told = object_in(body, "delegation")
    return Delegated(text_in(told, "id"), text_in(told, "target") or "client", text_in(told, "response_id"))


def _backend(body: Body) -> Incoming:
    told, delegation_id = object_in(body, "event"), text_in(body, "delegation_id")
    reader = BACKEND_READERS.get(str(told.get("type")))
    return reader(delegation_id, told) if reader else BackendBusy(delegation_id)


def _backend_started(delegation_id: str | None, told: Body) -> Incoming:
    return BackendStarted(delegation_id, text_in(object_in(told, "response"), "id"))


def _backend_words(key: str) -> Callable[[str | None, Body], Incoming]:
    def read(delegation_id: str | None, told: Body) -> Incoming:
        text = text_in(told, key) or ""
        return BackendWords(delegation_id, text) if text.strip() else BackendBusy(delegation_id)

    return read


def _backend_item(delegation_id: str | None, told: Body) -> Incoming:
    item = object_in(told, "item")
    if item.get("type") == "function_call":
        return BackendCall(
            delegation_id,
            output_index=whole_in(told, "output_index"),
            item_id=text_in(item, "id"),
            call_id=text_in(item, "call_id"),
            name=text_in(item, "name"),
            arguments=text_in(item, "arguments"),
            status=text_in(item, "status"),
        )
    parts = objects_in(item, "content") if item.get("type") == "message" else []
    text = "".join(text_in(part, "text") or "" for part in parts)
    return BackendWords(delegation_id, text, whole=True) if text.strip() else BackendBusy(delegation_id)


def _backend_ended(status: str) -> Callable[[str | None, Body], Incoming]:
    def read(delegation_id: str | None, told: Body) -> Incoming:
        response = object_in(told, "response")
        error = object_in(response, "error")
        return BackendEnded(
            delegation_id,
            response_id=text_in(response, "id"),
            status=status,
            reason=text_in(object_in(response, "incomplete_details"), "reason"),
            error_code=text_in(error, "code"),
            error_message=text_in(error, "message") or "",
            usage=response_usage_in(response),
        )

    return read


def _usage(body: Body) -> Incoming:
    return LiveUsage(number_in(object_in(body, "usage"), "seconds"))


def _closed(body: Body) -> Incoming:
    return SessionClosed(text_in(body, "reason") or "no reason", number_in(object_in(body, "usage"), "seconds"))


def _error(body: Body) -> Incoming:
    told = text_in(object_in(body, "error"), "client_event_id")
    return fault_in(body, event_id=told or text_in(body, "client_event_id"))


READERS: dict[str, Callable[[Body], Incoming]] = {
    "session.started": _session(updated=True),
    "session.updated": _session(updated=True),
    "session.output_audio.delta": _sound,
    "session.output_transcript.delta": _transcript("agent"),
    "session.input_transcript.delta": _transcript("caller"),
    "session.delegation.created": _delegated,
    "response.event": _backend,
    "session.usage.updated": _usage,
    "session.closed": _closed,
    "error": _error,
}

BACKEND_READERS: dict[str, Callable[[str | None, Body], Incoming]] = {
    "response.created": _backend_started,
    "response.output_text.delta": _backend_words("delta"),
    "response.output_text.done": _backend_words("text"),
    "response.output_item.done": _backend_item,
    "response.completed": _backend_ended("completed"),
    "response.incomplete": _backend_ended("incomplete"),
    "response.failed": _backend_ended("failed"),
    "error": lambda id, told: BackendEnded(
        id, None, "failed", None, text_in(told, "code"), text_in(told, "message") or "", None
    ),
}

WITHOUT_MEANING = frozenset(
    {
        "info",
        "session.input_audio.append",
        "session.input_audio.muted",
        "session.input_audio.unmuted",
        "session.output_audio.fixture.played",
        "session.output_audio.fixture.playing",
        "session.paused",
        "session.resumed",
        *(f"session.{kind}.appended" for kind in ("instructions", "thinking", "commentary")),
        *("decision.event", "decision.item.created", "decision.item.deleted"),
        *(f"transport.{moment}" for moment in ("ringing", "answered", "failed")),
        *(f"transport.dtmf.{moment}" for moment in ("received", "send", "sent")),
    }
)
