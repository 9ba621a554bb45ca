"""The beta dialect over the socket; every frame is held against the beta types of the openai package."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.wire_client import BETA_SHAPES, Event, Simulator, Wire, spoken

Json = Any
MANUAL = {"turn_detection": None}


async def update(wire: Wire, **session: Json) -> Event:
    if not wire.events:
        await wire.until("session.created")
    await wire.send("session.update", session=session)
    return await wire.until("session.updated")


async def test_the_session_is_flat_and_keeps_what_it_is_given(simulator: Simulator) -> None:
    async with simulator.beta_session() as wire:
        created = (await wire.until("session.created"))["session"]
        assert created["modalities"] == ["audio", "text"]
        assert (created["input_audio_format"], created["output_audio_format"]) == ("pcm16", "pcm16")
        assert (created["temperature"], created["max_response_output_tokens"]) == (0.8, "inf")
        assert not {"audio", "type", "output_modalities"} & set(created)
        asked = {
            "modalities": ["text"],
            "voice": "caller",
            "temperature": 0.9,
            "max_response_output_tokens": 500,
            "input_audio_transcription": {"model": "sim-ear"},
            "instructions": "Be kind.",
        }
        updated = (await update(wire, **asked))["session"]
    assert {name: updated[name] for name in asked} == asked
    assert updated | asked == updated


async def test_a_written_turn_with_a_call_has_the_beta_names(simulator: Simulator) -> None:
    async with simulator.beta_session() as wire:
        await update(wire, modalities=["text"], tools=RESTAURANT, instructions=context(), tool_choice="auto")
        wire.events.clear()
        response = (await wire.say(BOOK))["response"]
        (call,) = response["output"]
        assert json.loads(call["arguments"])["guest_name"] == "Maya"
        assert (response["modalities"], response["output_audio_format"]) == (["text"], "pcm16")
        assert "name" not in wire.all("response.function_call_arguments.done")[0]
        created = wire.all("conversation.item.created")
        assert [event["item"]["type"] for event in created] == ["message", "function_call"]
        done = await wire.answer(call["call_id"], {"ok": True, "reservation_id": "H-9"})
    assert done["response"]["output"][0]["content"] == [{"type": "text", "text": "It is booked: number H-9."}]
    assert wire.joined("response.text.delta") == "It is booked: number H-9."
    assert set(wire.types()) <= set(BETA_SHAPES) - {"conversation.item.added"}


async def test_a_spoken_turn_has_the_beta_names(simulator: Simulator) -> None:
    samples = await spoken(simulator, "Do you have parking?")
    async with simulator.beta_session() as wire:
        await update(wire, instructions=context(), **MANUAL)
        await wire.append(samples)
        await wire.send("input_audio_buffer.commit")
        response = (await wire.ask(modalities=["audio", "text"]))["response"]
        (item,) = response["output"]
        assert item["content"] == [{"type": "audio", "transcript": "There is free parking behind the house."}]
        assert wire.joined("response.audio_transcript.delta") == "There is free parking behind the house."
        await wire.send("conversation.item.truncate", item_id=item["id"], content_index=0, audio_end_ms=100)
        await wire.until("conversation.item.truncated")
    assert len(wire.all("response.audio.delta")) > 5
    assert set(wire.types()) <= set(BETA_SHAPES)
    assert not {name for name in wire.types() if ".output_text" in name or ".output_audio" in name}
    assert not {"conversation.item.added", "conversation.item.done"} & set(wire.types())


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        ({"type": "session.update", "session": {"type": "realtime"}}, "unknown_parameter", "session.type"),
        ({"type": "session.update", "session": {"audio": {}}}, "unknown_parameter", "session.audio"),
        (
            {"type": "session.update", "session": {"output_modalities": ["text"]}},
            "unknown_parameter",
            "session.output_modalities",
        ),
        ({"type": "session.update", "session": {"modalities": ["audio"]}}, "invalid_value", "session.modalities"),
        ({"type": "session.update", "session": {"temperature": 2}}, "invalid_value", "session.temperature"),
        (
            {"type": "session.update", "session": {"input_audio_format": "mp3"}},
            "invalid_value",
            "session.input_audio_format",
        ),
        (
            {"type": "response.create", "response": {"output_modalities": ["text"]}},
            "unknown_parameter",
            "response.output_modalities",
        ),
        ({"type": "response.create", "response": {"metadata": 1}}, "invalid_value", "response.metadata"),
        ({"type": "conversation.item.create", "item": {"role": "user"}}, "missing_required_parameter", "item.type"),
    ],
)
async def test_keys_of_the_other_dialect_are_refused_by_name(
    simulator: Simulator, event: Event, code: str, param: str
) -> None:
    async with simulator.beta_session() as wire:
        await wire.until("session.created")
        await wire.send(**event, event_id="mine_1")
        error = await wire.refused()
        assert (error["code"], error["param"], error["event_id"]) == (code, param, "mine_1")
        await update(wire, instructions="The session lives.")


async def test_a_refused_update_changes_nothing_and_names_the_beta_key(simulator: Simulator) -> None:
    async with simulator.beta_session() as wire:
        await update(wire, voice="agent", **MANUAL)
        await wire.say("Hello")
        await wire.send("session.update", session={"voice": "caller", "temperature": 1.1})
        error = await wire.refused()
        assert (error["code"], error["param"]) == ("cannot_update_voice", "session.voice")
        assert (await update(wire, instructions="Hi."))["session"]["temperature"] == 0.8


@pytest.mark.parametrize("choice", [{"type": "function", "function": {"name": "create_reservation"}}, "required"])
async def test_a_function_may_be_demanded_in_the_beta_shape(simulator: Simulator, choice: Json) -> None:
    async with simulator.beta_session() as wire:
        await update(wire, modalities=["text"], tools=RESTAURANT, instructions=context())
        response = (await wire.say(BOOK, tool_choice=choice))["response"]
    assert [item["name"] for item in response["output"]] == ["create_reservation"]


async def test_history_may_hold_replies_in_the_beta_shape(simulator: Simulator) -> None:
    async with simulator.beta_session() as wire:
        await update(wire, modalities=["text"], instructions=context())
        content = [{"type": "text", "text": "May I have your name?"}]
        await wire.send("conversation.item.create", item={"type": "message", "role": "assistant", "content": content})
        assert (await wire.until("conversation.item.created"))["item"]["content"] == content


async def test_a_subprotocol_and_azures_old_address_choose_the_beta_too(simulator: Simulator) -> None:
    offered = [Subprotocol("realtime"), Subprotocol("openai-beta.realtime-v1")]
    async with connect(f"{simulator.ws}/v1/realtime?model=x", subprotocols=offered, proxy=None) as socket:
        assert "modalities" in json.loads(await socket.recv())["session"]
    url = f"{simulator.ws}/openai/realtime?api-version=2025-04-01-preview&deployment=front-desk"
    async with connect(url, additional_headers={"api-key": "none"}, proxy=None) as socket:
        session = json.loads(await socket.recv())["session"]
    assert (session["model"], session["input_audio_format"]) == ("front-desk", "pcm16")


async def test_azures_ga_address_refuses_a_version(simulator: Simulator) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"{simulator.ws}/openai/v1/realtime?model=x&api-version=2025-04-01", proxy=None):
            pass
    assert refused.value.response.status_code == 401


async def test_a_server_that_has_given_up_the_beta_says_so_and_closes(simulator: Simulator) -> None:
    async with simulator.beta_session(fault="beta_disabled") as wire:
        assert (await wire.refused())["code"] == "beta_api_shape_disabled"
        with pytest.raises(ConnectionClosed) as closed:
            await wire.socket.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4000, "invalid_request_error.beta_api_shape_disabled")
