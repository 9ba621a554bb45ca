"""What the server refuses: an error event that names the parameter and echoes the client's event, and life goes on."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.wire_client import Simulator

Json = Any
SESSION = {"type": "realtime"}


def message(**more: Json) -> dict[str, Json]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]} | more


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        ({"type": "session.update", "session": SESSION | {"voice": "x"}}, "unknown_parameter", "session.voice"),
        (
            {"type": "session.update", "session": SESSION | {"audio": {"input": {"turn_detector": None}}}},
            "unknown_parameter",
            "session.audio.input.turn_detector",
        ),
        ({"type": "session.update", "session": {}}, "missing_required_parameter", "session.type"),
        ({"type": "session.update", "session": {"type": "transcription"}}, "invalid_value", "session.type"),
        (
            {"type": "session.update", "session": SESSION | {"output_modalities": ["text", "audio"]}},
            "invalid_value",
            "session.output_modalities",
        ),
        (
            {"type": "session.update", "session": SESSION | {"tools": [{"type": "function"}]}},
            "missing_required_parameter",
            "session.tools[0].name",
        ),
        (
            {"type": "session.update", "session": SESSION | {"audio": {"output": {"format": {"type": "audio/opus"}}}}},
            "invalid_value",
            "session.audio.output.format.type",
        ),
        (
            {"type": "session.update", "session": SESSION | {"audio": {"output": {"format": {"rate": 24000}}}}},
            "missing_required_parameter",
            "session.audio.output.format.type",
        ),
        (
            {
                "type": "session.update",
                "session": SESSION | {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}}},
            },
            "invalid_value",
            "session.audio.input.format.rate",
        ),
        (
            {
                "type": "session.update",
                "session": SESSION | {"audio": {"input": {"format": {"type": "audio/pcmu", "rate": 8000}}}},
            },
            "unknown_parameter",
            "session.audio.input.format.rate",
        ),
        (
            {
                "type": "session.update",
                "session": SESSION
                | {"audio": {"input": {"turn_detection": {"type": "server_vad", "eagerness": "low"}}}},
            },
            "unknown_parameter",
            "session.audio.input.turn_detection.eagerness",
        ),
        (
            {
                "type": "session.update",
                "session": SESSION
                | {"audio": {"input": {"turn_detection": {"type": "semantic_vad", "threshold": 0.5}}}},
            },
            "unknown_parameter",
            "session.audio.input.turn_detection.threshold",
        ),
        (
            {"type": "session.update", "session": SESSION | {"audio": {"output": {"speed": 3}}}},
            "invalid_value",
            "session.audio.output.speed",
        ),
        ({"type": "session.update"}, "missing_required_parameter", "session"),
        ({"type": "session.refresh"}, "invalid_value", "type"),
        ({"type": "input_audio_buffer.append", "audio": "no base64!"}, "invalid_value", "audio"),
        ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty", None),
        ({"type": "response.create", "response": {"modalities": ["text"]}}, "unknown_parameter", "response.modalities"),
        (
            {"type": "response.create", "response": {"max_output_tokens": 0}},
            "invalid_value",
            "response.max_output_tokens",
        ),
        ({"type": "response.cancel"}, "response_cancel_not_active", None),
        ({"type": "conversation.item.delete", "item_id": "x"}, "item_delete_invalid_item_id", None),
        ({"type": "conversation.item.retrieve", "item_id": "x"}, "item_retrieve_invalid_item_id", None),
        (
            {"type": "conversation.item.truncate", "item_id": "x", "content_index": 0, "audio_end_ms": 1},
            "item_truncate_invalid_item_id",
            None,
        ),
        ({"type": "conversation.item.create", "item": message(id="a b")}, "invalid_value", "item.id"),
        ({"type": "conversation.item.create", "item": message(id="x" * 33)}, "string_above_max_length", "item.id"),
        ({"type": "conversation.item.create", "item": {"role": "user"}}, "missing_required_parameter", "item.type"),
        ({"type": "conversation.item.create", "item": {"type": "mcp_call"}}, "invalid_value", "item.type"),
        (
            {
                "type": "conversation.item.create",
                "item": message(content=[{"type": "input_image", "image_url": "data:"}]),
            },
            "invalid_value",
            "item.content[0].type",
        ),
        (
            {
                "type": "conversation.item.create",
                "item": message(role="assistant", content=[{"type": "output_audio", "transcript": "Hi"}]),
            },
            "invalid_value",
            "item.content[0].type",
        ),
        (
            {
                "type": "conversation.item.create",
                "item": {"type": "function_call_output", "call_id": "c", "output": ""},
            },
            "invalid_tool_call_id",
            "item.call_id",
        ),
        (
            {"type": "conversation.item.create", "item": message(), "previous_item_id": "nowhere"},
            "item_create_invalid_previous_item_id",
            "previous_item_id",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_by_name(
    simulator: Simulator, event: dict[str, Json], code: str, param: str | None
) -> None:
    async with simulator.session() as wire:
        await wire.until("session.created")
        await wire.send(**event, event_id="mine_1")
        error = await wire.refused()
        assert (error["code"], error["param"], error["event_id"]) == (code, param, "mine_1")
        assert error["type"] == "invalid_request_error"
        assert error["message"].endswith((".", "found", "exist"))
        updated = await wire.setup()  # the session lives
        assert updated["session"]["tools"] == []


async def test_a_frame_that_is_no_event_is_refused_and_the_session_lives(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.until("session.created")
        for frame, code in (("{", "invalid_json"), ("[]", "invalid_event"), ('{"session": {}}', "invalid_event")):
            await wire.socket.send(frame)
            assert (await wire.refused())["code"] == code
        await wire.setup()


async def test_a_refused_update_changes_nothing_at_all(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        before = (await wire.setup(instructions="First."))["session"]
        bad = {"type": "realtime", "instructions": "Second.", "audio": {"input": {"format": {"type": "audio/opus"}}}}
        await wire.send("session.update", session=bad)
        assert "Supported values are: 'audio/pcm', 'audio/pcmu', 'audio/pcma'" in (await wire.refused())["message"]
        assert (await wire.setup())["session"] == before


async def test_null_clears_what_it_may_clear_and_an_absent_key_stays(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        heard = {"input": {"transcription": {"model": "sim-ear"}}}
        first = (await wire.setup(instructions="Hi.", tools=RESTAURANT, audio=heard))["session"]
        assert first["audio"]["input"]["transcription"] == {"model": "sim-ear"}
        second = (await wire.setup(audio={"input": {"transcription": None}}))["session"]
        assert second["audio"]["input"]["transcription"] is None
        assert (second["instructions"], second["tools"]) == ("Hi.", first["tools"])
        third = (await wire.setup(tools=[], instructions=""))["session"]
        assert (third["instructions"], third["tools"]) == ("", [])


async def test_a_second_response_is_refused_while_one_is_under_way(simulator: Simulator) -> None:
    async with simulator.session(latency_ms=60_000) as wire:
        await wire.setup()
        await wire.send("response.create")
        await wire.send("response.create", event_id="second")
        await wire.until("response.created")
        error = await wire.refused()
        assert (error["code"], error["event_id"]) == ("conversation_already_has_active_response", "second")
        await wire.send("response.cancel")
        await wire.until("response.done")


async def test_the_voice_is_locked_once_the_agent_has_spoken(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(output_modalities=["audio"], audio={"output": {"voice": "agent"}})
        await wire.say("Hello")
        await wire.send("session.update", session={"type": "realtime", "audio": {"output": {"voice": "caller"}}})
        assert (await wire.refused())["code"] == "cannot_update_voice"
        await wire.setup(audio={"output": {"voice": "agent"}})


async def test_an_item_goes_where_its_predecessor_says(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup()
        for name, previous in (("a", None), ("c", None), ("b", "a"), ("first", "root")):
            await wire.send("conversation.item.create", item=message(id=name), previous_item_id=previous)
            await wire.until("conversation.item.done")
        order = {event["item"]["id"]: event["previous_item_id"] for event in wire.all("conversation.item.added")}
        assert order == {"a": None, "c": "a", "b": "a", "first": None}
        await wire.send("conversation.item.create", item=message(id="a"))
        assert "already exists" in (await wire.refused())["message"]
        await wire.send("conversation.item.delete", item_id="a")
        assert (await wire.until("conversation.item.deleted"))["item_id"] == "a"


async def test_an_append_over_15_mib_is_refused(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup()
        await wire.send("input_audio_buffer.append", audio=base64.b64encode(bytes(15 * 1024 * 1024 + 2)).decode())
        assert "15 MiB" in (await wire.refused())["message"]
        await wire.send("input_audio_buffer.append", audio=base64.b64encode(bytes(15 * 1024 * 1024)).decode())
        await wire.send("input_audio_buffer.clear")
        await wire.until("input_audio_buffer.cleared")


@pytest.mark.parametrize(("milliseconds", "taken"), [(99, False), (100, True)])
async def test_a_commit_needs_100_ms(simulator: Simulator, milliseconds: int, taken: bool) -> None:
    async with simulator.session() as wire:
        await wire.setup()
        await wire.append(np.zeros(milliseconds * 24, np.int16))
        await wire.send("input_audio_buffer.commit")
        if taken:
            await wire.until("input_audio_buffer.committed")
        else:
            assert f"only has {milliseconds}.00ms" in (await wire.refused())["message"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("latency_ms", "fast", "from 0 to 600000, not 'fast'"),
        ("audio_speed", "0.5", "from 1 to 1000"),
        ("fault", "close_42", "unknown fault 'close_42'; known faults: acknowledgement_only, "),
        ("fault", "text_only@2", "from 0 to 1, not '2'"),
        ("colour", "red", "known options: x-sim-audio-speed, "),
    ],
)
async def test_an_option_that_cannot_be_read_is_named(simulator: Simulator, option: str, value: str, told: str) -> None:
    options: dict[str, Json] = {option: value}
    async with simulator.session(**options) as wire:
        error = await wire.refused()
    assert error["param"] == f"x-sim-{option.replace('_', '-')}"
    assert told in error["message"]


async def test_options_may_come_in_the_query_or_after_the_models_name(simulator: Simulator) -> None:
    for query in (":fault=array_arguments", "&x-sim-fault=array_arguments"):
        async with simulator.session(query=query) as wire:
            await wire.setup(tools=RESTAURANT, instructions=context())
            call = (await wire.say(BOOK))["response"]["output"][0]
            assert call["arguments"].startswith("[{")
            assert wire.events[0]["session"]["model"] == "sim-clerk"
