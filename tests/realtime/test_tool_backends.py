"""Tools that an endpoint or a class answers: what is a result, what a refusal, and what is not the agent's doing."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from runs_app.realtime import http_tool
from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.http_tool import HttpTool
from runs_app.realtime.python_tool import PythonTool
from runs_app.realtime.tool_backends import Backend
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.tool_faults import parse_faults
from tests.realtime.support import asked, hold, plan, setup, tool
from tests.scripted_events import call_item, call_reply, text_reply
from tests.scripted_server import serving
from tests.speech_server import Answer, speech_server

JSON_TYPE = {"Content-Type": "application/json"}
PARAMETERS = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
FREE_PORT = "http://127.0.0.1:9/"  # nobody listens


def answer(body: Any, status: int = 200, **more: Any) -> Answer:
    return Answer(json.dumps(body).encode(), status, JSON_TYPE, **more)


def executor(backend: Backend, *, state: Any = None, effects: Any = None, **more: Any) -> ApplicationExecutor:
    http: dict[str, Any] = {"url": "https://staging.example/", **({"effects": effects} if effects else {})}
    document = {"name": "Desk", "tools": [{"name": "look_up", "parameters": PARAMETERS, "http": http}]}
    application = parse_application(document)
    return ApplicationExecutor(application, initial_state=state, backends={"look_up": backend}, **more)


async def look_up(backend: Backend, **more: Any) -> ToolOutcome:
    return await executor(backend, **more).execute("look_up", {"order": "A-1"})


# --- http


async def test_the_call_is_posted_and_the_answer_is_the_tools_output() -> None:
    trial = {"id": 7, "seed": 5}
    with speech_server([answer({"status": "sent"})]) as endpoint:
        backend = HttpTool(f"{endpoint.url}/tools?k=1", {"Authorization": "Bearer x"}, trial=trial)
        outcome = await look_up(backend, state={"secret": 1})
    (request,) = endpoint.asked
    assert outcome == ToolOutcome("completed", {"status": "sent"})
    assert request["path"] == "/v1/tools?k=1"
    assert request["json"] == {"tool": "look_up", "arguments": {"order": "A-1"}, "trial": trial}
    assert (request["headers"]["authorization"], request["headers"]["content-type"]) == ("Bearer x", "application/json")


async def test_the_state_goes_along_where_it_is_asked_for_and_effects_may_read_the_result() -> None:
    with speech_server([answer({"id": "O-9"})]) as endpoint:
        tools = executor(
            HttpTool(endpoint.url, send_state=True),
            state={"customer": "Nora"},
            effects={"order": "{{ result.id }}", "who": "{{ state.customer }} {{ args.order }}"},
        )
        await tools.execute("look_up", {"order": "A-1"})
    assert endpoint.asked[0]["json"]["state"] == {"customer": "Nora"}
    assert tools.snapshot() == {"customer": "Nora", "order": "O-9", "who": "Nora A-1"}


async def test_arguments_that_do_not_fit_never_reach_the_endpoint() -> None:
    with speech_server([answer({})]) as endpoint:
        outcome = await executor(HttpTool(endpoint.url)).execute("look_up", {"order": 5})
        spared = await look_up(HttpTool(endpoint.url), faults=parse_faults({"look_up": {"mode": "error"}}))
    assert outcome.status == spared.status == "failed"
    assert endpoint.asked == []


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (answer([1, None]), [1, None]),
        (answer("hello"), "hello"),
        (Answer(b"", 204, {}), {}),
        (Answer(b"plain words", 200, {"Content-Type": "text/plain; charset=utf-8"}), "plain words"),
    ],
)
async def test_any_json_and_plain_text_are_answers(given: Answer, output: Any) -> None:
    with speech_server([given]) as endpoint:
        outcome = await look_up(HttpTool(endpoint.url))
    assert (outcome.status, outcome.output) == ("completed", output)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (answer({"error": "no such order"}, 404), "no such order"),
        (answer({"error": {"message": "it is locked"}}, 409), "it is locked"),
        (answer({"detail": "not today"}, 422), "not today"),
        (answer({"code": 7}, 400), '{"code": 7}'),
    ],
)
async def test_a_4xx_with_json_is_the_tools_refusal_which_the_agent_gets(given: Answer, error: str) -> None:
    with speech_server([given]) as endpoint:
        tools = executor(HttpTool(endpoint.url), state={"a": 1}, effects={"a": 2})
        outcome = await tools.execute("look_up", {"order": "A-1"})
    assert (outcome.status, outcome.error, outcome.output) == ("failed", error, json.loads(given.body))
    assert tools.snapshot() == {"a": 1}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer({"error": "boom"}, 500), 'answered 500: {"error": "boom"}'),
        (Answer(b"", 503, {}), "answered 503"),
        (answer({"error": "who are you"}, 401), "answered 401"),
        (answer({"error": "not you"}, 403), "answered 403"),
        (answer({"error": "slow down"}, 429), "answered 429"),
        (Answer(b"<html>no such page</html>", 404, {"Content-Type": "text/html"}), "answered 404 with what is no JSON"),
        (Answer(b"", 302, {"Location": "http://127.0.0.1:9/"}), "answered 302 (redirects are not followed)"),
        (Answer(b'{"cut": ', 200, JSON_TYPE), "answered 200 with what is no JSON"),
        (Answer(b'{"a": NaN}', 200, JSON_TYPE), "answered 200 with what is no JSON"),
        (
            Answer(b'"' + b"x" * http_tool.MAX_ANSWER_BYTES + b'"', 200, JSON_TYPE),
            "answered with more than 65536 bytes",
        ),
        (answer({"long": "body"}, cut=True), "could not be asked: RemoteProtocolError"),
    ],
)
async def test_what_is_no_answer_of_the_tool_says_nothing_about_the_agent(given: Answer, reason: str) -> None:
    with speech_server([given]) as endpoint:
        tools = executor(HttpTool(f"{endpoint.url}?key=hush"), state={"a": 1})
        with pytest.raises(ToolSandboxError) as caught:
            await tools.execute("look_up", {"order": "A-1"})
    assert str(caught.value).startswith(f"{endpoint.url} {reason}")
    assert "hush" not in str(caught.value)
    assert tools.snapshot() == {"a": 1}


async def test_nobody_there_and_no_answer_in_time_say_nothing_about_the_agent() -> None:
    with pytest.raises(ToolSandboxError, match="could not be asked: ConnectError"):
        await look_up(HttpTool(FREE_PORT))
    held = threading.Event()
    with speech_server([answer({}, hold=held)]) as endpoint:
        with pytest.raises(ToolSandboxError, match=r"gave no answer within 0\.2 s"):
            await look_up(HttpTool(endpoint.url, timeout_s=0.2))
        held.set()


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, FREE_PORT)
    with speech_server([answer({"ok": True})]) as endpoint:
        assert (await look_up(HttpTool(endpoint.url))).output == {"ok": True}


async def test_calls_of_one_trial_wait_for_each_other() -> None:
    first = threading.Event()
    with speech_server([answer(1, hold=first), answer(2)]) as endpoint:
        tools = executor(HttpTool(endpoint.url))
        both = [asyncio.create_task(tools.execute("look_up", {"order": name})) for name in "ab"]
        await asyncio.to_thread(endpoint.arrived.wait, 5)
        assert [request["json"]["arguments"]["order"] for request in endpoint.asked] == ["a"]
        first.set()
        assert [outcome.output for outcome in await asyncio.gather(*both)] == [1, 2]


async def test_a_staging_system_that_is_down_makes_the_trial_invalid_and_not_failed() -> None:
    """Through the real session: the agent is not blamed, and the call stays on the record."""
    item = call_item("look_up", '{"order": "A-1"}')
    session = {"type": "realtime", "output_modalities": ["text"], "tools": [tool("look_up", "order")]}
    script = [*setup(), *asked(), *call_reply([item]), *asked(), *text_reply("Done.", "resp_2")]
    async with serving(script) as server:
        held = await hold(plan(server.url, session=session, executor=executor(HttpTool(FREE_PORT))))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "tool_sandbox", "look_up")
    assert "could not be asked: ConnectError" in ending.message
    assert [(call.name, call.status) for call in held.record.tool_calls] == [("look_up", "failed")]


# --- python


class Desk:
    def __init__(self, context: Any) -> None:
        self.context = context
        self.calls = 0

    def call(self, name: str, arguments: dict[str, Any], state: dict[str, Any]) -> Any:
        self.calls += 1
        state["calls"] = self.calls
        match arguments["order"]:
            case "refuse":
                raise ValueError("this order is locked")
            case "break":
                raise KeyError("oops")
            case "object":
                return object()
            case "nan":
                return {"x": float("nan")}
            case "hang":
                self.context["held"].wait(20)
        return {"tool": name, "order": arguments["order"], "facts": self.context["facts"]}


def desk(*, held: threading.Event | None = None, timeout_s: float = 5.0) -> PythonTool:
    class Held(Desk):
        def __init__(self, context: Any) -> None:
            super().__init__({**context, "held": held})

    return PythonTool("desk", Held, {"facts": {"opens": "17:00"}}, timeout_s)


async def test_a_class_answers_remembers_between_calls_and_changes_the_state() -> None:
    tools = executor(desk(), state={"calls": 0})
    first = await tools.execute("look_up", {"order": "A-1"})
    await tools.execute("look_up", {"order": "A-2"})
    assert first.output == {"tool": "look_up", "order": "A-1", "facts": {"opens": "17:00"}}
    assert tools.snapshot() == {"calls": 2}


async def test_a_value_error_is_a_refusal_and_changes_nothing() -> None:
    tools = executor(desk(), state={"calls": 0})
    outcome = await tools.execute("look_up", {"order": "refuse"})
    assert (outcome.status, outcome.error) == ("failed", "this order is locked")
    assert tools.snapshot() == {"calls": 0}


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("break", "desk broke: KeyError: 'oops'"),
        ("object", "desk: its result is no JSON"),
        ("nan", "desk: its result is no JSON"),
    ],
)
async def test_what_breaks_in_a_class_says_nothing_about_the_agent(order: str, reason: str) -> None:
    tools = executor(desk(), state={"calls": 0})
    with pytest.raises(ToolSandboxError) as caught:
        await tools.execute("look_up", {"order": order})
    assert str(caught.value).startswith(reason)
    assert tools.snapshot() == {"calls": 0}


async def test_a_class_that_hangs_is_left_behind_and_its_late_change_never_counts() -> None:
    held = threading.Event()
    tools = executor(desk(held=held, timeout_s=0.2), state={"calls": 0})
    with pytest.raises(ToolSandboxError, match=r"desk gave no answer within 0\.2 s"):
        await tools.execute("look_up", {"order": "hang"})
    held.set()
    assert tools.snapshot() == {"calls": 0}
    assert (await tools.execute("look_up", {"order": "A-1"})).status == "completed"
