"""The reference assistant service over real sockets: what it tells, and what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.delegation.assistant import Delegate
from runs_app.realtime.delegation.limits import ServiceLimits
from runs_app.realtime.delegation.service.server import assistant_service
from runs_app.realtime.delegation.service.session import Office
from scenarios_app.spec.application import parse_application
from tests.backend_server import answers, calls, failed
from tests.realtime.test_client_delegation import backend
from tests.speech_server import Answer

TOKEN = "a-token-of-the-tests"
BOOK = ("create_reservation", '{"guest_name": "Maya"}', "call_1")
BOOKED = "Your table is booked."
SCHEMA = {"type": "object", "properties": {"guest_name": {"type": "string"}}, "required": ["guest_name"]}
ANSWER = {"result": {"ok": True}, "effects": {"booked": "{{args.guest_name}}"}}
APPLICATION = parse_application(
    {
        "name": "Trattoria",
        "facts": {"city": "Rome"},
        "tools": [
            {"name": "create_reservation", "parameters": SCHEMA, "answers": [ANSWER]},
            {"name": "page_someone", "parameters": {"type": "object"}, "answers": [{"result": "paged"}]},
        ],
    }
)
LIMITS = ServiceLimits()


def office(url: str) -> Office:
    tools = tuple(tool.definition() for tool in APPLICATION.tools)
    return Office(
        Delegate(endpoint=url, model="m", instructions="", tools=tools, api_key="sk-service"),
        APPLICATION.facts,
        lambda: ApplicationExecutor(APPLICATION, initial_state={"booked": None}),
    )


@dataclass
class Wire:
    socket: ClientConnection

    async def send(self, type: str, **told: Any) -> None:
        await self.socket.send(json.dumps({"type": type, **told}))

    async def event(self, type: str, **told: Any) -> None:
        await self.send("live.event", event={"type": type, **told})

    async def hand_on(self, delegation_id: str = "dlg_1") -> None:
        told = {"id": delegation_id, "type": "delegation", "target": "client"}
        await self.event("session.delegation.created", offset_ms=900, delegation=told)

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(20):
            message: dict[str, Any] = json.loads(await self.socket.recv())
            return message

    async def configured(self, **told: Any) -> Wire:
        await self.send("session.configure", **told)
        assert await self.next() == {"type": "session.ready"}
        return self

    async def refused(self) -> tuple[str, str]:
        """The code and the message of the error that ends the session."""
        while (message := await self.next())["type"] != "error":
            pass
        with pytest.raises(ConnectionClosed):
            await self.next()
        return message["error"]["code"], message["error"]["message"]


@asynccontextmanager
async def serving(*given: Answer, limits: ServiceLimits = LIMITS, **more: Any) -> AsyncIterator[tuple[str, Any]]:
    """The address of a service, and the backend behind it."""
    with backend(*(given or (answers(BOOKED),))) as behind:
        async with assistant_service(office(behind.url), token=TOKEN, port=0, limits=limits, **more) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/ws/assistant", behind


@asynccontextmanager
async def connected(url: str, *headers: tuple[str, str]) -> AsyncIterator[Wire]:
    given = headers or (("Authorization", f"Bearer {TOKEN}"),)
    async with connect(url, additional_headers=given, proxy=None, max_size=None) as socket:
        yield Wire(socket)


async def status(url: str, *headers: tuple[str, str]) -> int:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(url, additional_headers=headers, proxy=None):
            pass
    return caught.value.response.status_code


async def test_a_task_is_done_with_the_services_tools_and_told_step_by_step() -> None:
    async with serving(calls(BOOK), answers(BOOKED)) as (url, behind), connected(url) as wire:
        items = [{"type": "message", "role": "user", "content": "Hello."}]
        await wire.configured(instructions="Use the tools.", tools=[{"name": BOOK[0]}], initial_items=items)
        await wire.event("session.input_transcript.delta", delta="A table for Maya.", start_ms=0, end_ms=400)
        await wire.hand_on()
        told = [await wire.next() for _ in range(7)]
        await wire.event("session.closed", reason="done")
        assert await wire.next() == {"type": "session.closed"}
    kinds = [message["event"]["type"] for message in told]
    assert kinds == [
        *("client_delegation.handoff", "response.completed", "tool.called", "tool.completed"),
        *("response.completed", "session.commentary.append", "client_delegation.completed"),
    ]
    assert {message["event"]["delegation_id"] for message in told} == {"dlg_1"}
    assert told[3]["event"]["application_state"] == {"booked": "Maya"}
    execution = {"call_id": "call_1", "name": BOOK[0], "arguments": {"guest_name": "Maya"}}
    assert told[3]["event"]["tool_execution"] == {**execution, "status": "completed", "output": {"ok": True}}
    assert (told[5]["type"], told[5]["event"]["content"]) == ("live.send", BOOKED)
    assert told[6]["event"]["text"] == BOOKED
    asked = behind.asked[0]["json"]
    assert [item["content"] for item in asked["input"]] == ["Hello.", "A table for Maya."]
    assert [tool["name"] for tool in asked["tools"]] == [BOOK[0]]
    assert asked["instructions"].startswith("Use the tools.")
    assert '"city": "Rome"' in asked["instructions"]
    assert behind.asked[0]["headers"]["authorization"] == "Bearer sk-service"


async def test_a_history_as_long_as_a_scenario_may_hold_is_taken() -> None:
    items = [{"role": "user", "content": str(number)} for number in range(128)]
    async with serving() as (url, behind), connected(url) as wire:
        await wire.configured(initial_items=items)
        await wire.hand_on()
        while (await wire.next()).get("event", {}).get("type") != "client_delegation.completed":
            pass
    assert [item["content"] for item in behind.asked[0]["json"]["input"][:128]] == [str(nth) for nth in range(128)]


async def test_a_task_that_calls_tools_for_ever_is_given_up_and_says_so() -> None:
    rounds = [calls((BOOK[0], BOOK[1], f"call_{number}")) for number in range(11)]
    async with serving(*rounds) as (url, behind), connected(url) as wire:
        await wire.configured()
        await wire.hand_on()
        told = [await wire.next()]
        while told[-1].get("event", {}).get("type") != "client_delegation.completed":
            told.append(await wire.next())
    said = "This could not be finished: its tools were called in 10 rounds, and more are not allowed."
    assert told[-1]["event"]["text"] == said
    assert [one["event"]["content"] for one in told if one["type"] == "live.send"] == [said]
    assert sum(one["event"]["type"] == "tool.completed" for one in told) == 10
    assert len(behind.asked) == 11


async def test_only_who_sends_one_token_comes_in_and_only_from_a_listed_origin() -> None:
    token = ("Authorization", f"Bearer {TOKEN}")
    async with serving(origins=["https://agent.example"]) as (url, _):
        assert await status(url) == 401
        assert await status(url, ("Authorization", "Bearer wrong")) == 401
        assert await status(url, ("Authorization", TOKEN)) == 401
        assert await status(url, token, token) == 401
        assert await status(url, token, ("Origin", "https://elsewhere.example")) == 403
        assert await status(url.replace("/ws/assistant", "/ws"), token) == 404
        async with connected(url, token, ("Origin", "https://agent.example")) as wire:
            await wire.configured()
        health = url.replace("ws://", "http://").replace("/ws/assistant", "/health")
        told = await asyncio.to_thread(lambda: urlopen(health, timeout=10).read())
        assert json.loads(told) == {"status": "ok", "assistant": "client"}


async def test_a_connection_too_many_waits_outside() -> None:
    async with serving(limits=replace(LIMITS, connections=1)) as (url, _):
        async with connected(url) as wire:
            await wire.configured()
            assert await status(url, ("Authorization", f"Bearer {TOKEN}")) == 503
            await wire.event("session.closed")
            await wire.next()
        async with asyncio.timeout(20):
            while True:
                try:
                    async with connected(url) as again:
                        await again.configured()
                    return
                except InvalidStatus:  # the first is just leaving
                    continue


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({"type": "live.event", "event": {"type": "session.closed"}}, "session.configure comes first"),
        ({"type": "session.configure", "voice": "marin"}, "voice"),
        ({"type": "session.configure", "initial_items": [{"role": "user", "content": "x"}] * 129}, "initial_items"),
        ({"type": "session.update"}, "type"),
        ([1], "the message"),
    ],
)
async def test_a_first_message_that_does_not_configure_is_refused(first: Any, words: str) -> None:
    async with serving() as (url, _), connected(url) as wire:
        await wire.socket.send(json.dumps(first))
        code, message = await wire.refused()
    assert code == "client_protocol_error"
    assert words in message


@pytest.mark.parametrize(
    "message",
    [
        "{",
        '{"type": "live.event", "event": {"type": "session.output_audio.delta", "delta": ""}}',
        '{"type": "live.event", "event": {"type": "session.delegation.created", "delegation": {"id": "x"}}}',
        '{"type": "session.configure"}',
    ],
)
async def test_later_messages_are_read_as_strictly(message: str) -> None:
    async with serving() as (url, _), connected(url) as wire:
        await wire.configured()
        await wire.socket.send(message)
        assert (await wire.refused())[0] == "client_protocol_error"


async def test_a_task_is_handed_on_once() -> None:
    async with serving() as (url, _), connected(url) as wire:
        await wire.configured()
        await wire.hand_on()
        await wire.hand_on()
        assert await wire.refused() == ("client_protocol_error", "the task dlg_1 was handed on before")


@pytest.mark.parametrize(
    ("limits", "tasks", "words"),
    [
        ({"pending": 1}, 2, "more than 1 tasks at once"),
        ({"delegations": 1}, 2, "more than 1 tasks in one session"),
        ({"events": 2}, 2, "more than 2 events"),
        ({"session_bytes": 200}, 2, "more than 200 bytes"),
    ],
)
async def test_what_is_too_much_ends_the_session(limits: dict[str, int], tasks: int, words: str) -> None:
    async with serving(limits=replace(LIMITS, **limits)) as (url, _), connected(url) as wire:
        await wire.configured()
        for number in range(tasks):
            await wire.hand_on(f"dlg_{number}")
        code, message = await wire.refused()
    assert code == "client_limit_reached"
    assert words in message


async def test_a_message_too_big_closes_the_socket() -> None:
    async with serving() as (url, _), connected(url) as wire:
        await wire.configured()
        await wire.event("session.input_transcript.delta", delta="x" * 300_000)
        with pytest.raises(ConnectionClosed) as caught:
            await wire.next()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


@pytest.mark.parametrize(
    ("limits", "configured", "words"),
    [
        ({"configure_s": 0.1}, False, "no session.configure within 0.1 s"),
        ({"session_s": 0.3}, True, "a session lasts 0.3 s at most"),
        ({"delegation_s": 0.1}, True, "the task dlg_1 took longer than 0.1 s"),
    ],
)
async def test_nobody_waits_for_ever(limits: dict[str, Any], configured: bool, words: str) -> None:
    async with serving(limits=replace(LIMITS, **limits)) as (url, _), connected(url) as wire:
        if configured:
            await wire.configured()
            await wire.hand_on()
        assert await wire.refused() == ("client_session_timeout", words)


async def test_a_backend_that_fails_ends_the_session_with_its_reason() -> None:
    async with serving(failed("server_error", "we broke")) as (url, _), connected(url) as wire:
        await wire.configured()
        await wire.hand_on()
        code, message = await wire.refused()
    assert code == "client_assistant_error"
    assert "we broke" in message


async def test_a_call_that_cannot_run_has_failed_and_the_backend_learns_why() -> None:
    unknown, broken = ("fly", "{}", "c1"), ("create_reservation", "{}", "c2")
    async with serving(calls(unknown, broken), answers("Sorry.")) as (url, behind), connected(url) as wire:
        await wire.configured()
        await wire.hand_on()
        told = [await wire.next() for _ in range(9)]
    failures = [one["event"] for one in told if one["event"]["type"] == "tool.failed"]
    assert [one["tool_execution"]["status"] for one in failures] == ["failed", "failed"]
    assert "there is no tool fly" in behind.asked[1]["json"]["input"][-2]["output"]
    assert "guest_name" in behind.asked[1]["json"]["input"][-1]["output"]
