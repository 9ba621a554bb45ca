"""The OpenAI Realtime protocol in its GA shape. Beta names of events are understood as well: gateways mix them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.dialects.base import Body, Fault, Incoming
from runs_app.realtime.dialects.realtime_reading import GA_KEYS, read_event, shape_of
from runs_app.realtime.record import RATE_HZ

PCM_FORMAT = {"type": "audio/pcm", "rate": RATE_HZ}
APPEND = '{"type":"input_audio_buffer.append","audio":"%s"}'


@dataclass(frozen=True)
class RealtimeDialect:
    """GA. Text and audio mode, turns ended by the caller (turn detection off)."""

    name: str = "ga"

    def default_session(self, mode: Literal["text", "audio"]) -> Body:
        if mode == "text":
            return {"type": "realtime", "output_modalities": ["text"]}
        audio = {
            "input": {"format": dict(PCM_FORMAT), "turn_detection": None},
            "output": {"format": dict(PCM_FORMAT)},
        }
        return {"type": "realtime", "output_modalities": ["audio"], "audio": audio}

    def configured_session(self, *, instructions: str, voice: str | None, tools: list[Body]) -> Body:
        session: Body = {}
        if instructions:
            session["instructions"] = instructions
        if voice:
            session["audio"] = {"output": {"voice": voice}}
        if tools:
            session["tools"] = tools
        return session

    def session_update(self, session: Body, event_id: str) -> Body:
        return {"type": "session.update", "event_id": event_id, "session": session}

    def message(self, role: Literal["user", "assistant"], text: str) -> Body:
        kind = "input_text" if role == "user" else "output_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"type": "conversation.item.create", "item": item}

    def append(self, pcm: bytes) -> str:
        return APPEND % base64.b64encode(pcm).decode("ascii")

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

    def audio_problem(self, session: Body, mode: Literal["text", "audio"]) -> str | None:
        audio = session.get("audio")
        if mode == "text" or not isinstance(audio, dict):
            return None
        for side in ("input", "output"):
            settings = audio.get(side)
            told = settings.get("format") if isinstance(settings, dict) else None
            if isinstance(told, dict) and {**PCM_FORMAT, **told} != PCM_FORMAT:
                return f"{side} is {told.get('type')} at {told.get('rate', 'an unknown')} Hz, not PCM16 at {RATE_HZ} Hz"
        return None

    def mismatch(self, fault: Fault, session: Body | None) -> str | None:
        shape = shape_of(session) if session else None
        if shape is None and fault.code == "unknown_parameter":
            refused = (fault.param or "").removeprefix("session.").split(".")[0]
            shape = "beta" if refused in GA_KEYS | {"type"} else None
        return shape if shape and shape != self.name else None
