"""A client of the simulator's Live endpoint that holds every frame against the openai package's types."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from openai.types.live.connect_server_event import ConnectServerEvent
from openai.types.responses import ResponseStreamEvent
from websockets.asyncio.client import ClientConnection, connect

from tests.simulator.wire_client import PATIENCE_S, Event, Json, Simulator, _shapes, check_shape

Samples = npt.NDArray[np.int16]
SHAPES = _shapes(ConnectServerEvent)
NESTED = _shapes(ResponseStreamEvent)
STEP_MS = 100


@dataclass
class LiveWire:
    """One session. `events` are all frames received so far."""

    socket: ClientConnection
    rate_hz: int = 24_000
    events: list[Event] = field(default_factory=list)

    async def send(self, type: str, **fields: Json) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))

    async def receive(self) -> Event:
        async with asyncio.timeout(PATIENCE_S):
            event: Event = json.loads(await self.socket.recv())
        check_shape(event, SHAPES)
        if event["type"] == "response.event":
            check_shape(event["event"], NESTED)
        self.events.append(event)
        return event

    async def until(self, type: str) -> Event:
        while (event := await self.receive())["type"] != type:
            pass
        return event

    async def until_nested(self, type: str) -> Event:
        while (await self.until("response.event"))["event"]["type"] != type:
            pass
        event: Event = self.events[-1]["event"]
        return event

    async def refused(self) -> Json:
        return (await self.until("error"))["error"]

    async def start(self, **session: Json) -> Event:
        await self.send("session.start", event_id="mine_1", session={"model": "gpt-live-1"} | session)
        return await self.until("session.started")

    async def append(self, samples: Samples) -> None:
        step = self.rate_hz * STEP_MS // 1000
        for start in range(0, len(samples), step):
            piece = samples[start : start + step].astype("<i2").tobytes()
            await self.send("session.input_audio.append", audio=base64.b64encode(piece).decode())

    @asynccontextmanager
    async def silence(self, speed: float = 12.0) -> AsyncIterator[None]:
        """A line that goes on, `speed` times faster than real time."""

        async def pump() -> None:
            while True:
                await self.append(np.zeros(self.rate_hz * STEP_MS // 1000, np.int16))
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
        return "".join(event["delta"] for event in self.all("session.output_transcript.delta"))

    def all(self, type: str) -> list[Event]:
        return [event for event in self.events if event["type"] == type]

    def nested(self, type: str) -> list[Event]:
        return [one["event"] for one in self.all("response.event") if one["event"]["type"] == type]

    def sound(self) -> bytes:
        return b"".join(base64.b64decode(event["delta"]) for event in self.all("session.output_audio.delta"))


@asynccontextmanager
async def live(simulator: Simulator, *, path: str = "/v1/live/sessions", **options: Json) -> AsyncIterator[LiveWire]:
    given = {"latency_ms": 200, "jitter_ms": 0} | options
    headers = {f"x-sim-{name.replace('_', '-')}": str(value) for name, value in given.items()}
    async with connect(f"{simulator.ws}{path}", additional_headers=headers, max_size=None, proxy=None) as socket:
        yield LiveWire(socket)
