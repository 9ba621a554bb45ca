"""A client of the simulator's Live endpoint that holds every frame against the openai package's types."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from openai import BaseModel
from openai.types.live.connect_server_event import ConnectServerEvent
from openai.types.responses import ResponseStreamEvent
from websockets.asyncio.client import connect

from tests.simulator.wire_client import Event, Json, Simulator, Wire, check_shape, headers_of, shapes_of

SHAPES = shapes_of(ConnectServerEvent)
NESTED = shapes_of(ResponseStreamEvent)
STEP_MS = 100


@dataclass
class LiveWire(Wire):
    """One session; what is nested in its events is held against the types too."""

    APPEND: ClassVar[str] = "session.input_audio.append"
    SOUND: ClassVar[str] = "session.output_audio.delta"

    strict: bool = True
    shapes: dict[str, type[BaseModel]] = field(default_factory=lambda: SHAPES)

    async def receive(self) -> Event:
        event = await super().receive()
        if event["type"] == "response.event":
            check_shape(event["event"], NESTED)
        return event

    async def until_nested(self, type: str) -> Event:
        while (await self.until("response.event"))["event"]["type"] != type:
            pass
        event: Event = self.events[-1]["event"]
        return event

    async def refused(self) -> Json:
        """The next error, whatever else is told before it."""
        return (await self.until("error"))["error"]

    async def start(self, **session: Json) -> Event:
        await self.send("session.start", event_id="mine_1", session={"model": "gpt-live-1"} | session)
        return await self.until("session.started")

    @asynccontextmanager
    async def silence(self, speed: float = 12.0) -> AsyncIterator[None]:
        """A line that goes on, `speed` times faster than real time."""

        async def pump() -> None:
            while True:
                await self.append(np.zeros(STEP_MS * 24, np.int16))
                await asyncio.sleep(STEP_MS / 1000 / speed)

        task = asyncio.create_task(pump())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def says(self, ending: str) -> str:
        """What the agent says from now until words that end so."""
        words = ""
        while not words.endswith(ending):
            words += (await self.until("session.output_transcript.delta"))["delta"]
        return words

    async def has_said(self, words: str) -> str:
        """All that the agent has said, as soon as `words` are among it."""
        while words not in self.said():
            await self.receive()
        return self.said()

    async def call(self) -> Json:
        """The first function call that is whole, whether it came already or will come."""
        while True:
            items = [event["item"] for event in self.nested("response.output_item.done")]
            if calls := [item for item in items if item["type"] == "function_call"]:
                return calls[0]
            await self.receive()

    def said(self) -> str:
        return self.joined("session.output_transcript.delta")

    def nested(self, type: str) -> list[Event]:
        return [one["event"] for one in self.all("response.event") if one["event"]["type"] == type]


@asynccontextmanager
async def live(simulator: Simulator, *, path: str = "/v1/live/sessions", **options: Json) -> AsyncIterator[LiveWire]:
    headers = headers_of({"latency_ms": 200, "jitter_ms": 0} | options)
    async with connect(f"{simulator.ws}{path}", additional_headers=headers, max_size=None, proxy=None) as socket:
        yield LiveWire(socket)
