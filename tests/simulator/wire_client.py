"""A plain client of the simulator that holds every frame against the openai package's types."""

from __future__ import annotations

import asyncio
import base64
import json
import typing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from openai import AsyncOpenAI, BaseModel
from openai.types.beta.realtime import RealtimeServerEvent as BetaServerEvent
from openai.types.realtime import RealtimeServerEvent
from websockets.asyncio.client import ClientConnection, connect

Json = Any
Event = dict[str, Json]

PATIENCE_S = 20

# What captures of the real service have, though the package's types lack it.
UNTYPED = {
    "session": {"id", "object", "expires_at"},
    "input_token_details": {"image_tokens", "cached_tokens_details"},  # of the beta
}


def shapes_of(events: Any) -> dict[str, type[BaseModel]]:
    union = typing.get_args(events)[0]
    return {typing.get_args(shape.model_fields["type"].annotation)[0]: shape for shape in typing.get_args(union)}


SHAPES = shapes_of(RealtimeServerEvent)
BETA_SHAPES = shapes_of(BetaServerEvent)


def check_shape(event: Event, shapes: dict[str, type[BaseModel]] = SHAPES) -> None:
    """Fails unless `event` is exactly what the openai package knows: no key missing, none too many."""
    shape = shapes[event["type"]]
    read = shape.model_validate(event, strict=True)
    unknown = sorted(_unknown_keys(read))
    assert not unknown, f"{event['type']} has keys that nobody knows: {unknown}"


def _unknown_keys(value: object, path: str = "") -> typing.Iterator[str]:
    if isinstance(value, BaseModel):
        known = UNTYPED.get(path.rpartition(".")[2], set())
        yield from (f"{path}.{name}" for name in (value.model_extra or {}) if name not in known)
        for name in type(value).model_fields:
            yield from _unknown_keys(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from _unknown_keys(one, path)


@dataclass
class Wire:
    """One session. `events` are all frames received so far."""

    APPEND: ClassVar[str] = "input_audio_buffer.append"
    SOUND: ClassVar[str] = "response.output_audio.delta"

    socket: ClientConnection
    strict: bool
    shapes: dict[str, type[BaseModel]] = field(default_factory=lambda: SHAPES)
    events: list[Event] = field(default_factory=list)

    async def send(self, type: str, **fields: Json) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))

    async def receive(self) -> Event:
        async with asyncio.timeout(PATIENCE_S):
            event: Event = json.loads(await self.socket.recv())
        if self.strict:
            check_shape(event, self.shapes)
        self.events.append(event)
        return event

    async def until(self, type: str) -> Event:
        """The next event of a type; those before it are in `events`."""
        while (event := await self.receive())["type"] != type:
            pass
        return event

    async def refused(self) -> Json:
        """The `error` of the next event, which must be one."""
        event = await self.receive()
        assert event["type"] == "error", event
        return event["error"]

    async def setup(self, **session: Json) -> Event:
        """Text and no turn detection, unless `session` says otherwise."""
        if not self.events:
            await self.until("session.created")
        audio = session.pop("audio", {})
        audio = audio | {"input": {"turn_detection": None} | audio.get("input", {})}
        update = {"type": "realtime", "output_modalities": ["text"], "audio": audio} | session
        await self.send("session.update", session=update)
        return await self.until("session.updated")

    async def say(self, text: str, **response: Json) -> Event:
        """A written turn and its response.done."""
        content = [{"type": "input_text", "text": text}]
        await self.send("conversation.item.create", item={"type": "message", "role": "user", "content": content})
        return await self.ask(**response)

    async def ask(self, **response: Json) -> Event:
        await self.send("response.create", **({"response": response} if response else {}))
        return await self.until("response.done")

    async def answer(self, call_id: str, output: Json) -> Event:
        item = {"type": "function_call_output", "call_id": call_id, "output": json.dumps(output)}
        await self.send("conversation.item.create", item=item)
        return await self.ask()

    async def append(self, samples: npt.NDArray[np.int16]) -> None:
        for start in range(0, len(samples), 2_400):
            piece = samples[start : start + 2_400].astype("<i2").tobytes()
            await self.send(self.APPEND, audio=base64.b64encode(piece).decode())

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def all(self, type: str) -> list[Event]:
        return [event for event in self.events if event["type"] == type]

    def joined(self, type: str) -> str:
        return "".join(event["delta"] for event in self.all(type))

    def sound(self) -> bytes:
        return b"".join(base64.b64decode(event["delta"]) for event in self.all(self.SOUND))


def headers_of(options: dict[str, Json]) -> dict[str, str]:
    """What asks the simulator for `options` in a handshake."""
    return {f"x-sim-{name.replace('_', '-')}": str(value) for name, value in options.items()}


@dataclass(frozen=True)
class Simulator:
    """Where the simulator is."""

    place: str

    @property
    def http(self) -> str:
        return f"http://{self.place}"

    @property
    def ws(self) -> str:
        return f"ws://{self.place}"

    @asynccontextmanager
    async def session(self, *, strict: bool = True, query: str = "", **options: Json) -> AsyncIterator[Wire]:
        """A session that thinks no longer than `options` ask for, such as latency_ms=60 or fault="close_1011"."""
        headers = headers_of({"latency_ms": 0, "jitter_ms": 0, "audio_speed": 100} | options)
        url = f"{self.ws}/v1/realtime?model=sim-clerk{query}"
        async with connect(url, additional_headers=headers, max_size=None, proxy=None) as socket:
            yield Wire(socket, strict)

    @asynccontextmanager
    async def beta_session(self, **options: Json) -> AsyncIterator[Wire]:
        """A session in the beta dialect, held against the beta types of the package."""
        headers = headers_of({"latency_ms": 0, "jitter_ms": 0, "audio_speed": 100} | options)
        headers["OpenAI-Beta"] = "realtime=v1"
        url = f"{self.ws}/v1/realtime?model=gpt-4o-realtime-preview"
        async with connect(url, additional_headers=headers, max_size=None, proxy=None) as socket:
            yield Wire(socket, strict=True, shapes=BETA_SHAPES)


async def spoken(simulator: Simulator, text: str) -> npt.NDArray[np.int16]:
    """`text` as int16 mono at 24 kHz from the simulator's own speech endpoint."""
    async with AsyncOpenAI(base_url=f"{simulator.http}/v1", api_key="none") as client:
        answer = await client.audio.speech.create(model="sim-tts", voice="caller", input=text, response_format="pcm")
        return np.frombuffer(answer.content, "<i2")
