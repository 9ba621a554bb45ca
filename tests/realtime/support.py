"""What session tests share: a small executor, plans against a scripted server, and one call that runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from runs_app.realtime.clock import Clock
from runs_app.realtime.dialects.realtime import RealtimeDialect
from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.plan import Mode, Plan, Timeouts
from runs_app.realtime.record import Event, Json, Record
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.session import Conversation, converse
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from tests.scripted_events import session_created, session_updated
from tests.scripted_server import Expect, ScriptedServer, Send, Session, Step

T = TypeVar("T")

QUICK = Timeouts(
    connect_s=2,
    session_ready_s=1,
    turn_s=2,
    close_s=0.3,
    error_grace_s=0.15,
    transcript_s=0.3,
    confirm_s=0.3,
    settle_s=0.9,
)


@dataclass
class TableExecutor:
    """Answers from a table; every executed call is counted in the state, so tests see what really ran."""

    answers: Mapping[str, ToolOutcome] = field(default_factory=dict)
    state: dict[str, Json] = field(default_factory=lambda: {"ran": []})

    async def execute(self, name: str, arguments: dict[str, Json]) -> ToolOutcome:
        if name == "broken":
            raise ToolSandboxError("the template ran too long")
        if name == "hangs":
            await asyncio.Event().wait()
        self.state["ran"].append([name, arguments])
        return self.answers[name]

    def declares(self, name: str) -> bool:
        return name in self.answers or name in ("broken", "hangs")

    def snapshot(self) -> dict[str, Json]:
        return deepcopy(self.state)


def known(value: T | None) -> T:
    """The value, where a test knows that there is one."""
    assert value is not None
    return value


def tool(name: str, *required: str) -> dict[str, Json]:
    properties = {key: {"type": "string"} for key in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "name": name, "description": name, "parameters": schema}


def ramp(count: int, start: int = 1) -> Int16:
    return (np.arange(start, start + count) % 20_000).astype(np.int16)


def tone(ms: float, hz: float = 300.0, level: int = 6000) -> Int16:
    count = round(ms * 24)
    return (level * np.sin(2 * np.pi * hz * np.arange(count) / 24_000)).astype(np.int16)


def chunks(samples: Int16, ms: int = 100) -> list[bytes]:
    data, size = to_bytes(samples), ms * 48
    return [data[start : start + size] for start in range(0, len(data), size)]


def plan(url: str, *, audio: Int16 | None = None, text: str = "Hello", **changes: Any) -> Plan:
    """A text plan, or an audio plan (not in real time) when `audio` is given."""
    mode: Mode = "text" if audio is None else "audio"
    known = Plan(
        dialect=RealtimeDialect(),
        url=url,
        headers={},
        mode=mode,
        real_time=False,
        session=RealtimeDialect().default_session(mode),
        turns=(PlannedTurn(text, audio),),
        executor=TableExecutor(),
        timeouts=QUICK,
    )
    return replace(known, **changes)


@dataclass
class Held:
    """A conversation that was held, with the events that came out of it."""

    conversation: Conversation
    events: list[Event]

    @property
    def record(self) -> Record:
        return self.conversation.record

    @property
    def right(self) -> Int16:
        assert self.conversation.audio is not None
        return self.conversation.audio[:, 1]

    @property
    def left(self) -> Int16:
        assert self.conversation.audio is not None
        return self.conversation.audio[:, 0]

    def types(self) -> list[str]:
        return [event.type for event in self.events]

    def of(self, type: str) -> list[Event]:
        return [event for event in self.events if event.type == type]


async def hold(
    made: Plan, *, stop: asyncio.Event | None = None, within_s: float = 20, clock: Clock | None = None
) -> Held:
    events: list[Event] = []
    async with asyncio.timeout(within_s):
        conversation = await converse(made, emit=events.append, stop=stop or asyncio.Event(), clock=clock)
    return Held(conversation, events)


def setup() -> list[Step]:
    """The server's part until the session is ready."""
    return [Send(session_created()), Expect("session.update"), Send(session_updated())]


def asked() -> list[Step]:
    """The server waits until it is asked to answer."""
    return [Expect("response.create")]


def only_session(server: ScriptedServer) -> Session:
    assert len(server.sessions) == 1
    return server.sessions[0]
