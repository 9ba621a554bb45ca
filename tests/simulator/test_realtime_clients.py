"""The real openai client completes turns, written and spoken; some behaviours of the clerk over the socket."""

from __future__ import annotations

import asyncio
import base64
import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection

from runs_app.simulator.app import LARGEST_BODY_BYTES
from tests.simulator.desks import BOOK, RESTAURANT, TEXT, context, tool
from tests.simulator.wire_client import Simulator

Json = Any
RESERVE = tool("create_reservation", "Book a table", ["guest_name", "date"], guest_name=TEXT, date=TEXT)
PCM = {"type": "audio/pcm", "rate": 24000}


async def _calls_and_reply(connection: AsyncRealtimeConnection) -> tuple[list[Json], str, int]:
    """Answers every call until the agent speaks: the calls, the reply, and the bytes of its sound."""
    calls: list[Json] = []
    text, sound = "", 0
    async for event in connection:
        assert event.type != "error", event
        if event.type in ("response.output_text.delta", "response.output_audio_transcript.delta"):
            text += event.delta
        elif event.type == "response.output_audio.delta":
            sound += len(base64.b64decode(event.delta))
        elif event.type == "response.done":
            asked = [item for item in event.response.output or [] if item.type == "function_call"]
            if not asked:
                return calls, text, sound
            for item in asked:
                calls.append((item.name, json.loads(item.arguments)))
                output = {"type": "function_call_output", "call_id": item.call_id, "output": '{"ok": true}'}
                await connection.conversation.item.create(item=output)  # type: ignore[arg-type]
            await connection.response.create()
    raise AssertionError("the connection ended before the agent spoke")


async def test_the_openai_client_books_a_table_in_writing(simulator: Simulator) -> None:
    async with (
        asyncio.timeout(30),
        AsyncOpenAI(api_key="none", websocket_base_url=f"{simulator.ws}/v1") as client,
        client.realtime.connect(model="gpt-realtime") as connection,
    ):
        session = {
            "type": "realtime",
            "instructions": "Booking agent.",
            "tools": [RESERVE],
            "output_modalities": ["text"],
        }
        await connection.session.update(session=session)  # type: ignore[arg-type]
        content = [{"type": "input_text", "text": "book a table"}]
        item = {"type": "message", "role": "user", "content": content}
        await connection.conversation.item.create(item=item)  # type: ignore[arg-type]
        await connection.response.create()
        calls, text, sound = await _calls_and_reply(connection)
    assert calls == [("create_reservation", {"guest_name": "unknown", "date": "unknown"})]
    assert (text, sound) == ("It is booked.", 0)


async def test_the_openai_client_books_a_table_aloud(simulator: Simulator) -> None:
    async with (
        asyncio.timeout(60),
        AsyncOpenAI(api_key="none", base_url=f"{simulator.http}/v1", websocket_base_url=f"{simulator.ws}/v1") as client,
        client.realtime.connect(model="sim-clerk") as connection,
    ):
        said = await client.audio.speech.create(model="sim-tts", voice="caller", input=BOOK, response_format="pcm")
        audio = {"input": {"format": PCM, "turn_detection": None}, "output": {"format": PCM}}
        session = {"type": "realtime", "instructions": context(), "tools": RESTAURANT, "audio": audio}
        await connection.session.update(session=session)  # type: ignore[arg-type]
        for start in range(0, len(said.content), 4_800):
            piece = base64.b64encode(said.content[start : start + 4_800]).decode()
            await connection.input_audio_buffer.append(audio=piece)
        await connection.input_audio_buffer.commit()
        await connection.response.create()
        calls, text, sound = await _calls_and_reply(connection)
    booked = {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 2}
    assert calls == [("create_reservation", booked)]
    assert text == "It is booked."
    assert sound > 24_000


@pytest.mark.parametrize(
    ("instructions", "call"),
    [
        ("", ("create_reservation", "2027-06-12")),
        ("Use the corrected value if the caller corrects something.", ("create_reservation", "2027-06-13")),
        ("Check availability first.", ("check_availability", "2027-06-12")),
    ],
)
async def test_instructions_change_what_is_called_over_the_socket(
    simulator: Simulator, instructions: str, call: tuple[str, str]
) -> None:
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions=instructions + context())
        done = await wire.say("Book a table for Maya on June 12, sorry, June 13, at 7 p.m. for two.")
    output = done["response"]["output"][0]
    assert (output["name"], json.loads(output["arguments"])["date"]) == call


async def test_instructions_may_change_between_two_turns(simulator: Simulator) -> None:
    without_name = "Book a table on June 12 at 7 p.m. for two."
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions="Ask for what is missing." + context())
        assert (await wire.say(without_name))["response"]["output"][0]["type"] == "message"
        await wire.setup(instructions="Never ask for what is missing." + context())
        output = (await wire.say(without_name))["response"]["output"][0]
    assert json.loads(output["arguments"])["guest_name"] == "unknown"


async def test_a_slip_is_as_likely_as_asked_and_the_same_for_the_same_seed(simulator: Simulator) -> None:
    async def date(seed: int) -> str:
        async with simulator.session(seed=seed, slip=0.5) as wire:
            await wire.setup(tools=RESTAURANT, instructions="Use the corrected value after a correction." + context())
            done = await wire.say("Book a table for Maya on June 12, sorry, June 13, at 7 p.m. for two.")
        return str(json.loads(done["response"]["output"][0]["arguments"])["date"])

    dates = [await date(seed) for seed in range(8)]
    assert set(dates) == {"2027-06-12", "2027-06-13"}
    assert dates == [await date(seed) for seed in range(8)]


def fetch(url: str, body: bytes | None = None) -> tuple[int, Json]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data=body), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_what_is_where_is_told_over_http(simulator: Simulator) -> None:
    status, health = fetch(f"{simulator.http}/healthz")
    assert (status, health["status"]) == (200, "ok")
    _, models = fetch(f"{simulator.http}/v1/models")
    assert [model["id"] for model in models["data"]] == ["sim-clerk", "sim-tts", "sim-ear", "sim-judge", "sim-persona"]
    status, missing = fetch(f"{simulator.http}/v1/embeddings", b"{}")
    assert status == 404
    assert "POST /v1/audio/speech" in missing["error"]["message"]
    status, large = fetch(f"{simulator.http}/v1/responses", bytes(LARGEST_BODY_BYTES + 1))
    assert (status, large["error"]["code"]) == (413, "too_large")
