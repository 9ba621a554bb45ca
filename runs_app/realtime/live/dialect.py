"""GPT Live on the wire: the shapes that go out, and who reads those that come in."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal, NoReturn

from runs_app.realtime.dialects.base import Body, Fault, Incoming
from runs_app.realtime.dialects.realtime_session import format_told, wire_format
from runs_app.realtime.formats import PCM, UNTOLD, AudioFormat, Formats
from runs_app.realtime.live.reading import read_event

APPEND = '{"type":"session.input_audio.append","audio":"%s"}'
# Turns are the model's own business: like a server that detects them, it hears no end without the silence behind it.
ALWAYS_LISTENING: Body = {"type": "live"}


def live_format(form: AudioFormat) -> Body:
    """Live wants the rate of every format, also of those that have only one."""
    return {**(wire_format(form) or {}), "rate": form.rate_hz}


def _not_in_live(what: str) -> NoReturn:
    raise NotImplementedError(f"GPT Live has no {what}")


@dataclass(frozen=True)
class LiveDialect:
    """No commit, no cancel, no truncation and no message: asking for one of them is a mistake of ours."""

    name: str = "live"

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def default_session(self, mode: Literal["text", "audio"]) -> Body:
        return {"audio": {"format": live_format(PCM)}}

    def configured_session(
        self,
        *,
        instructions: str,
        voice: str | None,
        tools: list[Body],
        formats: Formats = UNTOLD,
        turn_detection: Body | None = None,
    ) -> Body:
        """One format serves both ways. Tools are the backend's, see settings.live_session."""
        audio: Body = {"format": live_format(formats.input)} if formats.input else {}
        audio |= {"output": {"voice": voice}} if voice else {}
        given = {"instructions": instructions, "audio": audio}
        return {key: value for key, value in given.items() if value}

    def session_update(self, session: Body, event_id: str) -> Body:
        """What opens the session: nothing but session.start may come first."""
        return {"type": "session.start", "event_id": event_id, "session": session}

    def close(self, event_id: str) -> Body:
        return {"type": "session.close", "event_id": event_id}

    def append(self, data: bytes) -> str:
        return APPEND % base64.b64encode(data).decode("ascii")

    def ask_for_response(self, event_id: str) -> Body:
        """Of the backend: it goes on when every call has its output."""
        return {"type": "response.create", "event_id": event_id}

    def tool_output(self, call_id: str, text: str) -> Body:
        item = {"type": "function_call_output", "call_id": call_id, "output": text}
        return {"type": "response.item.create", "item": item}

    def comment(
        self, kind: Literal["commentary", "thinking"], content: str, delegation_id: str | None, event_id: str
    ) -> Body:
        """Content of ours: commentary is said, thinking is not. At most 500 tokens."""
        told = {"content": content, "delegation_id": delegation_id}
        return {"type": f"session.{kind}.append", "event_id": event_id, **told}

    def message(self, role: Literal["user", "assistant"], text: str) -> Body:
        _not_in_live("message after the start")

    def commit(self) -> Body:
        _not_in_live("commit")

    def cancel(self, event_id: str) -> Body:
        _not_in_live("cancel")

    def truncate(self, item_id: str, *, content_index: int, audio_end_ms: int, event_id: str) -> Body:
        _not_in_live("truncation")

    def read(self, body: Body) -> Incoming:
        return read_event(body)

    def formats(self, session: Body) -> Formats:
        audio = session.get("audio")
        told = format_told(audio.get("format")) if isinstance(audio, dict) else None
        return Formats(told, told)

    def turn_detection(self, session: Body) -> Body | None:
        return ALWAYS_LISTENING

    def tools(self, session: Body) -> list[Body]:
        delegation = session.get("delegation") or {}
        return (delegation.get("responses") or {}).get("tools") or []

    def wants_transcript(self, session: Body) -> bool:
        """It always tells what it hears, and never that this was all: nobody waits for more."""
        return False

    def mismatch(self, fault: Fault, session: Body | None) -> str | None:
        return None
