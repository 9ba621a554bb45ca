"""One Live session: `session.start` first, then audio both ways at once, and work that is delegated meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from runs_app.simulator.ear import Ear
from runs_app.simulator.formats import FORMATS, PCM, Format
from runs_app.simulator.items import read_base64
from runs_app.simulator.live_agent import LiveAgent
from runs_app.simulator.live_shapes import (
    EVENTS,
    Append,
    BackendMessage,
    Comment,
    ItemCreate,
    Start,
    Update,
)
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.shapes import ClientEvent, read_event
from runs_app.simulator.voices import Voices
from runs_app.simulator.wire import Json, Refusal, new_id, read_json

USAGE_EVERY_S = 60
DEFAULT_FORMAT = {"type": "audio/pcm", "rate": 24000}
DEFAULT_VOICE = "marin"


class LiveSession:
    """`open()`, then `receive(text)` per frame, in order; `end()` when the socket is gone."""

    def __init__(self, *, options: Options, ear: Ear, voices: Voices, outlet: Outlet) -> None:
        self.options = options
        self._ear, self._voices, self._outlet = ear, voices, outlet
        self._agent: LiveAgent | None = None
        self._resource: dict[str, Json] = {}
        self._began_s = 0.0
        self._muted = False

    async def open(self) -> None:
        """A Live server waits for session.start: it says nothing first."""

    async def receive(self, text: str) -> None:
        event_id = None
        try:
            raw = read_json(text)
            event_id = raw.get("event_id") if isinstance(raw, dict) else None
            event = read_event(raw, EVENTS)
            if self._agent is None and not isinstance(event, Start):
                raise Refusal("session_not_started", "Send session.start first.", param="type")
            await _HANDLERS[event.type](self, event)
        except Refusal as refusal:
            await self._refuse(refusal, event_id if isinstance(event_id, str) else None)

    def end(self) -> None:
        self._outlet.end()

    async def emit(self, event: dict[str, Json]) -> None:
        given = {} if event["type"] == "session.output_audio.delta" else {"event_id": new_id("event")}
        await self._outlet.emit_raw(json.dumps({**given, **event}, ensure_ascii=False))

    @property
    def agent(self) -> LiveAgent:
        assert self._agent is not None
        return self._agent

    async def _start(self, event: Start) -> None:
        if self._agent is not None:
            raise Refusal("session_already_started", "The session has started already.", param="type")
        asked = event.session.model_dump(exclude_unset=True)
        self._resource = _resource(asked, self.options)
        self._began_s = time.monotonic()
        if "silent_start" not in self.options.faults:
            await self._acknowledge("session.started", event, session=self._resource)
        self._agent = LiveAgent(
            options=self.options,
            session=self._resource,
            form=_format(self._resource["audio"]["format"]),
            ear=self._ear,
            voices=self._voices,
            outlet=self._outlet,
            emit=self.emit,
        )
        self._outlet.start(self._tell_usage())
        self._outlet.start(self._expire())

    async def _update(self, event: Update) -> None:
        given = event.session.model_dump(exclude_unset=True).get("delegation")
        if given is not None:
            current = self._resource["delegation"]
            if given["type"] != current["type"]:
                message = f"The session delegates to {current['type']}, and that cannot be changed."
                raise Refusal("invalid_value", message, param="session.delegation.type")
            patch = {name: value for name, value in (given.get("responses") or {}).items() if value is not None}
            changed = current.get("responses", {}) | patch
            self._resource["delegation"] = current | given | ({"responses": changed} if changed else {})
        await self._acknowledge("session.updated", event, session=self._resource)

    async def _append(self, event: Append) -> None:
        data = read_base64(event.audio, "audio")
        form = _format(self._resource["audio"]["format"])
        if len(data) % form.bytes_per_sample:
            raise Refusal("invalid_audio", "The audio ends in the middle of a sample.", param="audio")
        samples = form.read(data)
        await self.agent.hear(samples * 0 if self._muted else samples)

    async def _mute(self, event: ClientEvent) -> None:
        self._muted = event.type.endswith(".mute")
        await self._acknowledge(f"session.input_audio.{'muted' if self._muted else 'unmuted'}", event)

    async def _comment(self, event: Comment) -> None:
        kind = event.type.split(".")[1]
        if event.delegation_id is not None and not self.agent.knows(event.delegation_id):
            message = f"There is no client delegation '{event.delegation_id}'."
            raise Refusal("invalid_value", message, param="delegation_id")
        at_ms = int(self.agent.clock.now_ms)
        await self._acknowledge(f"session.{kind}.appended", event, start_ms=at_ms, end_ms=at_ms + 1)
        self.agent.comment(kind, event.content, event.delegation_id)

    async def _create_item(self, event: ItemCreate) -> None:
        self._require_backend()
        if isinstance(event.item, BackendMessage):
            self.agent.note(event.item.role, event.item.content)
        else:
            self.agent.answer_call(event.item.call_id, event.item.output)

    async def _create_response(self, event: ClientEvent) -> None:
        self._require_backend()
        self.agent.continue_work()

    async def _close(self, event: ClientEvent) -> None:
        await self._say_closed("close_requested", event.event_id)
        await self._outlet.hang_up(1000, "")

    def _require_backend(self) -> None:
        if self._resource["delegation"]["type"] != "responses":
            message = "Only a session that delegates to responses has a backend to send this to."
            raise Refusal("invalid_value", message, param="type")

    async def _acknowledge(self, type: str, event: ClientEvent, **fields: Json) -> None:
        echo = {"client_event_id": event.event_id} if event.event_id else {}
        await self.emit({"type": type, **fields, **echo})

    async def _refuse(self, refusal: Refusal, event_id: str | None) -> None:
        echo = {"client_event_id": event_id} if event_id else {}
        error = {"type": refusal.type, "code": refusal.code, "message": refusal.message, "param": refusal.param}
        await self.emit({"type": "error", "error": error | echo, **echo})

    async def _say_closed(self, reason: str, event_id: str | None = None) -> None:
        if "no_session_closed" in self.options.faults:
            return
        echo = {"client_event_id": event_id} if event_id else {}
        event = {"type": "session.closed", "reason": reason, "session": self._resource, "usage": self._usage()}
        await self.emit(event | echo)

    async def _tell_usage(self) -> None:
        while True:
            await asyncio.sleep(USAGE_EVERY_S)
            await self.emit({"type": "session.usage.updated", "usage": self._usage()})

    async def _expire(self) -> None:
        await asyncio.sleep(self.options.expires_s)
        await self._say_closed("expired")
        await self._outlet.hang_up(1000, "")

    def _usage(self) -> dict[str, Json]:
        return {"seconds": round(time.monotonic() - self._began_s, 3)}


def _resource(asked: dict[str, Json], options: Options) -> dict[str, Json]:
    audio = asked.get("audio") or {}
    output = audio.get("output") or {}
    return {
        "id": new_id("live"),
        "model": asked["model"],
        "status": "active",
        "expires_at": int(time.time() + options.expires_s),
        "instructions": asked.get("instructions") or "",
        "input": asked.get("input") or [],
        "audio": {
            "format": audio.get("format") or dict(DEFAULT_FORMAT),
            "output": {"voice": output.get("voice") or DEFAULT_VOICE},
        },
        "delegation": asked.get("delegation") or {"type": "client"},
    }


def _format(settings: dict[str, Json]) -> Format:
    known = FORMATS[settings["type"]]
    return Format(known.name, settings["rate"], known.bytes_per_sample, known.subtype) if known == PCM else known


_HANDLERS: dict[str, Callable[..., Awaitable[None]]] = {
    "session.start": LiveSession._start,
    "session.update": LiveSession._update,
    "session.input_audio.append": LiveSession._append,
    "session.input_audio.mute": LiveSession._mute,
    "session.input_audio.unmute": LiveSession._mute,
    "session.instructions.append": LiveSession._comment,
    "session.thinking.append": LiveSession._comment,
    "session.commentary.append": LiveSession._comment,
    "response.item.create": LiveSession._create_item,
    "response.create": LiveSession._create_response,
    "session.close": LiveSession._close,
}
