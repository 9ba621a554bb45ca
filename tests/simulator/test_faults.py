"""Every fault does what its name says, on a real socket; with a probability, the seed decides."""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from runs_app.simulator.faults import NAMES, REFUSALS, UnknownFaultError, read_faults
from runs_app.simulator.instructions import read_policy
from runs_app.simulator.options import NUMBERS, TEXTS
from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.test_live_faults import PROVEN_LIVE
from tests.simulator.wire_client import Simulator, Wire, check_shape
from tests.simulator.wording_table import ASKED

Json = Any
PROVEN: set[str] = set()  # by the tests below; the last one compares it with what there is


def proves(*names: str) -> None:
    assert set(names) <= NAMES
    PROVEN.update(names)


proves("refuse_401", "refuse_403", "refuse_404", "refuse_429", "refuse_500", "refuse_503")


@pytest.mark.parametrize(("name", "status"), REFUSALS.items())
async def test_a_handshake_is_refused_with_its_status(simulator: Simulator, name: str, status: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with simulator.session(fault=name):
            pass
    assert refused.value.response.status_code == status


async def test_an_unknown_path_is_refused_with_404(simulator: Simulator) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"{simulator.ws}/v1/realtimes", proxy=None):
            pass
    assert refused.value.response.status_code == 404


async def closed_with(wire: Wire) -> int | None:
    while True:
        try:
            await wire.receive()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


proves("invalid_api_key", "session_limit", "beta_disabled")


@pytest.mark.parametrize(
    ("name", "code", "close"),
    [
        ("invalid_api_key", "invalid_api_key", 3000),
        ("session_limit", "session_limit_reached", 1008),
        ("beta_disabled", "beta_api_shape_disabled", 4000),
    ],
)
async def test_a_session_that_never_starts(simulator: Simulator, name: str, code: str, close: int) -> None:
    async with simulator.session(fault=name) as wire:
        assert (await wire.refused())["code"] == code
        assert await closed_with(wire) == close


proves("silent_start", "no_session_updated", "delay_session_updated")


async def test_a_silent_start_answers_all_the_same(simulator: Simulator) -> None:
    async with simulator.session(fault="silent_start") as wire:
        await wire.send("input_audio_buffer.clear")
        assert (await wire.receive())["type"] == "input_audio_buffer.cleared"


async def test_session_updated_never_comes_though_the_update_holds(simulator: Simulator) -> None:
    async with simulator.session(fault="no_session_updated") as wire:
        await wire.until("session.created")
        update = {"type": "realtime", "output_modalities": ["text"], "instructions": context()}
        await wire.send("session.update", session=update)
        done = await wire.say("Do you have parking?")
    assert done["response"]["output"][0]["content"][0]["text"] == "There is free parking behind the house."
    assert "session.updated" not in wire.types()


async def test_session_updated_comes_late(simulator: Simulator) -> None:
    async with simulator.session(fault="delay_session_updated", fault_delay_ms=250) as wire:
        await wire.until("session.created")
        asked = time.monotonic()
        await wire.setup()
        assert time.monotonic() - asked >= 0.25


async def booking(simulator: Simulator, fault: str, *, strict: bool = True, **options: Json) -> tuple[Wire, Json]:
    """A written booking under a fault: the session and its response."""
    async with simulator.session(fault=fault, strict=strict, **options) as wire:
        await wire.setup(tools=RESTAURANT, instructions=context())
        return wire, (await wire.say(BOOK))["response"]


async def parking(simulator: Simulator, fault: str, *, modality: str = "text") -> tuple[Wire, Json]:
    async with simulator.session(fault=fault) as wire:
        await wire.setup(instructions=context(), output_modalities=[modality])
        return wire, (await wire.say("Do you have parking?"))["response"]


proves("insufficient_quota", "rate_limited", "server_error")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("insufficient_quota", "insufficient_quota"),
        ("rate_limited", "rate_limit_exceeded"),
        ("server_error", "server_error"),
    ],
)
async def test_a_failed_response_tells_its_code_and_costs_nothing(simulator: Simulator, fault: str, code: str) -> None:
    _, response = await booking(simulator, fault)
    assert response["status"] == "failed"
    assert response["status_details"]["error"]["code"] == code
    assert response["usage"]["total_tokens"] == 0
    assert response["output"] == []


proves("invalid_json_arguments", "empty_arguments", "array_arguments", "trailing_arguments")


@pytest.mark.parametrize(
    "fault", ["invalid_json_arguments", "empty_arguments", "array_arguments", "trailing_arguments"]
)
async def test_spoilt_arguments_are_the_same_in_every_event(simulator: Simulator, fault: str) -> None:
    wire, response = await booking(simulator, fault)
    (done,) = wire.all("response.function_call_arguments.done")
    text = done["arguments"]
    assert text == wire.joined("response.function_call_arguments.delta") == response["output"][0]["arguments"]
    if fault == "array_arguments":
        assert json.loads(text)[0]["guest_name"] == "Maya"
    else:
        with pytest.raises(ValueError):
            json.loads(text)


proves("parallel_calls", "missing_name", "no_created", "null_usage", "duplicate_events")


async def test_parallel_calls_interleave_their_arguments(simulator: Simulator) -> None:
    wire, response = await booking(simulator, "parallel_calls")
    first, second = response["output"]
    assert first["name"] == second["name"] == "create_reservation"
    assert first["call_id"] != second["call_id"]
    places = [event["output_index"] for event in wire.all("response.function_call_arguments.delta")]
    assert places[:4] == [0, 1, 0, 1]


async def test_parallel_calls_are_the_whole_plan_where_it_has_several(simulator: Simulator) -> None:
    async with simulator.session(fault="parallel_calls") as wire:
        await wire.setup(tools=RESTAURANT, instructions="Check availability first." + context())
        response = (await wire.say(BOOK))["response"]
    assert [call["name"] for call in response["output"]] == ["check_availability", "create_reservation"]


async def test_the_name_is_missing_in_arguments_done_only(simulator: Simulator) -> None:
    wire, response = await booking(simulator, "missing_name", strict=False)
    (done,) = wire.all("response.function_call_arguments.done")
    assert "name" not in done
    assert response["output"][0]["name"] == "create_reservation"


async def test_a_response_without_its_created(simulator: Simulator) -> None:
    wire, response = await booking(simulator, "no_created")
    assert "response.created" not in wire.types()
    assert response["status"] == "completed"


async def test_usage_may_be_null(simulator: Simulator) -> None:
    _, response = await booking(simulator, "null_usage")
    assert response["usage"] is None


async def test_every_event_of_a_response_comes_twice(simulator: Simulator) -> None:
    async with simulator.session(fault="duplicate_events") as wire:
        await wire.setup(tools=RESTAURANT, instructions=context())
        await wire.say(BOOK)
        await wire.until("response.done")
    start = wire.types().index("response.created")
    events = wire.events[start:]
    assert events[::2] == events[1::2]


proves("text_only", "late_audio", "odd_audio", "dangling_byte", "leading_silence")


async def test_text_though_audio_was_asked_for(simulator: Simulator) -> None:
    wire, response = await parking(simulator, "text_only", modality="audio")
    assert not wire.sound()
    assert response["output"][0]["content"][0]["type"] == "output_text"
    assert response["output_modalities"] == ["audio"]


async def test_the_last_sound_may_come_after_audio_done(simulator: Simulator) -> None:
    plain, _ = await parking(simulator, "", modality="audio")
    late, _ = await parking(simulator, "late_audio", modality="audio")
    names = late.types()
    assert names.index("response.output_audio.done") < len(names) - 1 - names[::-1].index("response.output_audio.delta")
    assert late.sound() == plain.sound()


async def test_odd_cuts_join_to_the_same_sound(simulator: Simulator) -> None:
    plain, _ = await parking(simulator, "", modality="audio")
    odd, _ = await parking(simulator, "odd_audio", modality="audio")
    dangling, _ = await parking(simulator, "odd_audio,dangling_byte", modality="audio")
    assert odd.sound() == plain.sound()
    assert dangling.sound() == plain.sound() + b"\0"


async def test_silence_may_lead_the_sound(simulator: Simulator) -> None:
    plain, _ = await parking(simulator, "", modality="audio")
    silent, _ = await parking(simulator, "leading_silence", modality="audio")
    assert silent.sound() == bytes(400 * 48) + plain.sound()


proves("max_output_tokens", "content_filter")


@pytest.mark.parametrize(("fault", "outputs"), [("max_output_tokens", 1), ("content_filter", 0)])
async def test_a_reply_may_be_incomplete(simulator: Simulator, fault: str, outputs: int) -> None:
    _, response = await parking(simulator, fault)
    assert response["status"] == "incomplete"
    assert response["status_details"] == {"type": "incomplete", "reason": fault}
    assert len(response["output"]) == outputs


proves("error_null_event_id", "unknown_event", "bad_frame")


async def test_a_harmless_error_comes_in_the_middle(simulator: Simulator) -> None:
    wire, response = await parking(simulator, "error_null_event_id")
    (error,) = wire.all("error")
    assert error["error"]["event_id"] is None
    assert "response.output_text.delta" in wire.types()[wire.types().index("error") :]
    assert response["status"] == "completed"


async def test_an_unknown_event_and_a_broken_frame_come_in_the_middle(simulator: Simulator) -> None:
    async with simulator.session(fault="unknown_event,bad_frame", strict=False) as wire:
        await wire.setup(instructions=context())
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do you have parking?"}]}
        await wire.send("conversation.item.create", item=item)
        await wire.send("response.create")
        await wire.until("simulator.weather.updated")
        with pytest.raises(ValueError):
            await wire.receive()
        assert (await wire.until("response.done"))["response"]["status"] == "completed"


proves("close_1001", "close_1011", "close_4000", "session_expired")


@pytest.mark.parametrize(
    ("fault", "code"),
    [("close_1001", 1001), ("close_1011", 1011), ("close_4000", 4000), ("session_expired", 1001)],
)
async def test_the_socket_closes_in_the_middle_of_a_reply(simulator: Simulator, fault: str, code: int) -> None:
    async with simulator.session(fault=fault) as wire:
        await wire.setup(output_modalities=["audio"], instructions=context())
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do you have parking?"}]}
        await wire.send("conversation.item.create", item=item)
        await wire.send("response.create")
        assert await closed_with(wire) == code
    assert wire.sound()
    assert "response.done" not in wire.types()
    assert [error["error"]["code"] for error in wire.all("error")] == ["session_expired"] * (fault == "session_expired")


proves("never_answer", "drop_response_done")


async def test_an_agent_that_never_answers_can_still_be_cancelled(simulator: Simulator) -> None:
    async with simulator.session(fault="never_answer") as wire:
        await wire.setup()
        await wire.send("response.create")
        await wire.until("response.created")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wire.socket.recv(), 0.2)
        await wire.send("response.cancel")
        assert (await wire.until("response.done"))["response"]["status"] == "cancelled"


async def test_response_done_is_dropped_and_the_next_response_is_served(simulator: Simulator) -> None:
    async with simulator.session(fault="drop_response_done") as wire:
        await wire.setup()
        for _ in range(2):
            await wire.send("response.create")
            await wire.until("rate_limits.updated")
    assert wire.types().count("response.created") == 2
    assert "response.done" not in wire.types()


proves("late_transcript")


async def test_the_callers_transcript_may_come_after_the_reply(simulator: Simulator) -> None:
    async with simulator.session(fault="late_transcript") as wire:
        await wire.setup(audio={"input": {"transcription": {"model": "sim-ear"}}})
        await wire.append(np.zeros(4_800, np.int16))
        await wire.send("input_audio_buffer.commit")
        await wire.send("response.create")
        await wire.until("conversation.item.input_audio_transcription.failed")
    assert "response.done" in wire.types()


proves("late_after_cancel", "ignore_cancel", "short_audio_count")


async def interrupted(wire: Wire) -> tuple[str, int, Json]:
    """A spoken reply that is cancelled after two deltas: its item, how many deltas had come, and the response."""
    await wire.setup(output_modalities=["audio"], instructions=context())
    content = [{"type": "input_text", "text": "When do you close on Sundays?"}]
    await wire.send("conversation.item.create", item={"type": "message", "role": "user", "content": content})
    await wire.send("response.create")
    await wire.until("response.output_audio.delta")
    await wire.until("response.output_audio.delta")
    await wire.send("response.cancel")
    came = len(wire.all("response.output_audio.delta"))
    response = (await wire.until("response.done"))["response"]
    return wire.all("response.output_item.added")[0]["item"]["id"], came, response


async def test_sound_may_come_after_a_cancel(simulator: Simulator) -> None:
    async with simulator.session(fault="late_after_cancel", audio_speed=2) as wire:
        item_id, came, response = await interrupted(wire)
        assert response["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
        late = len(wire.all("response.output_audio.delta")) - came
        assert 2 <= late <= 6
        has_ms = len(wire.sound()) // 48
        where = {"item_id": item_id, "content_index": 0}
        await wire.send("conversation.item.truncate", **where, audio_end_ms=has_ms)
        await wire.until("conversation.item.truncated")


async def test_a_cancel_may_be_ignored(simulator: Simulator) -> None:
    async with simulator.session(fault="ignore_cancel", audio_speed=20) as wire:
        _, _, response = await interrupted(wire)
    assert response["status"] == "completed"
    assert "until 8 p.m." in response["output"][0]["content"][0]["transcript"]


async def test_the_server_may_count_less_sound_than_it_sent(simulator: Simulator) -> None:
    async with simulator.session(fault="short_audio_count", audio_speed=4) as wire:
        item_id, _, _ = await interrupted(wire)
        has_ms = len(wire.sound()) // 48
        where = {"item_id": item_id, "content_index": 0}
        await wire.send("conversation.item.truncate", **where, audio_end_ms=has_ms)
        message = f"Audio content of {has_ms - 85}ms is already shorter than {has_ms}ms"
        assert (await wire.refused())["message"] == message
        await wire.send("conversation.item.truncate", **where, audio_end_ms=has_ms - 85)
        await wire.until("conversation.item.truncated")


proves("unasked_response", "conversation_created")


async def test_a_tools_output_may_be_answered_without_being_asked(simulator: Simulator) -> None:
    async with simulator.session(fault="unasked_response") as wire:
        await wire.setup(tools=RESTAURANT, instructions=context())
        (call,) = (await wire.say(BOOK))["response"]["output"]
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"ok": true}'}
        await wire.send("conversation.item.create", item=output)
        done = await wire.until("response.done")
    assert done["response"]["output"][0]["content"][0]["text"] == "It is booked."


async def test_conversation_created_may_come_first(simulator: Simulator) -> None:
    async with simulator.session(fault="conversation_created") as wire:
        await wire.until("conversation.created")
    assert wire.types() == ["session.created", "conversation.created"]


proves("bare_events", "mixed_dialect", "no_response_id", "obfuscation")


async def test_only_deltas_and_ends_may_come(simulator: Simulator) -> None:
    wire, response = await booking(simulator, "bare_events,no_response_id", strict=False)
    assert not [name for name in wire.types() if "item.added" in name or "item.done" in name or "_part" in name]
    assert json.loads(wire.all("response.function_call_arguments.done")[0]["arguments"])["guest_name"] == "Maya"
    assert not [event for event in wire.events if "response_id" in event]
    assert response["output"][0]["name"] == "create_reservation"


async def test_a_gateway_may_translate_half_of_the_way(simulator: Simulator) -> None:
    async with simulator.session(fault="mixed_dialect", strict=False) as wire:
        await wire.setup(instructions=context(), output_modalities=["audio"])
        response = (await wire.say("Do you have parking?"))["response"]
    assert "audio" in wire.events[0]["session"]
    assert wire.joined("response.audio_transcript.delta") == "There is free parking behind the house."
    assert not wire.sound()
    assert wire.all("response.audio.delta")
    assert response["output"][0]["content"][0]["type"] == "output_audio"


async def test_deltas_may_be_padded(simulator: Simulator) -> None:
    async with simulator.session(fault="obfuscation", strict=False) as wire:
        await wire.setup(instructions=context())
        for _ in range(4):  # an answer is of two or three deltas
            await wire.say("Do you have parking?")
    deltas = wire.all("response.output_text.delta")
    assert len(deltas) >= 8
    assert all(event["obfuscation"] for event in deltas)
    assert len({len(event["obfuscation"]) for event in deltas}) > 1


async def test_faults_may_be_combined(simulator: Simulator) -> None:
    wire, response = await booking(simulator, "parallel_calls,invalid_json_arguments,null_usage")
    assert len(response["output"]) == 2
    assert response["usage"] is None
    for event in wire.events:
        check_shape(event)


def test_with_a_probability_the_seed_decides_once_and_for_all() -> None:
    happened = [("close_1011" in read_faults("close_1011@0.3", str(seed))) for seed in range(400)]
    assert 80 < sum(happened) < 160
    assert happened == [("close_1011" in read_faults("close_1011@0.3", str(seed))) for seed in range(400)]
    assert all("text_only" in read_faults("text_only", str(seed)) for seed in range(20))
    assert not any("text_only" in read_faults("text_only@0", str(seed)) for seed in range(20))


@pytest.mark.parametrize("text", ["nonsense", "text_only,nonsense", "text_only@x", "text_only@-1"])
def test_an_unknown_fault_is_an_error_that_lists_the_known_ones_or_the_range(text: str) -> None:
    with pytest.raises(UnknownFaultError, match=r"known faults: .*text_only|number from 0 to 1"):
        read_faults(text, "0")


def test_every_fault_has_a_proof_here_or_in_live_sessions() -> None:
    assert PROVEN | PROVEN_LIVE == NAMES


def test_every_fault_and_every_option_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "simulator.md").read_text()
    assert {name for name in NAMES if f"`{name}`" not in text} == set()
    assert {name for name in NUMBERS | TEXTS if f"`x-sim-{name}`" not in text} == set()


def test_the_docs_name_only_wordings_that_are_understood() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "simulator.md").read_text()
    table = text[text.index("| behaviour |") : text.index("A stranger is whoever")]
    rows = [row for row in table.splitlines() if row.count('"') > 3 and row.startswith("|")]
    assert len(rows) == len(ASKED)
    for row, behaviour in zip(rows, ASKED, strict=True):
        wordings = re.findall(r'"([^"]+)"', row)
        assert len(wordings) >= 4
        assert [one for one in wordings if not getattr(read_policy(one), behaviour)] == []
