"""One realtime session: client events in, server events out. It knows nothing of sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine

import numpy as np

from runs_app.simulator.audio_buffer import AudioBuffer
from runs_app.simulator.clerk import Decision, decide
from runs_app.simulator.config import first_session, updated_session
from runs_app.simulator.conversation import Conversation
from runs_app.simulator.ear import Ear
from runs_app.simulator.items import Samples, read_item
from runs_app.simulator.lines import lines_of
from runs_app.simulator.options import Options
from runs_app.simulator.order import Order, read_order
from runs_app.simulator.response import SESSION_EXPIRED, Response
from runs_app.simulator.shapes import (
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
from runs_app.simulator.usage import Tokens, item_tokens, prompt_tokens
from runs_app.simulator.voices import AGENT, Voices, known_voice
from runs_app.simulator.wire import Json, Refusal, error_event, new_id

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int, str], Awaitable[None]]


class Session:
    """`open()`, then `receive(text)` per frame, in order. Its tasks live in `group`; `end()` cancels them."""

    def __init__(
        self, *, options: Options, ear: Ear, voices: Voices, group: asyncio.TaskGroup, send: Send, close: Close
    ) -> None:
        self.options = options
        self.conversation = Conversation()
        self.config = first_session(options.model, options.expires_s)
        self._ear, self._voices, self._group = ear, voices, group
        self._send, self._close = send, close
        self._buffer = AudioBuffer()
        self._heard: dict[str, asyncio.Task[str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: dict[str, Response] = {}
        self._responses = 0
        self._read_before = Tokens()
        self._quiet = asyncio.Event()  # set while no response is under way
        self._quiet.set()
        self._open = True

    async def open(self) -> None:
        self._start(self._expire())
        if "silent_start" not in self.options.faults:
            await self.emit({"type": "session.created", "session": self.config})

    async def receive(self, text: str) -> None:
        """One frame of the client; what cannot be done becomes an error event."""
        event_id = None
        try:
            raw = _read_json(text)
            if isinstance(raw, dict) and isinstance(raw.get("event_id"), str):
                event_id = raw["event_id"]
            event = read_event(raw)
            await _HANDLERS[event.type](self, event)
        except Refusal as refusal:
            await self.emit(refusal.event(event_id))

    def end(self) -> None:
        """The socket is gone: nothing is sent any more, and what is under way stops."""
        self._open = False
        for task in (*self._tasks, *self._heard.values()):
            task.cancel()

    # What a response needs of its session (response.Stage).

    async def emit(self, event: dict[str, Json]) -> None:
        await self.emit_raw(json.dumps({"event_id": new_id("event"), **event}, ensure_ascii=False))

    async def emit_raw(self, text: str) -> None:
        if self._open:
            await self._send(text)

    async def hang_up(self, code: int, reason: str) -> None:
        if self._open:
            self._open = False
            await self._close(code, reason)

    async def decide(self, order: Order) -> Decision:
        items = self.conversation.items if order.items is None else order.items
        heard = {item["id"]: await self._heard[item["id"]] for item in list(items) if item["id"] in self._heard}
        # In a thread: reading takes milliseconds, and other sessions are speaking meanwhile.
        return await asyncio.to_thread(
            decide,
            instructions=order.instructions,
            tools=order.tools,
            tool_choice=order.tool_choice,
            lines=lines_of(items, heard),
            forgetful=self.options.slips(),
            all_at_once="parallel_calls" in self.options.faults,
        )

    async def speak(self, text: str, order: Order) -> Samples:
        try:
            return await self._voices.speak(text, known_voice(order.voice, AGENT), speed=order.speed)
        except ValueError:  # a result of signs alone: nothing to say aloud
            return np.zeros(24 * 200, np.int16)

    def weigh(self, order: Order) -> tuple[Tokens, Tokens]:
        """The tokens that a response reads, and how many of them the response before had read already."""
        items = self.conversation.items if order.items is None else order.items
        asked = prompt_tokens(order.instructions, order.tools)
        for item in items:
            asked += item_tokens(item, self.conversation.audio.get(item["id"]))
        cached = asked.no_more_than(self._read_before)
        self._read_before = asked
        return asked, cached

    # Client events.

    async def _update_session(self, event: SessionUpdate) -> None:
        locked = any(
            part["type"] == "output_audio" for item in self.conversation.items for part in item.get("content", ())
        )
        self.config = updated_session(self.config, event.session, voice_locked=locked)
        if "no_session_updated" in self.options.faults:
            return
        if "delay_session_updated" in self.options.faults:
            self._start(self._say_updated_late(self.config))
        else:
            await self.emit({"type": "session.updated", "session": self.config})

    async def _say_updated_late(self, session: dict[str, Json]) -> None:
        await asyncio.sleep(self.options.fault_delay_ms / 1000)
        await self.emit({"type": "session.updated", "session": session})

    async def _append(self, event: BufferAppend) -> None:
        if self.config["audio"]["input"]["turn_detection"] is not None:
            message = (
                "This simulator does not detect turns by itself yet: "
                "set session.audio.input.turn_detection to null, commit the audio and ask for a response."
            )
            raise Refusal("invalid_value", message, param="session.audio.input.turn_detection")
        self._buffer.append(event.audio)

    async def _commit(self, event: ClientEvent) -> None:
        samples = self._buffer.commit()
        item: dict[str, Json] = {"id": new_id("item"), "object": "realtime.item", "type": "message", "role": "user"}
        item |= {"status": "completed", "content": [{"type": "input_audio", "transcript": None}]}
        before = self.conversation.insert(item)
        await self.emit({"type": "input_audio_buffer.committed", "item_id": item["id"], "previous_item_id": before})
        await self._mirror(item, before)
        self._listen(item, samples)

    async def _clear(self, event: ClientEvent) -> None:
        self._buffer.clear()
        await self.emit({"type": "input_audio_buffer.cleared"})

    async def _create_item(self, event: ItemCreate) -> None:
        item, samples = read_item(event.item)
        before = self.conversation.insert(item, event.previous_item_id)
        await self._mirror(item, before)
        if samples is not None:
            self._listen(item, samples)

    async def _retrieve_item(self, event: ItemById) -> None:
        await self.emit({"type": "conversation.item.retrieved", "item": self.conversation.retrieve(event.item_id)})

    async def _truncate_item(self, event: ItemTruncate) -> None:
        self.conversation.truncate(event.item_id, event.content_index, event.audio_end_ms)
        place = event.model_dump(exclude={"event_id", "type"})
        await self.emit({"type": "conversation.item.truncated", **place})

    async def _delete_item(self, event: ItemById) -> None:
        self.conversation.delete(event.item_id)
        await self.emit({"type": "conversation.item.deleted", "item_id": event.item_id})

    async def _create_response(self, event: ResponseCreate) -> None:
        params = event.response or ResponseParams()
        order = read_order(params, self.config, None if params.input is None else self._input_items(params.input))
        active = next((one.id for one in self._running.values() if one.order.in_conversation), None)
        if active and order.in_conversation:
            message = (
                f"Conversation already has an active response in progress: {active}. "
                "Wait until the response is finished before creating a new one."
            )
            raise Refusal("conversation_already_has_active_response", message)
        response = Response(stage=self, order=order, number=self._responses)
        self._responses += 1
        self._running[response.id] = response
        self._quiet.clear()
        await response.begin()
        self._start(self._run(response))

    async def _cancel_response(self, event: ResponseCancel) -> None:
        found = [one for one in self._running.values() if event.response_id in (one.id, None)]
        if not found:
            raise Refusal("response_cancel_not_active", "Cancellation failed: no active response found")
        found[0].cancel()

    # What goes on beside the client's events.

    async def _run(self, response: Response) -> None:
        await response.run()
        del self._running[response.id]
        if not self._running:
            self._quiet.set()

    async def _expire(self) -> None:
        await asyncio.sleep(self.options.expires_s)
        await self.emit(error_event("session_expired", SESSION_EXPIRED))
        await self.hang_up(1001, SESSION_EXPIRED)

    async def _mirror(self, item: dict[str, Json], before: str | None) -> None:
        for name in ("added", "done"):
            await self.emit({"type": f"conversation.item.{name}", "previous_item_id": before, "item": item})

    def _listen(self, item: dict[str, Json], samples: Samples) -> None:
        self.conversation.audio[item["id"]] = samples
        self._heard[item["id"]] = self._group.create_task(self._hear(samples))
        if self.config["audio"]["input"]["transcription"] is not None:
            self._start(self._transcribe(item, samples))

    async def _hear(self, samples: Samples) -> str | None:
        return (await self._ear.listen(samples)).text

    async def _transcribe(self, item: dict[str, Json], samples: Samples) -> None:
        text = await self._heard[item["id"]]
        item["content"][0]["transcript"] = text
        if "late_transcript" in self.options.faults:
            await asyncio.sleep(0.05)  # until the response has begun
            await self._quiet.wait()
        place = {"item_id": item["id"], "content_index": 0}
        kind = "conversation.item.input_audio_transcription"
        if text is None:
            error = {"type": "transcription_error", "code": "audio_unintelligible", "param": None}
            error["message"] = "The audio could not be understood."
            await self.emit({"type": f"{kind}.failed", **place, "error": error})
            return
        await self.emit({"type": f"{kind}.delta", **place, "delta": text})
        usage = {"type": "duration", "seconds": round(len(samples) / 24_000, 3)}
        await self.emit({"type": f"{kind}.completed", **place, "transcript": text, "usage": usage})

    def _input_items(self, raws: list[dict[str, Json]]) -> list[dict[str, Json]]:
        items = []
        for number, raw in enumerate(raws):
            if raw.get("type") == "item_reference":
                items.append(self.conversation.find(str(raw.get("id")), "retrieve"))
                continue
            item, samples = read_item(raw, f"response.input[{number}]")
            if samples is not None:
                self._listen(item, samples)
            items.append(item)
        return items

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _read_json(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refusal("invalid_json", f"The frame is not JSON: {error}.") from error


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
