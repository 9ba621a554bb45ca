"""The OpenAI Realtime protocol in its GA shape. Beta names of events are understood as well: gateways mix them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.dialects.base import Body, Fault, Incoming
from runs_app.realtime.dialects.realtime_reading import read_event
from runs_app.realtime.dialects.realtime_session import (
    formats_of,
    shape_of,
    turn_detection_of,
    whole_detection,
    wire_format,
    writes_down_the_caller,
)
from runs_app.realtime.formats import UNTOLD, Formats
from runs_app.realtime.record import RATE_HZ

PCM_FORMAT = {"type": "audio/pcm", "rate": RATE_HZ}
APPEND = '{"type":"input_audio_buffer.append","audio":"%s"}'

# What a server refuses that speaks the other dialect: exactly these, since anything below them may be a slip of ours.
ONLY_GA = frozenset({"session.type", "session.audio", "session.output_modalities"})
ONLY_BETA = frozenset(
    {
        *("session.modalities", "session.voice", "session.turn_detection", "session.temperature"),
        *("session.input_audio_format", "session.output_audio_format", "session.input_audio_transcription"),
    }
)


@dataclass(frozen=True)
class RealtimeDialect:
    """GA."""

    name: str = "ga"

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def default_session(self, mode: Literal["text", "audio"]) -> Body:
        if mode == "text":
            return {"type": "realtime", "output_modalities": ["text"]}
        audio = {
            "input": {"format": dict(PCM_FORMAT), "turn_detection": None},
            "output": {"format": dict(PCM_FORMAT)},
        }
        return {"type": "realtime", "output_modalities": ["audio"], "audio": audio}

    def configured_session(
        self,
        *,
        instructions: str,
        voice: str | None,
        tools: list[Body],
        formats: Formats = UNTOLD,
        turn_detection: Body | None = None,
    ) -> Body:
        session: Body = {}
        if instructions:
            session["instructions"] = instructions
        if audio := _audio(voice, formats, turn_detection):
            session["audio"] = audio
        if tools:
            session["tools"] = tools
        return session

    def session_update(self, session: Body, event_id: str) -> Body:
        return {"type": "session.update", "event_id": event_id, "session": session}

    def message(self, role: Literal["user", "assistant"], text: str) -> Body:
        return _message(role, "input_text" if role == "user" else "output_text", text)

    def append(self, data: bytes) -> str:
        return APPEND % base64.b64encode(data).decode("ascii")

    def commit(self) -> Body:
        return {"type": "input_audio_buffer.commit"}

    def ask_for_response(self, event_id: str) -> Body:
        return {"type": "response.create", "event_id": event_id}

    def cancel(self, event_id: str) -> Body:
        return {"type": "response.cancel", "event_id": event_id}

    def truncate(self, item_id: str, *, content_index: int, audio_end_ms: int, event_id: str) -> Body:
        where = {"item_id": item_id, "content_index": content_index, "audio_end_ms": audio_end_ms}
        return {"type": "conversation.item.truncate", "event_id": event_id, **where}

    def tool_output(self, call_id: str, text: str) -> Body:
        item = {"type": "function_call_output", "call_id": call_id, "output": text}
        return {"type": "conversation.item.create", "item": item}

    def read(self, body: Body) -> Incoming:
        return read_event(body)

    def formats(self, session: Body) -> Formats:
        return formats_of(session)

    def turn_detection(self, session: Body) -> Body | None:
        return turn_detection_of(session)

    def tools(self, session: Body) -> list[Body]:
        return session.get("tools") or []

    def wants_transcript(self, session: Body) -> bool:
        return writes_down_the_caller(session)

    def mismatch(self, fault: Fault, session: Body | None) -> str | None:
        spoken = _refused_by(fault) or (shape_of(session) if session else None)
        return spoken if spoken != self.name else None


@dataclass(frozen=True)
class BetaDialect(RealtimeDialect):
    """Beta, that OpenAI switched off in May 2026 and other people's servers still speak."""

    name: str = "beta"

    @property
    def headers(self) -> dict[str, str]:
        return {"OpenAI-Beta": "realtime=v1"}

    def default_session(self, mode: Literal["text", "audio"]) -> Body:
        if mode == "text":
            return {"modalities": ["text"]}
        formats = {"input_audio_format": "pcm16", "output_audio_format": "pcm16"}
        return {"modalities": ["audio", "text"], **formats, "turn_detection": None}

    def configured_session(
        self,
        *,
        instructions: str,
        voice: str | None,
        tools: list[Body],
        formats: Formats = UNTOLD,
        turn_detection: Body | None = None,
    ) -> Body:
        given: Body = {
            "instructions": instructions,
            "voice": voice,
            "input_audio_format": formats.input.coding if formats.input else None,
            "output_audio_format": formats.output.coding if formats.output else None,
            "turn_detection": whole_detection(turn_detection) if turn_detection else None,
            "tools": tools,
        }
        return {key: value for key, value in given.items() if value}

    def message(self, role: Literal["user", "assistant"], text: str) -> Body:
        return _message(role, "input_text" if role == "user" else "text", text)


def _audio(voice: str | None, formats: Formats, turn_detection: Body | None) -> Body:
    told: Body = {
        "format": wire_format(formats.input),
        "turn_detection": whole_detection(turn_detection) if turn_detection else None,
    }
    said: Body = {"format": wire_format(formats.output), "voice": voice}
    sides = {"input": told, "output": said}
    given = {side: {key: value for key, value in part.items() if value} for side, part in sides.items()}
    return {side: part for side, part in given.items() if part}


def _message(role: str, kind: str, text: str) -> Body:
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "conversation.item.create", "item": item}


def _refused_by(fault: Fault) -> str | None:
    """The dialect of a server that asks for what only GA has, or does not know what one of the two has."""
    if fault.code == "missing_required_parameter":
        return "ga" if fault.param == "session.type" else None
    if fault.code != "unknown_parameter":
        return None
    if fault.param in ONLY_GA:
        return "beta"
    return "ga" if fault.param in ONLY_BETA else None
