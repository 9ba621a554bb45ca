"""Turn detection over the socket: the server finds the caller's turns by itself, answers them and gives way."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.simulator.desks import RESTAURANT, context
from tests.simulator.wire_client import Event, Simulator, Wire, spoken

Json = Any
Samples = npt.NDArray[np.int16]
BOOK = "Please book a table for Nora on June 14 at 8 p.m. for three people."
PARKING = "Do you have parking?"
FREE = "There is free parking behind the house."
CORRECTED = "Book a table for Maya on June 12, sorry, June 13, at 7 p.m. for two."
VAD = {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 500}


def silence(ms: int) -> Samples:
    return np.zeros(ms * 24, np.int16)


def line(*pieces: Samples) -> Samples:
    return np.concatenate(pieces)


def speech_ms(samples: Samples) -> tuple[float, float]:
    """First and last millisecond that is not almost silent."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 100)
    return loud[0] / 24, loud[-1] / 24


async def listening(wire: Wire, detection: Json = VAD, **session: Json) -> None:
    audio = {"input": {"turn_detection": detection, "transcription": {"model": "sim-ear"}}}
    await wire.setup(**{"instructions": context(), "tools": RESTAURANT, "audio": audio} | session)


def text_of(done: Event) -> str:
    part = done["response"]["output"][0]["content"][0]
    return str(part.get("text") or part.get("transcript"))


async def test_a_turn_is_found_committed_and_answered_without_being_asked(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    first, last = speech_ms(samples)
    async with simulator.session() as wire:
        await listening(wire)
        wire.events.clear()
        await wire.append(line(silence(1_000), samples, silence(700)))
        done = await wire.until("response.done")
        if not wire.all("conversation.item.input_audio_transcription.completed"):
            await wire.until("conversation.item.input_audio_transcription.completed")
    order = [name for name in wire.types() if "transcription" not in name]
    assert order[:6] == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
    ]
    (started,) = wire.all("input_audio_buffer.speech_started")
    (stopped,) = wire.all("input_audio_buffer.speech_stopped")
    assert started["audio_start_ms"] == pytest.approx(1_000 + first - 300, abs=40)
    assert stopped["audio_end_ms"] == pytest.approx(1_000 + last + 500, abs=80)
    assert len({event["item_id"] for event in (started, stopped, *wire.all("input_audio_buffer.committed"))}) == 1
    assert text_of(done) == FREE
    assert wire.all("conversation.item.input_audio_transcription.completed")[0]["transcript"] == PARKING


async def test_detection_is_on_from_the_start_as_in_the_real_service(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        session = (await wire.until("session.created"))["session"]
        assert session["audio"]["input"]["turn_detection"] == {
            "type": "server_vad",
            "threshold": 0.5,
            "prefix_padding_ms": 300,
            "silence_duration_ms": 200,
            "idle_timeout_ms": None,
            "create_response": True,
            "interrupt_response": True,
        }
        await wire.append(line(samples, silence(400)))
        await wire.until("response.created")


async def test_what_is_not_said_of_the_detection_is_filled_in(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        updated = await wire.setup(audio={"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "low"}}})
    assert updated["session"]["audio"]["input"]["turn_detection"] == {
        "type": "semantic_vad",
        "eagerness": "low",
        "create_response": True,
        "interrupt_response": True,
    }


async def test_silence_must_be_sent_or_the_turn_never_ends(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        await listening(wire)
        await wire.append(samples)
        await wire.until("input_audio_buffer.speech_started")
        await wire.send("input_audio_buffer.clear")
        assert (await wire.receive())["type"] == "input_audio_buffer.cleared"
        await wire.append(silence(2_000))
        await wire.send("conversation.item.delete", item_id="x")
        assert (await wire.refused())["code"] == "item_delete_invalid_item_id"  # and no speech_stopped before


async def test_without_create_response_it_commits_and_waits_to_be_asked(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        await listening(wire, VAD | {"create_response": False})
        await wire.append(line(samples, silence(700)))
        await wire.until("input_audio_buffer.committed")
        await wire.until("conversation.item.done")
        assert text_of(await wire.ask()) == FREE
        assert len(wire.all("response.created")) == 1


async def test_a_commit_after_the_server_has_committed_finds_nothing(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        await listening(wire)
        await wire.append(line(samples, silence(700)))
        await wire.until("response.done")
        await wire.send("input_audio_buffer.commit")
        while (event := await wire.receive())["type"] != "error":
            pass
        assert event["error"]["code"] == "input_audio_buffer_commit_empty"


async def test_a_commit_in_the_middle_of_speech_ends_the_turn_there(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session() as wire:
        await listening(wire)
        await wire.append(samples)
        await wire.send("input_audio_buffer.commit")
        await wire.until("input_audio_buffer.committed")
        assert text_of(await wire.ask()) == FREE
        assert not wire.all("input_audio_buffer.speech_stopped")


async def speaking(wire: Wire, simulator: Simulator) -> str:
    """An agent in the middle of a long reply; the item that it speaks."""
    await wire.append(line(await spoken(simulator, "When do you close on Sundays?"), silence(700)))
    await wire.until("response.output_audio.delta")
    await wire.until("response.output_audio.delta")
    return str(wire.all("response.output_item.added")[-1]["item"]["id"])


async def test_speech_stops_the_reply_and_is_answered_in_its_place(simulator: Simulator) -> None:
    question = await spoken(simulator, PARKING)
    async with simulator.session(audio_speed=1) as wire:
        await listening(wire, output_modalities=["audio"])
        item_id = await speaking(wire, simulator)
        await wire.append(line(silence(200), question))
        cut = (await wire.until("response.done"))["response"]
        assert cut["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
        heard_ms = len(wire.sound()) // 48
        where = {"item_id": item_id, "content_index": 0}
        await wire.send("conversation.item.truncate", **where, audio_end_ms=heard_ms + 1)
        assert f"of {heard_ms}ms is already shorter" in (await wire.refused())["message"]
        await wire.send("conversation.item.truncate", **where, audio_end_ms=heard_ms)
        await wire.until("conversation.item.truncated")
        deltas = len(wire.all("response.output_audio.delta"))
        await wire.append(silence(700))
        await wire.until("response.created")
        assert len(wire.all("response.output_audio.delta")) == deltas  # nothing came after the cut
        done = await wire.until("response.done")
    assert text_of(done) == FREE
    names = wire.types()
    second = len(names) - 1 - names[::-1].index("input_audio_buffer.speech_started")
    assert second < names.index("response.done")


async def test_without_interrupt_response_the_reply_is_said_to_its_end_and_then_the_next(simulator: Simulator) -> None:
    question = await spoken(simulator, PARKING)
    async with simulator.session(audio_speed=4) as wire:
        await listening(wire, VAD | {"interrupt_response": False}, output_modalities=["audio"])
        await speaking(wire, simulator)
        await wire.append(line(silence(200), question, silence(700)))
        first = await wire.until("response.done")
        assert first["response"]["status"] == "completed"
        assert "until 8 p.m." in text_of(first)
        assert text_of(await wire.until("response.done")) == FREE


async def test_a_sentence_with_a_breath_in_it_is_booked_once_with_all_that_was_said(simulator: Simulator) -> None:
    samples = await spoken(simulator, CORRECTED)
    cut = int(len(samples) * 0.45)  # in "June 12, | sorry"
    quiet = (
        cut
        + int(np.argmin([np.abs(samples[cut + n : cut + n + 480].astype(int)).max() for n in range(0, 9_600, 480)]))
        * 480
    )
    async with simulator.session(latency_ms=350) as wire:
        await listening(wire, VAD, instructions="Use the corrected value after a correction." + context())
        await wire.append(line(silence(300), samples[:quiet], silence(900)))
        await wire.until("response.created")
        await wire.append(line(samples[quiet:], silence(700)))
        first = (await wire.until("response.done"))["response"]
        assert first["status_details"]["reason"] == "turn_detected"
        response = (await wire.until("response.done"))["response"]
    (call,) = response["output"]
    booked = {"guest_name": "Maya", "date": "2027-06-13", "time": "19:00", "party_size": 2}
    assert json.loads(call["arguments"]) == booked
    assert len(wire.all("input_audio_buffer.committed")) == 2
    said = [event["transcript"] for event in wire.all("conversation.item.input_audio_transcription.completed")]
    assert " ".join(said) == CORRECTED


async def test_two_sentences_with_a_pause_between_are_both_answered(simulator: Simulator) -> None:
    one, two = await spoken(simulator, PARKING), await spoken(simulator, "When do you close on Sundays?")
    async with simulator.session(latency_ms=700) as wire:
        await listening(wire)
        await wire.append(line(one, silence(700)))
        await wire.until("response.created")
        await wire.append(line(two, silence(700)))
        assert (await wire.until("response.done"))["response"]["output"] == []
        told = text_of(await wire.until("response.done"))
    assert FREE in told
    assert "until 8 p.m." in told


async def test_semantic_detection_answers_a_whole_sentence_soon_and_waits_for_the_rest_of_half_a_one(
    simulator: Simulator,
) -> None:
    samples = await spoken(simulator, BOOK)
    _, last = speech_ms(samples)
    async with simulator.session() as wire:
        await listening(wire, {"type": "semantic_vad", "eagerness": "high"})
        await wire.append(line(samples, silence(2_500)))
        stopped = await wire.until("input_audio_buffer.speech_stopped")
        assert stopped["audio_end_ms"] == pytest.approx(last + 300, abs=80)
        await wire.until("response.done")
        start_ms = (len(samples) / 24) + 2_500
        half = samples[: len(samples) // 2]
        _, last = speech_ms(half)
        await wire.append(line(half, silence(2_500)))
        stopped = await wire.until("input_audio_buffer.speech_stopped")
        assert stopped["audio_end_ms"] == pytest.approx(start_ms + last + 2_000, abs=80)


async def test_a_caller_who_stays_silent_is_asked_again(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    async with simulator.session(audio_speed=1_000) as wire:
        await listening(wire, VAD | {"idle_timeout_ms": 5_000}, output_modalities=["audio"])
        await wire.append(line(samples, silence(700)))
        await wire.until("response.done")
        played_ms = len(wire.sound()) / 48
        done_ms = len(samples) / 24 + 700
        await wire.append(silence(int(played_ms) + 4_800))
        await wire.append(silence(400))
        triggered = await wire.until("input_audio_buffer.timeout_triggered")
        assert triggered["audio_start_ms"] == pytest.approx(done_ms + played_ms, abs=120)
        assert triggered["audio_end_ms"] - triggered["audio_start_ms"] == pytest.approx(5_000, abs=120)
        assert (await wire.until("input_audio_buffer.committed"))["item_id"] == triggered["item_id"]
        assert text_of(await wire.until("response.done")) == "Are you still there?"


async def test_turn_detection_works_on_telephone_audio_and_in_the_beta(simulator: Simulator) -> None:
    from tests.simulator.test_g711 import append, companded

    samples = await spoken(simulator, PARKING)
    async with simulator.beta_session() as wire:
        await wire.until("session.created")
        update = {"input_audio_format": "g711_ulaw", "turn_detection": VAD, "instructions": context()}
        await wire.send("session.update", session=update)
        assert (await wire.until("session.updated"))["session"]["turn_detection"] == VAD | {
            "create_response": True,
            "interrupt_response": True,
        }
        await append(wire, companded(line(silence(300), samples, silence(700)), "audio/pcmu"))
        done = await wire.until("response.done")
    assert text_of(done) == FREE
    started, stopped = wire.all("input_audio_buffer.speech_started"), wire.all("input_audio_buffer.speech_stopped")
    first, last = speech_ms(samples)
    assert started[0]["audio_start_ms"] == pytest.approx(max(first, 0), abs=60)
    assert stopped[0]["audio_end_ms"] == pytest.approx(300 + last + 500, abs=100)


async def test_the_simulator_can_tell_when_its_reply_really_began(simulator: Simulator) -> None:
    samples = await spoken(simulator, PARKING)
    _, last = speech_ms(samples)
    async with simulator.session(truth=1, latency_ms=120) as wire:
        await listening(wire)
        await wire.append(line(samples, silence(700)))
        truth = (await wire.until("response.done"))["response"]["metadata"]
    assert float(truth["sim_speech_end_ms"]) == pytest.approx(last, abs=80)
    assert float(truth["sim_turn_end_ms"]) - float(truth["sim_speech_end_ms"]) == 500
    assert 0.12 <= float(truth["sim_replied_s"]) - float(truth["sim_began_s"]) < 5
