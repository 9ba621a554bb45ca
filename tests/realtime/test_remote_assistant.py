"""The connector to a remote assistant: a call with the reference service, and services that break the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from runs_app.realtime.delegation.assistant import Delegate
from runs_app.realtime.delegation.elsewhere import ToolsElsewhere
from runs_app.realtime.script import PlannedTurn
from tests.backend_server import answers, calls
from tests.live_server import live, says
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import Held, hold, only_session
from tests.realtime.test_assistant_service import BOOK, BOOKED, TOKEN, serving
from tests.realtime.test_client_delegation import HANDED, HEARD, ONE_MOMENT, planned
from tests.realtime.test_live import ending, words
from tests.scripted_server import Session
from tests.scripted_server import serving as voice_serving

CUES = [*HEARD, HANDED, *ONE_MOMENT, *says(BOOKED, at_ms=1200, after_return=1)]


def remote(url: str, **changes: Any) -> Delegate:
    known: dict[str, Any] = {"model": None, "instructions": "Use the tools.", "token": TOKEN}
    return Delegate(**{"endpoint": url, **known, **changes})


async def call(own: Delegate) -> tuple[Held, Session]:
    async with voice_serving(live(CUES)) as voice:
        more = {"executor": ToolsElsewhere({"booked": None})}
        made = planned(voice, (PlannedTurn("A table for Maya", words()),), own, more)
        held = await hold(made, clock=WarpClock(), within_s=60)
    return held, only_session(voice)


async def test_a_call_with_the_reference_service_keeps_what_it_reports() -> None:
    async with serving(calls(BOOK), answers(BOOKED)) as (url, behind):
        held, session = await call(remote(url))
    assert ending(held) == ("completed", "")
    (made,) = held.record.tool_calls
    assert (made.name, made.arguments, made.status, made.output) == (
        BOOK[0],
        {"guest_name": "Maya"},
        "completed",
        {"ok": True},
    )
    assert made.answered_ms is not None
    assert made.called_ms <= made.answered_ms
    assert (held.record.initial_state, held.record.final_state) == ({"booked": None}, {"booked": "Maya"})
    (work,) = held.record.delegations
    assert (work.target, work.status, work.rounds, work.texts) == ("client", "completed", 1, (BOOKED,))
    assert held.record.backend_usage.total_tokens == 50
    (told,) = session.events("session.commentary.append")
    assert (told["content"], told["delegation_id"]) == (BOOKED, "dlg_1")
    assert behind.asked[0]["json"]["input"][0]["content"] == "A table for Maya."


async def test_a_token_that_is_refused_says_nothing_about_the_agent() -> None:
    async with serving() as (url, _):
        held, session = await call(remote(url, token="another-token-than-theirs"))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "authorisation")
    assert session.events("session.start") == []
    assert "another-token" not in held.record.ending.message


@pytest.mark.parametrize(
    ("url", "code"),
    [("ws://127.0.0.1:1/ws/assistant", "refused"), ("ws://agent.example/ws/assistant", "not_encrypted")],
)
async def test_a_service_that_is_not_there_or_not_encrypted_is_not_talked_to(url: str, code: str) -> None:
    held, _ = await call(remote(url))
    assert (held.record.ending.stage, held.record.ending.code) == ("delegation", code)


Behave = Callable[["Rogue"], Awaitable[None]]


class Rogue:
    """A service after the handshake, up to the first task."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def up_to_the_task(self) -> None:
        assert json.loads(await self.socket.recv())["type"] == "session.configure"
        await self.send(type="session.ready")
        while json.loads(await self.socket.recv())["event"]["type"] != "session.delegation.created":
            pass

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def event(self, type: str, **told: Any) -> None:
        await self.send(type="assistant.event", event={"type": type, **told})

    async def say(self, delegation_id: str | None, type: str = "session.commentary.append") -> None:
        event = {"type": type, "delegation_id": delegation_id, "content": BOOKED}
        await self.send(type="live.send", event=event)


@asynccontextmanager
async def rogue(behave: Behave) -> AsyncIterator[str]:
    async def converse(socket: ServerConnection) -> None:
        service = Rogue(socket)
        await service.up_to_the_task()
        await behave(service)
        await socket.wait_closed()

    async with serve(converse, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/ws/assistant"


async def flood(service: Rogue) -> None:
    for _ in range(20_001):
        await service.event("response.output_text.delta")


async def weigh(service: Rogue) -> None:
    for _ in range(36):
        await service.event("response.output_text.delta", delta="x" * 240_000)


async def confuse_calls(service: Rogue) -> None:
    await service.event("tool.called", call_id="c1", name="x", arguments={})
    await service.event("tool.completed", tool_execution={"call_id": "c2", "name": "x"})


async def leave_a_call_open(service: Rogue) -> None:
    await service.event("tool.called", call_id="c1", name="x", arguments={})
    await service.say("dlg_1")
    await service.event("client_delegation.completed", delegation_id="dlg_1", text=BOOKED)


@pytest.mark.parametrize(
    ("behave", "code", "words_of_it"),
    [
        (lambda s: s.say("dlg_9"), "client_protocol_error", "no task 'dlg_9' waits"),
        (lambda s: s.say(None), "client_protocol_error", "no task '' waits"),
        (lambda s: s.say("dlg_1", "session.close"), "client_protocol_error", "may not send"),
        (
            lambda s: s.event("client_delegation.completed", delegation_id="dlg_1", text=BOOKED),
            "client_protocol_error",
            "before anything was said",
        ),
        (confuse_calls, "client_protocol_error", "the call c2, which nobody made"),
        (leave_a_call_open, "client_protocol_error", "before its call c1"),
        (lambda s: s.event("session.started"), "client_protocol_error", "session.started"),
        (lambda s: s.send(type="hello"), "client_protocol_error", "hello"),
        (lambda s: s.socket.send("{"), "client_protocol_error", "not JSON"),
        (lambda s: s.socket.send("[]"), "client_protocol_error", "no JSON object"),
        (lambda s: s.send(type="error", error={"code": "x1", "message": "tired"}), "x1", "tired"),
        (
            lambda s: s.event("client_delegation.failed", delegation_id="dlg_1", error={"message": "no"}),
            "client_delegation",
            "could not do the task: no",
        ),
        (lambda s: s.send(type="session.closed"), "session_closed", "closed the session"),
        (lambda s: s.socket.close(1011), "hung_up", "1011"),
        (lambda s: s.event("response.output_text.delta", delta="x" * 300_000), "limit", "too big"),
        (flood, "limit", "more than 20000 events"),
        (weigh, "limit", "more than 8388608 bytes"),
    ],
)
async def test_a_service_that_breaks_the_protocol_or_gives_up_makes_the_trial_invalid(
    behave: Behave, code: str, words_of_it: str
) -> None:
    async with rogue(behave) as url:
        held, _ = await call(remote(url))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "delegation")
    assert held.record.ending.code == code
    assert words_of_it in held.record.ending.message


async def test_what_is_said_in_parts_is_passed_on_part_by_part() -> None:
    async def behave(service: Rogue) -> None:
        await service.say("dlg_1")
        await service.say("dlg_1")
        await service.event("client_delegation.completed", delegation_id="dlg_1", text=f"{BOOKED} {BOOKED}")

    async with rogue(behave) as url:
        held, session = await call(remote(url))
    assert ending(held)[0] == "completed"
    assert len(session.events("session.commentary.append")) == 2
