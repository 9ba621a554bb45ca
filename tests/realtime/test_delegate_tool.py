"""A backend behind a voice on the Realtime protocol: one function hands the task on."""

from __future__ import annotations

import json
from typing import Any

from runs_app.realtime.delegation.front import definition
from runs_app.realtime.tools import ToolOutcome
from tests.backend_server import answers, calls
from tests.realtime.support import Held, TableExecutor, asked, hold, only_session, plan, setup
from tests.realtime.test_client_delegation import BOOK, BOOKED, backend, delegate
from tests.scripted_events import call_item, call_reply, text_reply
from tests.scripted_server import ScriptedServer, Step, serving
from tests.speech_server import SpeechServer, error_answer

REQUEST = "A table for Maya, please."


async def call(server: SpeechServer, *rounds: str, **changes: Any) -> tuple[Held, ScriptedServer]:
    """Each of `rounds` is what the voice hands on, as JSON; then it says goodbye."""
    script: list[Step] = [*setup()]
    for number, arguments in enumerate(rounds, start=1):
        item = call_item("delegate", arguments, call_id=f"front_{number}", item=f"i{number}")
        script += [*asked(), *call_reply([item], f"resp_{number}")]
    script += [*asked(), *text_reply("There you are.", "resp_9")]
    executor = TableExecutor({"create_reservation": ToolOutcome("completed", {"ok": True})})
    session = {"type": "realtime", "output_modalities": ["text"], "tools": [definition()]}
    async with serving(script) as voice:
        known: dict[str, Any] = {"executor": executor, "session": session, "delegate": delegate(server)}
        return await hold(plan(voice.url, **known | changes)), voice


def outputs(voice: ScriptedServer) -> list[tuple[str, str]]:
    items = [event["item"] for event in only_session(voice).events("conversation.item.create")]
    return [(item["call_id"], item["output"]) for item in items if item["type"] == "function_call_output"]


async def test_the_request_is_done_behind_the_voice_and_its_answer_goes_back_as_the_output() -> None:
    with backend(calls(BOOK), answers(BOOKED)) as server:
        held, voice = await call(server, json.dumps({"request": REQUEST}))
    assert held.record.ending.kind == "completed"
    assert outputs(voice) == [("front_1", BOOKED)]
    assert [(made.name, made.status) for made in held.record.tool_calls] == [("create_reservation", "completed")]
    (work,) = held.record.delegations
    assert (work.id, work.target, work.status, work.rounds) == ("front_1", "client", "completed", 1)
    assert server.asked[0]["json"]["input"] == [{"type": "message", "role": "user", "content": REQUEST}]
    assert held.record.backend_usage.total_tokens == 50
    assert held.of("delegation.started")[0].payload["request"] == REQUEST


async def test_the_second_task_knows_of_the_first() -> None:
    with backend(answers(BOOKED), answers("It is for two.", "resp_b")) as server:
        held, voice = await call(server, '{"request": "A table."}', '{"request": "For how many?"}')
    said = [(item["role"], item["content"]) for item in server.asked[1]["json"]["input"]]
    assert said == [("user", "A table."), ("assistant", BOOKED), ("user", "For how many?")]
    assert len(held.record.delegations) == 2
    assert [output for _, output in outputs(voice)] == [BOOKED, "It is for two."]


async def test_a_task_that_says_nothing_is_given_back_and_nobody_is_asked() -> None:
    with backend(answers(BOOKED)) as server:
        held, voice = await call(server, '{"request": " "}', "{")
    assert server.asked == []
    assert [output.startswith("The task was not understood: ") for _, output in outputs(voice)] == [True, True]
    assert [work.status for work in held.record.delegations] == ["failed", "failed"]
    assert held.record.tool_calls == ()


async def test_a_backend_that_calls_delegate_calls_a_tool_of_the_application() -> None:
    again = ("delegate", json.dumps({"request": REQUEST}), "call_1")
    executor = TableExecutor({"delegate": ToolOutcome("completed", {"ok": True})})
    with backend(calls(again), answers(BOOKED)) as server:
        held, voice = await call(server, json.dumps({"request": REQUEST}), executor=executor)
    assert [(made.name, made.status) for made in held.record.tool_calls] == [("delegate", "completed")]
    assert (len(held.record.delegations), len(server.asked)) == (1, 2)
    assert outputs(voice) == [("front_1", BOOKED)]


async def test_an_empty_answer_still_answers_the_voice() -> None:
    with backend(answers("")) as server:
        _, voice = await call(server, json.dumps({"request": REQUEST}))
    assert outputs(voice) == [("front_1", "Done. There is nothing to tell the caller.")]


async def test_a_backend_that_cannot_be_asked_says_nothing_about_the_agent() -> None:
    with backend(error_answer(403, "not yours", code="permission_denied")) as server:
        held, _ = await call(server, json.dumps({"request": REQUEST}))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "authorisation")


async def test_the_done_tool_of_the_backend_ends_the_call() -> None:
    with backend(calls(("end_session", "{}", "call_9"))) as server:
        held, voice = await call(server, json.dumps({"request": "Goodbye."}))
    assert held.record.ending.code == "done_tool"
    assert outputs(voice) == []


async def test_without_a_backend_a_function_of_that_name_is_like_any_other() -> None:
    with backend(answers(BOOKED)) as server:
        held, voice = await call(server, json.dumps({"request": REQUEST}), delegate=None)
    assert [(made.name, made.status) for made in held.record.tool_calls] == [("delegate", "recorded")]
    assert (held.record.delegations, outputs(voice), server.asked) == ((), [], [])
