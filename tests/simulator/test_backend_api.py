"""The clerk behind a voice: `/v1/responses` with function tools, and a voice that hands its work on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import APIStatusError, AsyncOpenAI

from runs_app.simulator.clerk import Call, Say
from runs_app.simulator.front import decide, errands
from runs_app.simulator.lines import Answered, Called, Said
from tests.simulator.demo import APPLICATIONS, CONVERSATIONS, LIVE_CLIENT
from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.wire_client import Simulator

QUICK = "sim-clerk:latency-ms=0:jitter-ms=0"
ERRANDS = "To book a table, you need the guest name, the date and the time.\nAsk for every detail that is missing."
DELEGATE = {
    "type": "function",
    "name": "delegate",
    "parameters": {"type": "object", "properties": {"request": {"type": "string"}}, "required": ["request"]},
}


def client(simulator: Simulator) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{simulator.http}/v1", api_key="none", max_retries=0)


async def test_the_clerk_calls_a_function_and_tells_its_output(simulator: Simulator) -> None:
    async with client(simulator) as openai:
        asked: dict[str, Any] = {"model": QUICK, "instructions": context(), "tools": RESTAURANT}
        said: list[Any] = [{"role": "user", "content": BOOK}]
        first = await openai.responses.create(input=said, **asked)
        (call,) = (item for item in first.output if item.type == "function_call")
        assert call.name == "create_reservation"
        output = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": json.dumps({"ok": True, "id": "R-9"}),
        }
        second = await openai.responses.create(input=[*said, call.model_dump(), output], **asked)
    assert "R-9" in second.output_text
    assert (second.status, second.model) == ("completed", "sim-clerk")
    assert second.usage is not None
    assert second.usage.total_tokens > 10


@pytest.mark.parametrize(
    ("model", "given", "status", "code"),
    [
        (f"{QUICK}:fault=refuse_401", "Hello", 401, "refused_401"),
        ("sim-clerk:latency=9", "Hello", 400, "invalid_value"),
        (QUICK, [], 400, "invalid_value"),
        (QUICK, [{"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"}], 400, "invalid_value"),
        (QUICK, [{"type": "function_call_output", "call_id": "c", "output": "x"}], 400, "invalid_value"),
        (QUICK, [{"type": "item_reference", "id": "x"}], 400, "invalid_value"),
        (QUICK, [{"role": "user"}], 400, "invalid_value"),
    ],
)
async def test_what_cannot_be_answered_is_refused(
    simulator: Simulator, model: str, given: Any, status: int, code: str
) -> None:
    async with client(simulator) as openai:
        with pytest.raises(APIStatusError) as caught:
            await openai.responses.create(model=model, input=given)
    assert (caught.value.status_code, caught.value.code) == (status, code)


async def test_a_response_fails_on_request(simulator: Simulator) -> None:
    async with client(simulator) as openai:
        response = await openai.responses.create(model=f"{QUICK}:fault=insufficient_quota", input="Hello")
    assert (response.status, response.error is not None and response.error.code) == ("failed", "insufficient_quota")


def test_errands_are_read_from_the_instructions_and_not_from_their_json() -> None:
    block = '```json\n{"x": "To fly you need wings."}\n```'
    told = f"{ERRANDS}\nTo cancel your reservation we need its reservation id.\n{block}"
    found = {one["name"]: one["parameters"]["required"] for one in errands(told)}
    assert found == {"book_table": ["guest_name", "date", "time"], "cancel_reservation": ["reservation_id"]}
    assert errands("Be kind.") == []


def front(*lines: Any, instructions: str = ERRANDS) -> Any:
    (output,) = decide(instructions=instructions, tools=[DELEGATE], tool_choice="auto", lines=lines).outputs
    return output


def test_a_voice_asks_by_itself_for_what_its_errands_need_and_hands_on_the_whole_request() -> None:
    asked = Said("user", "Book a table on May 14 at 7 p.m. please.")
    assert isinstance(question := front(asked), Say)
    assert "name" in question.text
    assert front(asked, Said("assistant", question.text), Said("user", "Maya.")) == Call(
        "delegate", {"request": "Book a table on May 14 at 7 p.m. please. Maya."}
    )


def test_a_voice_without_errands_hands_on_whatever_is_no_small_talk() -> None:
    assert isinstance(front(Said("user", "Hello there!"), instructions=""), Say)
    assert isinstance(front(Said("user", "Book a table for Maya."), instructions=""), Call)


def test_the_voice_of_the_demo_hands_on_what_its_conversation_wants_of_the_back_office() -> None:
    desk, house = LIVE_CLIENT.instructions, APPLICATIONS["Copper Heron"].facts
    told = f"{desk}\n```json\n{json.dumps({'business_facts': house})}\n```"
    persona = CONVERSATIONS[0].persona
    assert persona is not None
    said = {step.id: front(Said("user", step.words), instructions=told) for step in persona.agenda if step.words}
    assert {step for step, output in said.items() if isinstance(output, Call)} == {
        "free",
        "four",
    }  # the rest it can say itself


def test_what_came_back_is_said_as_it_is() -> None:
    lines = [Said("user", "Book it."), Called("c", "delegate", "{}"), Answered("c", "It is booked.")]
    assert front(*lines) == Say("It is booked.")
