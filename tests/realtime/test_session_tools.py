"""Function calls: put together, executed once each, answered together, and what is only kept."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from runs_app.realtime.tools import ToolOutcome
from tests.realtime.support import QUICK, Held, TableExecutor, asked, hold, known, only_session, plan, setup, tool
from tests.scripted_events import (
    call_added,
    call_delta,
    call_done,
    call_item,
    call_reply,
    created,
    done,
    item_done,
    text_reply,
)
from tests.scripted_server import ScriptedServer, Send, Step, serving

FREE = ToolOutcome("completed", output={"free": True})
TOOLS = [tool("find_table", "date"), tool("create_reservation", "guest_name", "date"), tool("ping")]


def with_tools(server: ScriptedServer, **changes: Any) -> Any:
    executor = TableExecutor({"find_table": FREE, "create_reservation": FREE, "ping": FREE})
    session = {"type": "realtime", "output_modalities": ["text"], "tools": TOOLS}
    return plan(server.url, **{"executor": executor, "session": session, **changes})


def outputs(server: ScriptedServer) -> list[tuple[str, str]]:
    items = [event["item"] for event in only_session(server).events("conversation.item.create")]
    return [(item["call_id"], item["output"]) for item in items if item["type"] == "function_call_output"]


async def one_call(arguments: str, name: str = "find_table") -> tuple[Held, ScriptedServer]:
    item = call_item(name, arguments)
    script = [*setup(), *asked(), *call_reply([item]), *asked(), *text_reply("Done", "resp_2")]
    async with serving(script) as server:
        return await hold(with_tools(server)), server


@pytest.mark.quirk(13)
@pytest.mark.behaviour(28)
@pytest.mark.case("A05")
async def test_two_calls_with_interleaved_arguments_are_two_calls_and_one_new_request() -> None:
    """A05, and behaviour 28: output order, whole arguments, both outputs, then exactly one response.create."""
    c1 = call_item("find_table", '{"date":"2027-05-15"}', call_id="c1", item="i1")
    c2 = call_item("create_reservation", '{"guest_name":"Nora","date":"2027-05-15"}', call_id="c2", item="i2")
    script: list[Step] = [
        *setup(),
        *asked(),
        Send(created()),
        Send(call_added(c2, output_index=1)),
        Send(call_added(c1, output_index=0)),
        Send(call_delta(c1, '{"date":', output_index=0)),
        Send(call_delta(c2, '{"guest_name":"Nora",', output_index=1)),
        Send(call_delta(c1, '"2027-05-15"}', output_index=0)),
        Send(call_delta(c2, '"date":"2027-05-15"}', output_index=1)),
        Send(call_done(c2, output_index=1)),
        Send(call_done(c1, output_index=0)),
        Send(item_done(c1, output_index=0)),
        Send(item_done(c2, output_index=1)),
        Send(done(output=[c1, c2])),
        *asked(),
        *text_reply("Booked.", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    calls = held.record.tool_calls
    assert [(call.call_id, call.output_index, call.arguments) for call in calls] == [
        ("c1", 0, {"date": "2027-05-15"}),
        ("c2", 1, {"guest_name": "Nora", "date": "2027-05-15"}),
    ]
    assert [call.status for call in calls] == ["completed", "completed"]
    assert [call_id for call_id, _ in outputs(server)] == ["c1", "c2"]
    assert only_session(server).types()[2:] == [
        "response.create",
        "conversation.item.create",
        "conversation.item.create",
        "response.create",
    ]
    assert held.record.final_state["ran"] == [
        ["find_table", {"date": "2027-05-15"}],
        ["create_reservation", {"guest_name": "Nora", "date": "2027-05-15"}],
    ]
    assert held.record.initial_state["ran"] == []
    turn = held.record.turns[0]
    assert (turn.rounds, turn.agent_text) == (1, "Booked.")


@pytest.mark.quirk(16)
@pytest.mark.case("A07")
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"date": "2027-05-15"', "not JSON"),
        ("", "empty, but the tool requires date"),
        ('["2027-05-15"]', "a JSON list, not an object"),
        ('{"date": "2027-05-15"} I hope this helps', "not JSON: Extra data"),
        ('{"date": NaN}', "NaN is not a JSON number"),
        ('{"date": 1e999}', "larger than any number"),
        ("null", "a JSON null"),
    ],
)
async def test_arguments_that_are_no_json_object_are_not_executed_and_the_agent_is_told(raw: str, reason: str) -> None:
    """A07 (a), (b), (d), (e): raw text kept, parsed arguments null, an error output, the run goes on."""
    held, server = await one_call(raw)
    (call,) = held.record.tool_calls
    assert (call.arguments_raw, call.arguments, call.status) == (raw, None, "failed")
    assert reason in (call.parse_error or "")
    assert held.record.final_state["ran"] == []
    ((call_id, output),) = outputs(server)
    assert call_id == "call_1"
    assert reason in json.loads(output)["error"]
    assert (held.record.ending.kind, held.record.turns[0].agent_text) == ("completed", "Done")


@pytest.mark.case("A07")
async def test_empty_arguments_of_a_tool_that_requires_none_are_an_empty_object() -> None:
    """A07 (c)."""
    held, _ = await one_call("", name="ping")
    (call,) = held.record.tool_calls
    assert (call.arguments, call.status, call.parse_error) == ({}, "completed", None)
    assert held.record.final_state["ran"] == [["ping", {}]]


@pytest.mark.quirk(15)
@pytest.mark.behaviour(9)
async def test_the_same_call_in_four_places_is_one_call() -> None:
    """Behaviour 9, with a name that only the item tells (servers leave it out of arguments.done)."""
    item = call_item("ping", "{}")
    nameless = {key: value for key, value in call_done(item).items() if key != "name"}
    mirrored = {"type": "conversation.item.done", "item": item}
    script: list[Step] = [
        *setup(),
        *asked(),
        Send(call_added(item)),
        Send(nameless),
        Send(nameless),
        Send(item_done(item)),
        Send(mirrored),
        Send(done(output=[item])),
        *asked(),
        *text_reply("Done", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    assert [(call.name, call.status) for call in held.record.tool_calls] == [("ping", "completed")]
    assert len(outputs(server)) == 1
    assert held.record.final_state["ran"] == [["ping", {}]]


async def test_a_call_that_only_response_done_tells_of_is_executed() -> None:
    item = call_item("ping", "{}")
    script = [*setup(), *asked(), Send(done(output=[item])), *asked(), *text_reply("Done", "resp_2")]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    assert [call.name for call in held.record.tool_calls] == ["ping"]
    assert held.record.turns[0].agent_text == "Done"


@pytest.mark.behaviour(10)
async def test_text_goes_back_as_it_is_and_everything_else_as_json() -> None:
    """Behaviour 10."""
    executor = TableExecutor(
        {
            "find_table": ToolOutcome("completed", output="At seven."),
            "ping": ToolOutcome("completed", output={"ok": [1, None, "é"]}),
            "create_reservation": ToolOutcome("completed", output={"a": 1}, output_text='{"cut": '),
        }
    )
    items = [
        call_item("find_table", '{"date":"x"}', call_id="c1", item="i1"),
        call_item("ping", "{}", call_id="c2", item="i2"),
        call_item("create_reservation", '{"guest_name":"a","date":"b"}', call_id="c3", item="i3"),
    ]
    script = [*setup(), *asked(), *call_reply(items), *asked(), *text_reply("Done", "resp_2")]
    async with serving(script) as server:
        held = await hold(with_tools(server, executor=executor))
    assert outputs(server) == [("c1", "At seven."), ("c2", '{"ok": [1, null, "é"]}'), ("c3", '{"cut": ')]
    assert [call.output for call in held.record.tool_calls] == [
        "At seven.",
        {"ok": [1, None, "é"]},
        '{"cut": ',
    ]


async def test_a_declared_error_goes_back_and_the_call_has_failed() -> None:
    executor = TableExecutor({"ping": ToolOutcome("failed", error="the kitchen is closed")})
    script = [*setup(), *asked(), *call_reply([call_item("ping", "{}")]), *asked(), *text_reply("Sorry", "r2")]
    async with serving(script) as server:
        held = await hold(with_tools(server, executor=executor))
    assert outputs(server) == [("call_1", '{"error": "the kitchen is closed"}')]
    (call,) = held.record.tool_calls
    assert (call.status, call.error) == ("failed", "the kitchen is closed")
    assert call.answered_ms is not None
    assert call.answered_ms >= call.called_ms


@pytest.mark.behaviour(11)
async def test_a_tool_that_nobody_declared_is_kept_without_an_answer_or_a_new_request() -> None:
    """Behaviour 11."""
    script = [*setup(), *asked(), *call_reply([call_item("issue_refund", '{"eur": 5}')])]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    (call,) = held.record.tool_calls
    assert (call.status, call.arguments, call.answered_ms) == ("recorded", {"eur": 5}, None)
    assert only_session(server).types().count("response.create") == 1
    assert outputs(server) == []
    assert held.record.ending.kind == "completed"


async def test_an_executor_that_records_only_makes_no_new_request() -> None:
    executor = TableExecutor({"ping": ToolOutcome("recorded")})
    async with serving([*setup(), *asked(), *call_reply([call_item("ping", "{}")])]) as server:
        held = await hold(with_tools(server, executor=executor))
    assert [call.status for call in held.record.tool_calls] == ["recorded"]
    assert only_session(server).types().count("response.create") == 1


@pytest.mark.behaviour(12)
async def test_an_agent_that_always_calls_a_tool_ends_after_five_rounds_with_a_flag() -> None:
    """Behaviour 12."""
    rounds = [
        step
        for nth in range(6)
        for step in (
            *asked(),
            *call_reply([call_item("ping", "{}", call_id=f"c{nth}", item=f"i{nth}")], f"resp_{nth}"),
        )
    ]
    async with serving([*setup(), *rounds]) as server:
        held = await hold(with_tools(server))
    turn = held.record.turns[0]
    assert (turn.rounds, turn.status, turn.status_reason) == (5, "completed", "tool_rounds_limit")
    assert only_session(server).types().count("response.create") == 6
    assert len(held.record.final_state["ran"]) == len(outputs(server)) == 5
    assert [call.status for call in held.record.tool_calls] == [*["completed"] * 5, "recorded"]
    assert "more than 5 tool rounds" in known(held.record.tool_calls[5].error)
    assert "tool_rounds_limit=1" in held.record.warnings
    assert held.record.ending.kind == "completed"


@pytest.mark.behaviour(13)
async def test_the_done_tool_ends_the_session_unanswered_after_the_other_calls() -> None:
    """Behaviour 13; a call beside it still takes effect."""
    items = [
        call_item("end_session", "{}", call_id="c1", item="i1"),
        call_item("ping", "{}", call_id="c2", item="i2"),
    ]
    turns = tuple(plan("ws://x", text=text).turns[0] for text in ("One", "Two"))
    async with serving([*setup(), *asked(), *call_reply(items)]) as server:
        held = await hold(with_tools(server, turns=turns))
    assert [(call.name, call.status) for call in held.record.tool_calls] == [
        ("end_session", "recorded"),
        ("ping", "completed"),
    ]
    assert [call_id for call_id, _ in outputs(server)] == ["c2"]
    assert only_session(server).types().count("response.create") == 1
    assert len(held.record.turns) == 1
    assert (held.record.ending.kind, held.record.ending.code) == ("completed", "done_tool")


@pytest.mark.quirk(16, 17)
@pytest.mark.behaviour(34)
@pytest.mark.parametrize("status", ["cancelled", "incomplete"])
async def test_a_call_of_a_response_that_was_cut_off_is_kept_raw_and_not_executed(status: str) -> None:
    """Behaviour 34: partial arguments are not an error of the parser, and nothing is answered."""
    item = call_item("find_table", '{"date": "20', status="incomplete")
    script: list[Step] = [
        *setup(),
        *asked(),
        Send(created()),
        Send(call_added(item)),
        Send(call_delta(item, '{"date": "20')),
        Send(done(status=status)),
    ]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    (call,) = held.record.tool_calls
    assert (call.arguments_raw, call.arguments, call.status) == ('{"date": "20', None, "recorded")
    assert call.parse_error is not None
    assert call.error == f"the response ended {status} before the call was complete"
    assert outputs(server) == []
    assert held.record.turns[0].status == status


async def test_calls_are_on_the_timeline_with_what_came_of_them() -> None:
    held, _ = await one_call('{"date": "2027-05-15"}')
    called, result = held.of("tool.called")[0], held.of("tool.result")[0]
    assert called.payload["arguments"] == {"date": "2027-05-15"}
    assert (result.payload["status"], result.payload["output"]) == ("completed", {"free": True})
    assert called.source == result.source == "tool"
    assert called.seq < result.seq


async def test_a_slow_tool_answers_after_its_delay() -> None:
    executor = TableExecutor({"ping": ToolOutcome("completed", output={}, delay_ms=150)})
    script = [*setup(), *asked(), *call_reply([call_item("ping", "{}")]), *asked(), *text_reply("Ok", "r2")]
    async with serving(script) as server:
        held = await hold(with_tools(server, executor=executor))
    (call,) = held.record.tool_calls
    assert known(call.answered_ms) - call.called_ms >= 149


async def test_a_tool_that_never_answers_within_the_turn_is_an_answer_that_never_came() -> None:
    executor = TableExecutor({"ping": ToolOutcome("completed", output={}, delay_ms=60_000)})
    script = [*setup(), *asked(), *call_reply([call_item("ping", "{}")])]
    async with serving(script) as server:
        made = with_tools(server, executor=executor, timeouts=replace(QUICK, turn_s=0.3))
        held = await hold(made, within_s=5)
    assert held.record.ending.kind == "response_timeout"
    assert "tool ping" in held.record.ending.message
    assert held.record.turns[0].status == "timeout"
    assert [call.status for call in held.record.tool_calls] == ["failed"]


@pytest.mark.parametrize("name", ["broken", "hangs"])
async def test_an_executor_that_breaks_makes_the_trial_invalid_not_failed(name: str) -> None:
    script = [*setup(), *asked(), *call_reply([call_item(name, "{}")])]
    async with serving(script) as server:
        held = await hold(with_tools(server, timeouts=replace(QUICK, turn_s=0.3)), within_s=5)
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "tool_sandbox", name)
    assert [call.status for call in held.record.tool_calls] == ["failed"]


async def test_a_mistake_of_ours_in_the_executor_is_raised_and_not_hidden() -> None:
    class Faulty(TableExecutor):
        async def execute(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
            raise KeyError("our own mistake")

    script = [*setup(), *asked(), *call_reply([call_item("ping", "{}")])]
    async with serving(script) as server:
        with pytest.raises(KeyError, match="our own mistake"):
            await hold(with_tools(server, executor=Faulty({"ping": FREE})))
    assert server.open_sessions == 0


async def test_a_call_id_used_again_by_a_later_response_is_told_and_not_executed_again() -> None:
    again = call_reply([call_item("ping", "{}", item="item_c2")], "resp_2")
    script = [*setup(), *asked(), *call_reply([call_item("ping", "{}")]), *asked(), *again]
    async with serving(script) as server:
        held = await hold(with_tools(server))
    assert held.record.final_state["ran"] == [["ping", {}]]
    assert len(held.record.tool_calls) == 1
    assert any(warning.startswith("repeated_call_id=") for warning in held.record.warnings)
