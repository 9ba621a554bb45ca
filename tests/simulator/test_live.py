"""GPT Live over the socket; every frame, nested ones too, is held against the types of the openai package."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
from typing import Any

import numpy as np
import pytest
from openai import AsyncOpenAI
from websockets.exceptions import ConnectionClosed

from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.live_client import LiveWire, live
from tests.simulator.wire_client import Simulator, spoken

Json = Any
PARKING, FREE = "Do you have parking?", "There is free parking behind the house."
BOOKED = {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 2}


def responses(instructions: str = "", **more: Json) -> Json:
    backend = {"model": "gpt-backend", "instructions": instructions + context(), "tools": RESTAURANT}
    return {"type": "responses", "responses": backend} | more


async def answer(wire: LiveWire, call: Json, output: Json) -> None:
    item = {"type": "function_call_output", "call_id": call["call_id"], "output": json.dumps(output)}
    await wire.send("response.item.create", item=item)
    await wire.send("response.create")


async def test_the_server_says_nothing_before_session_start(simulator: Simulator) -> None:
    async with live(simulator) as wire:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wire.socket.recv(), 0.3)
        await wire.send("session.close", event_id="early")
        error = await wire.refused()
        assert (error["code"], error["client_event_id"]) == ("session_not_started", "early")
        started = await wire.start(instructions="Be kind.")
        assert started["client_event_id"] == "mine_1"
        session = started["session"]
        assert session["status"] == "active"
        assert session["delegation"] == {"type": "client"}
        assert session["audio"] == {"format": {"type": "audio/pcm", "rate": 24000}, "output": {"voice": "marin"}}
        await wire.send("session.start", session={"model": "x"})
        assert (await wire.refused())["code"] == "session_already_started"


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        ({"type": "session.start", "session": {}}, "missing_required_parameter", "session.model"),
        ({"type": "session.start", "session": {"model": "x", "tools": []}}, "unknown_parameter", "session.tools"),
        (
            {"type": "session.start", "session": {"model": "x", "delegation": {"type": "decisions"}}},
            "invalid_value",
            "session.delegation.type",
        ),
        (
            {
                "type": "session.start",
                "session": {"model": "x", "audio": {"format": {"type": "audio/pcm", "rate": 8000}}},
            },
            "invalid_value",
            "session.audio.format.rate",
        ),
        (
            {"type": "session.start", "session": {"model": "x", "delegation": {"type": "responses", "responses": {}}}},
            "missing_required_parameter",
            "session.delegation.responses.model",
        ),
    ],
)
async def test_a_configuration_is_read_strictly(
    simulator: Simulator, event: dict[str, Json], code: str, param: str
) -> None:
    async with live(simulator) as wire:
        await wire.send(**event)
        error = await wire.refused()
        assert (error["code"], error["param"]) == (code, param)
        await wire.start()


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"type": "session.input_audio.append", "audio": base64.b64encode(b"123").decode()}, "invalid_audio"),
        ({"type": "session.commentary.append", "content": "Hi."}, "missing_required_parameter"),
        ({"type": "session.commentary.append", "content": "Hi.", "delegation_id": "x"}, "invalid_value"),
        ({"type": "response.create"}, "invalid_value"),
        ({"type": "session.update", "session": {"instructions": "x"}}, "unknown_parameter"),
        ({"type": "session.update", "session": {"delegation": responses()}}, "invalid_value"),
        ({"type": "input_audio_buffer.commit"}, "invalid_value"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_the_session_lives(
    simulator: Simulator, event: dict[str, Json], code: str
) -> None:
    async with live(simulator) as wire:
        await wire.start()
        await wire.send(**event, event_id="mine_2")
        error = await wire.refused()
        assert (error["code"], error["client_event_id"]) == (code, "mine_2")
        await wire.send("session.close", event_id="mine_3")
        closed = await wire.until("session.closed")
        assert (closed["reason"], closed["client_event_id"]) == ("close_requested", "mine_3")
        assert closed["usage"]["seconds"] >= 0
        with pytest.raises(ConnectionClosed) as gone:
            await wire.socket.recv()
    assert gone.value.rcvd is not None
    assert gone.value.rcvd.code == 1000


async def test_a_simple_question_is_answered_aloud_on_the_clock_of_the_audio(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with live(simulator, latency_ms=1_500) as wire:
        await wire.start(instructions=context())
        await wire.append(np.concatenate([np.zeros(24_000, np.int16), samples]))
        async with wire.silence(speed=3):
            assert await wire.says("house.") == FREE
            await wire.until("session.output_audio.delta")
        heard = wire.all("session.input_transcript.delta")
        assert "".join(event["delta"] for event in heard) == PARKING
        assert 700 <= heard[0]["start_ms"] <= 1_100
        said = wire.all("session.output_transcript.delta")
        end_of_speech_ms = 1_000 + len(samples) / 24
        assert said[0]["start_ms"] == pytest.approx(end_of_speech_ms + 600 + 1_500, abs=120)
        assert all(one["end_ms"] <= two["start_ms"] + 1 for one, two in itertools.pairwise(said))
        assert not wire.all("session.delegation.created")


async def test_without_audio_the_time_stands_still(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with live(simulator) as wire:
        await wire.start(instructions=context())
        await wire.append(np.concatenate([samples, np.zeros(24 * 650, np.int16)]))
        await wire.until("session.input_transcript.delta")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wire.until("session.output_audio.delta"), 1.0)


async def test_work_is_delegated_to_the_backend_and_its_result_is_a_turn_of_its_own(simulator: Simulator) -> None:
    samples = await spoken(simulator, BOOK)
    async with live(simulator) as wire:
        await wire.start(instructions="Be kind." + context(), delegation=responses("Read the details back."))
        await wire.append(samples)
        async with wire.silence():
            created = await wire.until("session.delegation.created")
            assert created["delegation"]["target"] == "responses"
            call = await wire.call()
            assert (call["name"], json.loads(call["arguments"])) == ("create_reservation", BOOKED)
            await wire.until_nested("response.completed")
            await wire.send("response.create", event_id="too_soon")
            assert (await wire.refused())["code"] == "function_call_outputs_missing"
            assert await wire.has_said("moment.") == "Of course, one moment."
            await answer(wire, call, {"ok": True, "reservation_id": "H-9"})
            text = (await wire.until_nested("response.output_text.done"))["text"]
            assert await wire.says("2 people.") == text
    assert text.startswith("It is booked: number H-9. I read it back: ")
    first, second = wire.nested("response.created")
    assert first["response"]["id"] == created["delegation"]["response_id"] != second["response"]["id"]
    assert {event["delegation_id"] for event in wire.all("response.event")} == {created["delegation"]["id"]}
    items = [event["item"]["type"] for event in wire.nested("response.output_item.done")]
    assert items == ["reasoning", "function_call", "reasoning", "message"]
    assert all(event["response"]["output"] == [] for event in wire.nested("response.completed"))
    said = wire.all("session.output_transcript.delta")
    times = [(event["start_ms"], event["end_ms"]) for event in said]
    acknowledged = next(n for n, event in enumerate(said) if event["delta"].endswith("moment."))
    assert times[acknowledged + 1][0] - times[acknowledged][1] > 600


async def test_work_is_delegated_to_the_client_and_what_it_says_is_said(simulator: Simulator) -> None:
    samples = await spoken(simulator, BOOK)
    async with live(simulator) as wire:
        await wire.start(instructions="Be kind." + context(), delegation={"type": "client"})
        await wire.append(samples)
        async with wire.silence():
            created = await wire.until("session.delegation.created")
            assert created["delegation"]["target"] == "client"
            assert "response_id" not in created["delegation"]
            await wire.says("moment.")
            mine = {"delegation_id": created["delegation"]["id"]}
            await wire.send("session.thinking.append", content="Still looking.", **mine)
            await wire.until("session.thinking.appended")
            await wire.send("session.commentary.append", content="Your table is booked.", event_id="c1", **mine)
            appended = await wire.until("session.commentary.appended")
            assert appended["client_event_id"] == "c1"
            assert await wire.says("booked.") == "Your table is booked."
    said = wire.all("session.output_transcript.delta")
    assert said[-1]["start_ms"] >= appended["start_ms"] + 850
    assert "Still" not in "".join(event["delta"] for event in said)


async def test_a_greeting_may_be_ordered(simulator: Simulator) -> None:
    async with live(simulator) as wire:
        await wire.start()
        await wire.send("session.commentary.append", content="Welcome to the Copper Heron.", delegation_id=None)
        async with wire.silence():
            assert await wire.says("Heron.") == "Welcome to the Copper Heron."


async def test_the_caller_stops_the_agents_speech_but_not_its_work(simulator: Simulator) -> None:
    samples, question = await spoken(simulator, BOOK), await spoken(simulator, PARKING)
    async with live(simulator) as wire:
        await wire.start(instructions=context(), delegation=responses("Read the details back."))
        await wire.append(samples)
        async with wire.silence():
            call = await wire.call()
            await answer(wire, call, {"ok": True, "reservation_id": "H-9"})
            await wire.says("H-9. I")
        await wire.append(question)
        async with wire.silence():
            words = await wire.says("house.")
    assert words.endswith(FREE)
    assert "two people" not in words


async def test_a_sentence_with_a_breath_in_it_is_one_request(simulator: Simulator) -> None:
    sentence = "Hello. I would like to book a table, for Maya, please. On June 12 at 7 p.m. for two."
    samples = await spoken(simulator, sentence)  # its pauses are 700 ms long, more than ends a turn
    async with live(simulator, latency_ms=2_000) as wire:  # all of it arrives before the answer to a part
        await wire.start(instructions=context(), delegation=responses())
        await wire.append(samples)
        async with wire.silence():
            call = await wire.call()
    assert json.loads(call["arguments"]) == BOOKED
    assert len(wire.all("session.delegation.created")) == 1


@pytest.mark.parametrize(("kind", "rate"), [("audio/pcm", 16_000), ("audio/pcmu", 8_000), ("audio/pcma", 8_000)])
async def test_other_formats_are_heard_and_spoken(simulator: Simulator, kind: str, rate: int) -> None:
    import soxr

    from tests.simulator.test_g711 import companded

    samples = await spoken(simulator, PARKING)
    narrow = soxr.resample(samples, 24_000, rate)
    data = companded(samples, kind) if kind != "audio/pcm" else narrow.astype("<i2").tobytes()
    quiet = {"audio/pcm": b"\0\0", "audio/pcmu": b"\xff", "audio/pcma": b"\xd5"}[kind] * (rate // 10)
    async with live(simulator) as wire:
        await wire.start(instructions=context(), audio={"format": {"type": kind, "rate": rate}})
        for start in range(0, len(data), 3_200):
            piece = base64.b64encode(data[start : start + 3_200]).decode()
            await wire.send("session.input_audio.append", audio=piece)
        words = ""
        while not words.endswith("house."):
            await wire.send("session.input_audio.append", audio=base64.b64encode(quiet).decode())
            try:
                event = await asyncio.wait_for(wire.receive(), 0.01)
            except TimeoutError:
                continue
            words += event["delta"] if event["type"] == "session.output_transcript.delta" else ""
    assert words == FREE
    assert len(wire.sound()) > rate // 2


async def test_muted_audio_is_not_heard_and_history_is_known(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    history = [{"role": "user", "content": [{"type": "input_text", "text": "I am Maya."}]}]
    async with live(simulator) as wire:
        started = await wire.start(instructions=context(), input=history)
        assert started["session"]["input"] == history
        await wire.send("session.input_audio.mute")
        await wire.until("session.input_audio.muted")
        await wire.append(samples)
        await wire.send("session.input_audio.unmute")
        await wire.until("session.input_audio.unmuted")
        await wire.append(np.zeros(48_000, np.int16))
        await wire.append(samples)
        async with wire.silence():
            await wire.says("house.")
    assert "".join(event["delta"] for event in wire.all("session.input_transcript.delta")) == PARKING


async def test_the_backend_may_be_changed_within_its_kind(simulator: Simulator) -> None:
    async with live(simulator) as wire:
        await wire.start(delegation=responses())
        patch = {
            "type": "responses",
            "responses": {"instructions": "New.", "model": None},
            "acknowledgement_delay_ms": 0,
        }
        await wire.send("session.update", session={"delegation": patch}, event_id="u1")
        updated = await wire.until("session.updated")
    delegation = updated["session"]["delegation"]
    assert delegation["acknowledgement_delay_ms"] == 0
    assert (delegation["responses"]["instructions"], delegation["responses"]["model"]) == ("New.", "gpt-backend")
    assert updated["client_event_id"] == "u1"


async def test_a_session_expires_with_its_reason(simulator: Simulator) -> None:
    async with live(simulator, expires_s=0.3) as wire:
        await wire.start()
        assert (await wire.until("session.closed"))["reason"] == "expired"


async def test_the_openai_client_completes_a_delegated_turn(simulator: Simulator) -> None:
    samples = await spoken(simulator, BOOK)
    said, calls = "", []
    async with (
        asyncio.timeout(40),
        AsyncOpenAI(api_key="none", websocket_base_url=f"{simulator.ws}/v1") as client,
        client.live.connect() as connection,
    ):
        session = {"model": "gpt-live-1", "instructions": context(), "delegation": responses()}
        await connection.session.start(session=session)  # type: ignore[arg-type]

        async def line() -> None:
            data = samples.tobytes()
            while True:
                piece, data = data[:4_800].ljust(4_800, b"\0"), data[4_800:]
                await connection.session.input_audio.append(audio=base64.b64encode(piece).decode())
                await asyncio.sleep(0.01)

        pump = asyncio.create_task(line())
        async for event in connection:
            assert event.type != "error", event
            if event.type == "session.output_transcript.delta":
                said += event.delta
            elif event.type == "response.event" and event.event["type"] == "response.output_item.done":
                item: Json = event.event["item"]
                if item["type"] == "function_call":
                    calls.append(item["name"])
                    output = {"type": "function_call_output", "call_id": item["call_id"], "output": '{"ok": true}'}
                    await connection.response.item.create(item=output)  # type: ignore[arg-type]
                    await connection.response.create()
            if said.endswith("booked."):
                break
        pump.cancel()
        await connection.session.close()
    assert calls == ["create_reservation"]
    assert said.endswith("It is booked.")
