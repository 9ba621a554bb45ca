"""What the events of a Live server mean: one pure function for each wire type, found by a dict."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Literal

from runs_app.realtime.dialects.base import Body, Fault, Incoming, NoMeaning, SessionSeen, Unknown, Unreadable
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
from runs_app.realtime.record import Json, Usage


def read_event(body: Body) -> Incoming:
    """The neutral event for one wire event."""
    type = str(body.get("type"))
    if type in READERS:
        return READERS[type](body)
    return NoMeaning() if type in WITHOUT_MEANING else Unknown(type)


def _text(body: Body, key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _number(body: Body, key: str) -> float | None:
    value = body.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(told: Body, key: str) -> int | None:
    value = _number(told, key)
    return None if value is None else int(value)


def _object(body: Body, key: str) -> Body:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _session(updated: bool) -> Callable[[Body], Incoming]:
    return lambda body: SessionSeen(_object(body, "session"), updated, looks_like=None)


def _sound(body: Body) -> Incoming:
    delta = _text(body, "delta")
    if not delta:
        return NoMeaning()
    try:
        return LiveSound(base64.b64decode(delta + "=" * (-len(delta) % 4), validate=True))
    except (binascii.Error, ValueError) as exc:
        return Unreadable("session.output_audio.delta", f"bad base64: {exc}")


def _transcript(side: Literal["caller", "agent"]) -> Callable[[Body], Incoming]:
    def read(body: Body) -> Incoming:
        text = _text(body, "delta")
        if not text:
            return NoMeaning()
        start_ms, end_ms = _number(body, "start_ms"), _number(body, "end_ms")
        if start_ms is None or end_ms is None or end_ms < start_ms:
            return Transcript(side, text, None, None)
        return Transcript(side, text, start_ms, end_ms)

    return read


def _delegated(body: Body) -> Incoming:
    told = _object(body, "delegation")
    return Delegated(_text(told, "id"), _text(told, "target") or "client", _text(told, "response_id"))


def _backend(body: Body) -> Incoming:
    told, delegation_id = _object(body, "event"), _text(body, "delegation_id")
    reader = BACKEND_READERS.get(str(told.get("type")))
    return reader(delegation_id, told) if reader else BackendBusy(delegation_id)


def _backend_started(delegation_id: str | None, told: Body) -> Incoming:
    return BackendStarted(delegation_id, _text(_object(told, "response"), "id"))


def _backend_words(key: str) -> Callable[[str | None, Body], Incoming]:
    def read(delegation_id: str | None, told: Body) -> Incoming:
        text = _text(told, key) or ""
        return BackendWords(delegation_id, text) if text.strip() else BackendBusy(delegation_id)

    return read


def _backend_item(delegation_id: str | None, told: Body) -> Incoming:
    item = _object(told, "item")
    if item.get("type") == "function_call":
        return BackendCall(
            delegation_id,
            output_index=_count(told, "output_index"),
            item_id=_text(item, "id"),
            call_id=_text(item, "call_id"),
            name=_text(item, "name"),
            arguments=_text(item, "arguments"),
            status=_text(item, "status"),
        )
    content = item.get("content") if item.get("type") == "message" else None
    parts = content if isinstance(content, list) else []
    text = "".join(_text(part, "text") or "" for part in parts if isinstance(part, dict))
    return BackendWords(delegation_id, text) if text.strip() else BackendBusy(delegation_id)


def _backend_ended(status: str) -> Callable[[str | None, Body], Incoming]:
    def read(delegation_id: str | None, told: Body) -> Incoming:
        response = _object(told, "response")
        error = _object(response, "error")
        return BackendEnded(
            delegation_id,
            response_id=_text(response, "id"),
            status=status,
            reason=_text(_object(response, "incomplete_details"), "reason"),
            error_code=_text(error, "code"),
            error_message=_text(error, "message") or "",
            usage=_backend_usage(response.get("usage")),
        )

    return read


def _backend_usage(told: Json) -> Usage | None:
    if not isinstance(told, dict):
        return None
    return Usage(
        input_tokens=_count(told, "input_tokens"),
        output_tokens=_count(told, "output_tokens"),
        total_tokens=_count(told, "total_tokens"),
        input_cached_tokens=_count(_object(told, "input_tokens_details"), "cached_tokens"),
    )


def _usage(body: Body) -> Incoming:
    return LiveUsage(_number(_object(body, "usage"), "seconds"))


def _closed(body: Body) -> Incoming:
    return SessionClosed(_text(body, "reason") or "no reason", _number(_object(body, "usage"), "seconds"))


def _error(body: Body) -> Incoming:
    error = _object(body, "error") or body
    return Fault(
        code=_text(error, "code"),
        kind=_text(error, "type"),
        message=_text(error, "message") or "no message",
        param=_text(error, "param"),
        event_id=_text(error, "client_event_id") or _text(body, "client_event_id"),
    )


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
        id, None, "failed", None, _text(told, "code"), _text(told, "message") or "", None
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
