"""One realtime session: client events in, server events out. It knows nothing of sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from runs_app.simulator.answering import Answering
from runs_app.simulator.config import updated_session
from runs_app.simulator.desk import Desk
from runs_app.simulator.dialects import Dialect
from runs_app.simulator.ear import Ear
from runs_app.simulator.hearing import Hearing
from runs_app.simulator.items import read_item
from runs_app.simulator.microphone import Microphone
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.response import SESSION_EXPIRED
from runs_app.simulator.shapes import (
    EVENTS,
    BufferAppend,
    ClientEvent,
    ItemById,
    ItemCreate,
    ItemTruncate,
    ResponseCancel,
    ResponseCreate,
    ResponseParams,
    SessionUpdate,
    read_event,
)
from runs_app.simulator.voices import Voices
from runs_app.simulator.wire import Json, Refusal, error_event, read_json

_MISCOUNTED_MS = 85


class Session:
    """`open()`, then `receive(text)` per frame, in order; `end()` when the socket is gone."""

    def __init__(self, *, options: Options, dialect: Dialect, ear: Ear, voices: Voices, outlet: Outlet) -> None:
        self._desk = Desk(options=options, dialect=dialect, outlet=outlet)
        self._hearing = Hearing(self._desk, ear)
        self._answering = Answering(self._desk, self._hearing, voices)
        self._microphone = Microphone(self._desk, self._hearing, self._answering)

    async def open(self) -> None:
        self._desk.start(self._expire())
        if "silent_start" not in self._desk.options.faults:
            await self._desk.emit({"type": "session.created", "session": self._desk.config})
        if "conversation_created" in self._desk.options.faults:
            conversation = {"id": self._desk.conversation.id, "object": "realtime.conversation"}
            await self._desk.emit({"type": "conversation.created", "conversation": conversation})

    async def receive(self, text: str) -> None:
        """One frame of the client; what cannot be done becomes an error event."""
        event_id = None
        try:
            raw = read_json(text)
            if isinstance(raw, dict) and isinstance(raw.get("event_id"), str):
                event_id = raw["event_id"]
            await self._do(self._desk.dialect.incoming(raw))
        except Refusal as refusal:
            await self._desk.emit(refusal.event(event_id))

    async def _do(self, raw: Json) -> None:
        try:
            event = read_event(raw, EVENTS)
            await _HANDLERS[event.type](self, event)
        except Refusal as refusal:
            raise self._desk.dialect.refusal(refusal) from refusal

    def end(self) -> None:
        """The socket is gone: nothing is sent any more, and what is under way stops."""
        self._desk.end()

    async def _update_session(self, event: SessionUpdate) -> None:
        desk = self._desk
        locked = any(
            part["type"] == "output_audio" for item in desk.conversation.items for part in item.get("content", ())
        )
        desk.config = updated_session(desk.config, event.session, voice_locked=locked)
        if "no_session_updated" in desk.options.faults:
            return
        if "delay_session_updated" in desk.options.faults:
            desk.start(self._say_updated_late(desk.config))
        else:
            await desk.emit({"type": "session.updated", "session": desk.config})

    async def _say_updated_late(self, session: dict[str, Json]) -> None:
        await asyncio.sleep(self._desk.options.fault_delay_ms / 1000)
        await self._desk.emit({"type": "session.updated", "session": session})

    async def _append(self, event: BufferAppend) -> None:
        await self._microphone.append(event.audio)

    async def _commit(self, event: ClientEvent) -> None:
        await self._microphone.commit()

    async def _clear(self, event: ClientEvent) -> None:
        await self._microphone.clear()

    async def _create_item(self, event: ItemCreate) -> None:
        item, samples = read_item(event.item, self._desk.input_format)
        before = self._desk.conversation.insert(item, event.previous_item_id)
        await self._desk.mirror(item, before)
        if samples is not None:
            self._hearing.listen(item, samples)
        if item["type"] == "function_call_output" and "unasked_response" in self._desk.options.faults:
            await self._answering.create(ResponseParams())

    async def _retrieve_item(self, event: ItemById) -> None:
        desk = self._desk
        item = desk.conversation.retrieve(event.item_id, heard=desk.input_format, spoken=desk.output_format)
        await self._desk.emit({"type": "conversation.item.retrieved", "item": item})

    async def _truncate_item(self, event: ItemTruncate) -> None:
        miscounted_ms = _MISCOUNTED_MS if "short_audio_count" in self._desk.options.faults else 0
        place = (event.item_id, event.content_index, event.audio_end_ms)
        self._desk.conversation.truncate(*place, miscounted_ms=miscounted_ms)
        told = event.model_dump(exclude={"event_id", "type"})
        await self._desk.emit({"type": "conversation.item.truncated", **told})

    async def _delete_item(self, event: ItemById) -> None:
        self._desk.conversation.delete(event.item_id)
        await self._desk.emit({"type": "conversation.item.deleted", "item_id": event.item_id})

    async def _create_response(self, event: ResponseCreate) -> None:
        await self._answering.create(event.response or ResponseParams())

    async def _cancel_response(self, event: ResponseCancel) -> None:
        self._answering.cancel(event.response_id)

    async def _expire(self) -> None:
        await asyncio.sleep(self._desk.options.expires_s)
        await self._desk.emit(error_event("session_expired", SESSION_EXPIRED))
        await self._desk.hang_up(1001, SESSION_EXPIRED)


_HANDLERS: dict[str, Callable[..., Awaitable[None]]] = {
    "session.update": Session._update_session,
    "input_audio_buffer.append": Session._append,
    "input_audio_buffer.commit": Session._commit,
    "input_audio_buffer.clear": Session._clear,
    "conversation.item.create": Session._create_item,
    "conversation.item.retrieve": Session._retrieve_item,
    "conversation.item.truncate": Session._truncate_item,
    "conversation.item.delete": Session._delete_item,
    "response.create": Session._create_response,
    "response.cancel": Session._cancel_response,
}
