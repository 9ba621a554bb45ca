"""Spoken turns: what is heard, what is said, and what cancel and truncate leave of it."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runs_app.simulator.luck import luck
from tests.simulator.desks import RESTAURANT, context
from tests.simulator.wire_client import Simulator, Wire, spoken

Json = Any
BOOK = "Please book a table for Nora on June 14 at 8 p.m. for three people."
PARKING = "Do you have parking?"
TRANSCRIBED = {"input": {"transcription": {"model": "sim-ear"}}}


async def say_aloud(wire: Wire, samples: npt.NDArray[np.int16]) -> Json:
    await wire.append(samples)
    await wire.send("input_audio_buffer.commit")
    return await wire.ask()


async def test_a_spoken_turn_is_heard_and_answered_in_speech(simulator: Simulator) -> None:
    samples = await spoken(simulator, BOOK)
    async with simulator.session() as wire:
        await wire.setup(output_modalities=["audio"], tools=RESTAURANT, instructions=context(), audio=TRANSCRIBED)
        call = (await say_aloud(wire, samples))["response"]["output"][0]
        assert json.loads(call["arguments"]) == {
            "guest_name": "Nora",
            "date": "2027-06-14",
            "time": "20:00",
            "party_size": 3,
        }
        done = await wire.answer(call["call_id"], {"ok": True, "reservation_id": "H-3"})
    (heard,) = wire.all("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == BOOK
    assert heard["usage"] == {"type": "duration", "seconds": round(len(samples) / 24_000, 3)}
    content = done["response"]["output"][0]["content"][0]
    assert content == {"type": "output_audio", "transcript": "It is booked: number H-3."}
    assert wire.joined("response.output_audio_transcript.delta") == content["transcript"]
    assert wire.all("response.content_part.added")[0]["part"] == {"type": "audio", "transcript": ""}
    assert 1.0 < len(wire.sound()) / 48_000 < 6.0
    names = wire.types()
    assert names.index("response.output_audio_transcript.delta") < names.index("response.output_audio.delta")
    assert names.index("input_audio_buffer.committed") < names.index("conversation.item.added")


async def test_strange_speech_was_not_caught(simulator: Simulator) -> None:
    noise = np.random.default_rng(5).normal(0, 3_000, 36_000).astype(np.int16)
    async with simulator.session() as wire:
        await wire.setup(tools=RESTAURANT, instructions=context(), audio=TRANSCRIBED)
        done = await say_aloud(wire, noise)
    assert "did not catch that" in done["response"]["output"][0]["content"][0]["text"]
    (failed,) = wire.all("conversation.item.input_audio_transcription.failed")
    assert failed["error"]["code"] == "audio_unintelligible"


async def test_appends_may_cut_samples_in_two(simulator: Simulator) -> None:
    data = (await spoken(simulator, PARKING)).astype("<i2").tobytes()
    async with simulator.session() as wire:
        await wire.setup(instructions=context())
        for start in range(0, len(data), 4_801):
            piece = base64.b64encode(data[start : start + 4_801]).decode()
            await wire.send("input_audio_buffer.append", audio=piece)
        await wire.send("input_audio_buffer.commit")
        done = await wire.ask()
        assert done["response"]["output"][0]["content"][0]["text"] == "There is free parking behind the house."
        item = wire.all("input_audio_buffer.committed")[0]["item_id"]
        await wire.send("conversation.item.retrieve", item_id=item)
        kept = (await wire.until("conversation.item.retrieved"))["item"]["content"][0]["audio"]
    assert base64.b64decode(kept) == data


async def test_a_cleared_buffer_is_not_heard(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        await wire.setup(instructions=context())
        await wire.append(np.zeros(24_000, np.int16))
        await wire.send("input_audio_buffer.clear")
        done = await say_aloud(wire, samples)
        assert done["response"]["output"][0]["content"][0]["text"] == "There is free parking behind the house."
        item = wire.all("input_audio_buffer.committed")[0]["item_id"]
        await wire.send("conversation.item.retrieve", item_id=item)
        kept = (await wire.until("conversation.item.retrieved"))["item"]["content"][0]["audio"]
    assert len(base64.b64decode(kept)) == 2 * len(samples)


async def _interrupted(wire: Wire) -> tuple[str, Json]:
    """A spoken reply that is cancelled after its second delta of sound: the item's id, and the response."""
    await wire.setup(output_modalities=["audio"], instructions=context())
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "When do you close on Sundays?"}],
    }
    await wire.send("conversation.item.create", item=item)
    await wire.send("response.create")
    await wire.until("response.output_audio.delta")
    await wire.until("response.output_audio.delta")
    await wire.send("response.cancel")
    done = await wire.until("response.done")
    return wire.all("response.output_item.added")[0]["item"]["id"], done["response"]


async def test_a_cancel_keeps_what_was_said_and_closes_every_event(simulator: Simulator) -> None:
    async with simulator.session(audio_speed=4) as wire:
        _, response = await _interrupted(wire)
    assert response["status"] == "cancelled"
    assert response["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    (item,) = response["output"]
    said = wire.joined("response.output_audio_transcript.delta")
    assert item["status"] == "incomplete"
    assert item["content"] == [{"type": "output_audio", "transcript": said}]
    assert said
    assert len(said) < len("We are open daily from noon to 10 p.m., on Sundays until 8 p.m.")
    tail = wire.types()[wire.types().index("response.output_audio.done") :]
    assert tail == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "conversation.item.done",
        "rate_limits.updated",
        "response.done",
    ]
    assert response["usage"]["output_token_details"]["audio_tokens"] > 0


async def test_a_cancel_before_the_first_word_leaves_no_output(simulator: Simulator) -> None:
    async with simulator.session(latency_ms=60_000) as wire:
        await wire.setup()
        await wire.send("response.create")
        await wire.until("response.created")
        await wire.send("response.cancel", response_id="resp_of_somebody_else")
        assert (await wire.refused())["code"] == "response_cancel_not_active"
        await wire.send("response.cancel")
        response = (await wire.until("response.done"))["response"]
    assert (response["status"], response["output"]) == ("cancelled", [])
    assert response["usage"]["output_tokens"] == 0


async def test_truncate_cuts_the_sound_and_forgets_the_words(simulator: Simulator) -> None:
    async with simulator.session(audio_speed=4) as wire:
        item_id, _ = await _interrupted(wire)
        has_ms = len(wire.sound()) // 48
        where = {"item_id": item_id, "content_index": 0}
        await wire.send("conversation.item.truncate", **where, audio_end_ms=has_ms + 1)
        assert (await wire.refused())[
            "message"
        ] == f"Audio content of {has_ms}ms is already shorter than {has_ms + 1}ms"
        await wire.send("conversation.item.truncate", **where, audio_end_ms=150)
        assert (await wire.until("conversation.item.truncated"))["audio_end_ms"] == 150
        await wire.send("conversation.item.retrieve", item_id=item_id)
        content = (await wire.until("conversation.item.retrieved"))["item"]["content"][0]
    assert len(base64.b64decode(content["audio"])) == 150 * 48
    assert content["transcript"] == ""


async def test_only_spoken_replies_can_be_truncated(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup()
        done = await wire.say("Hello")
        item_id = done["response"]["output"][0]["id"]
        await wire.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=0)
        error = await wire.refused()
    assert (error["code"], error["message"]) == (
        "unsupported_content_type",
        "Only model output audio messages can be truncated",
    )


async def test_sound_comes_faster_than_real_time_by_the_factor_that_was_asked_for(simulator: Simulator) -> None:
    async with simulator.session(audio_speed=8) as wire:
        await wire.setup(output_modalities=["audio"])
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        first = time.monotonic()
        await wire.until("response.output_audio.done")
        took_s = time.monotonic() - first
    after_first_s = (len(wire.sound()) - 4_800) / 48_000
    assert took_s >= after_first_s / 8 * 0.8


async def test_thinking_takes_as_long_as_asked_with_jitter_by_the_seed(simulator: Simulator) -> None:
    async def first_word_ms(seed: int) -> float:
        async with simulator.session(latency_ms=60, jitter_ms=400, seed=seed) as wire:
            await wire.setup()
            asked = time.monotonic()
            await wire.send("response.create")
            await wire.until("response.output_text.delta")
            return (time.monotonic() - asked) * 1000

    assert luck("5", "latency 0") < 0.01
    assert luck("7", "latency 0") > 0.99
    assert await first_word_ms(5) >= 60
    assert await first_word_ms(7) >= 455


async def test_a_session_ends_by_itself_with_1001(simulator: Simulator) -> None:
    from websockets.exceptions import ConnectionClosed

    async with simulator.session(expires_s=0.2) as wire:
        await wire.until("session.created")
        assert (await wire.refused())["code"] == "session_expired"
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(wire.socket.recv(), 5)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
