"""The order and the shapes of server events; every frame is validated against the openai package by the client."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.simulator.desks import RESTAURANT, context
from tests.simulator.wire_client import SHAPES, Simulator, check_shape

BOOK = "Book a table for Maya on June 12 at 7 p.m. for two."


async def test_the_first_frame_is_session_created_with_a_whole_session(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        created = await wire.receive()
    assert created["type"] == "session.created"
    session = created["session"]
    assert (session["type"], session["object"], session["model"]) == ("realtime", "realtime.session", "sim-clerk")
    assert session["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    assert session["id"].startswith("sess_")


async def test_a_written_turn_has_its_events_in_order(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(instructions="Be kind." + context())
        wire.events.clear()
        done = await wire.say("Do you have parking?", metadata={"turn": "1"})
    once = [name for number, name in enumerate(wire.types()) if name not in wire.types()[:number]]
    assert [name for name in wire.types() if not name.endswith(".delta")] == [
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "conversation.item.done",
        "rate_limits.updated",
        "response.done",
    ]
    assert once.index("response.content_part.added") < once.index("response.output_text.delta")
    response = done["response"]
    assert (response["status"], response["metadata"]) == ("completed", {"turn": "1"})
    assert wire.joined("response.output_text.delta") == "There is free parking behind the house."
    assert response["output"][0]["content"] == [
        {"type": "output_text", "text": "There is free parking behind the house."}
    ]
    assert wire.all("response.content_part.added")[0]["part"]["type"] == "text"


async def test_a_call_is_mirrored_before_its_arguments_are_done(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions="Be kind." + context())
        wire.events.clear()
        done = await wire.say(BOOK)
    names = wire.types()
    added = [place for place, name in enumerate(names) if name == "conversation.item.added"][1]
    assert added < names.index("response.function_call_arguments.delta")
    assert wire.events[added]["item"] | {"id": "", "call_id": ""} == {
        "id": "",
        "object": "realtime.item",
        "type": "function_call",
        "status": "in_progress",
        "name": "create_reservation",
        "call_id": "",
        "arguments": "",
    }
    (arguments,) = wire.all("response.function_call_arguments.done")
    assert arguments["name"] == "create_reservation"
    assert arguments["arguments"] == wire.joined("response.function_call_arguments.delta")
    assert json.loads(arguments["arguments"]) == {
        "guest_name": "Maya",
        "date": "2027-06-12",
        "time": "19:00",
        "party_size": 2,
    }
    (call,) = done["response"]["output"]
    assert (call["type"], call["status"], call["arguments"]) == ("function_call", "completed", arguments["arguments"])


async def test_after_its_output_the_clerk_says_the_result(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions="Be kind." + context())
        call = (await wire.say(BOOK))["response"]["output"][0]
        done = await wire.answer(call["call_id"], {"ok": True, "reservation_id": "H-9", "date": "2027-06-12"})
    assert done["response"]["output"][0]["content"][0]["text"] == "It is booked: number H-9, on June 12."


async def test_usage_is_an_object_that_adds_up_and_tells_what_was_read_before(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions="Be kind." + context())
        first = (await wire.say(BOOK))["response"]
        second = (await wire.answer(first["output"][0]["call_id"], {"ok": True}))["response"]
    for usage in (first["usage"], second["usage"]):
        inputs, outputs = usage["input_token_details"], usage["output_token_details"]
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
        assert usage["input_tokens"] == inputs["text_tokens"] + inputs["audio_tokens"]
        assert usage["output_tokens"] == outputs["text_tokens"] + outputs["audio_tokens"] > 0
    assert first["usage"]["input_token_details"]["cached_tokens"] == 0
    assert second["usage"]["input_token_details"]["cached_tokens"] == first["usage"]["input_tokens"]
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]


async def test_ids_are_unique_and_short_enough_for_every_client(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions="Be kind." + context())
        await wire.say(BOOK)
    assert max(Counter(event["event_id"] for event in wire.events).values()) == 1
    for event in wire.events:
        for name in ("item_id", "response_id", "call_id"):
            assert len(event.get(name, "")) <= 32


async def test_a_response_out_of_the_conversation_leaves_no_trace_in_it(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(instructions="Be kind." + context())
        wire.events.clear()
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do you have parking?"}]}
        done = await wire.ask(conversation="none", input=[item], output_modalities=["text"])
        assert not wire.all("conversation.item.added")
        assert done["response"]["conversation_id"] is None
        assert done["response"]["output"][0]["content"][0]["text"] == "There is free parking behind the house."
        await wire.send("conversation.item.retrieve", item_id=done["response"]["output"][0]["id"])
        assert (await wire.refused())["code"] == "item_retrieve_invalid_item_id"


async def test_a_token_limit_ends_the_reply_as_incomplete(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(instructions="Be kind." + context())
        response = (await wire.say("Do you have parking?", max_output_tokens=3))["response"]
    assert response["status"] == "incomplete"
    assert response["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}
    assert response["output"][0]["content"][0]["text"] == "There is free"


async def test_the_settings_of_one_response_do_not_stay(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(instructions="Be kind." + context(), tools=RESTAURANT)
        once = await wire.say(BOOK, tools=[], tool_choice="none")
        assert once["response"]["output"][0]["type"] == "message"
        again = await wire.say(BOOK)
        assert again["response"]["output"][0]["type"] == "function_call"


@pytest.mark.parametrize("path", ["/v1/realtime", "/openai/v1/realtime", "/v1/realtime/"])
async def test_the_agent_answers_on_every_path_that_clients_use(simulator: Simulator, path: str) -> None:
    from websockets.asyncio.client import connect

    async with connect(f"{simulator.ws}{path}?model=anything", proxy=None) as socket:
        created = json.loads(await socket.recv())
    assert created["session"]["model"] == "anything"


async def test_a_client_that_offers_subprotocols_gets_realtime(simulator: Simulator) -> None:
    from websockets.asyncio.client import connect
    from websockets.typing import Subprotocol

    offered = [Subprotocol("realtime"), Subprotocol("openai-insecure-api-key.ek_1")]
    async with connect(f"{simulator.ws}/v1/realtime?model=x", subprotocols=offered, proxy=None) as socket:
        assert socket.subprotocol == "realtime"


def test_the_client_of_these_tests_knows_every_event_of_the_package() -> None:
    assert len(SHAPES) >= 40
    assert "response.output_audio.delta" in SHAPES


@pytest.mark.parametrize(
    ("change", "value"),
    [("surprise", 1), ("response_id", None), ("delta", 7)],
    ids=["a key too many", "a key of the wrong kind", "a number for text"],
)
def test_the_client_of_these_tests_sees_what_is_wrong(change: str, value: object) -> None:
    event = {"type": "response.output_text.delta", "event_id": "e", "item_id": "i", "response_id": "r", "delta": "x"}
    event |= {"output_index": 0, "content_index": 0}  # type: ignore[dict-item]
    check_shape(event)
    with pytest.raises((AssertionError, ValueError)):
        check_shape(event | {change: value})
