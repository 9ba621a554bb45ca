"""u-law and A-law in both directions; sound is read here by the tables of the standard, not by the simulator's code."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soxr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from runs_app.simulator.formats import FORMATS
from tests.simulator.desks import context
from tests.simulator.wire_client import Simulator, Wire, spoken

Json = Any
Samples = npt.NDArray[np.int16]
QUESTION, ANSWER = "Do you have parking?", "There is free parking behind the house."


def u_law(code: int) -> int:
    """ITU-T G.711, table 2a: a sample of 16 bits from a byte."""
    code = ~code & 0xFF
    size = (((code & 0x0F) << 3) + 0x84) << (code >> 4 & 0x07)
    return 0x84 - size if code & 0x80 else size - 0x84


def a_law(code: int) -> int:
    """ITU-T G.711, table 1a."""
    code ^= 0x55
    size, segment = (code & 0x0F) << 4, code >> 4 & 0x07
    size = size + 8 if segment == 0 else (size + 0x108) << (segment - 1)
    return size if code & 0x80 else -size


TABLES = {
    "audio/pcmu": np.array([u_law(code) for code in range(256)], np.int16),
    "audio/pcma": np.array([a_law(code) for code in range(256)], np.int16),
}
BETA = {"audio/pcmu": "g711_ulaw", "audio/pcma": "g711_alaw"}


def companded(samples: Samples, name: str) -> bytes:
    """Samples at 24 kHz as bytes at 8 kHz: for each the code that is nearest to it."""
    narrow = soxr.resample(samples, 24_000, 8_000)
    table = TABLES[name]
    order = np.argsort(table, kind="stable")
    places = np.searchsorted(table[order], narrow).clip(1, 255)
    left, right = table[order][places - 1].astype(int), table[order][places].astype(int)
    return bytes(order[np.where(narrow - left <= right - narrow, places - 1, places)].astype(np.uint8))


def likeness(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    size = min(len(one), len(other))
    return float(np.corrcoef(one[:size].astype(float), other[:size].astype(float))[0, 1])


@pytest.mark.parametrize("name", TABLES)
def test_every_byte_is_read_as_the_standard_says(name: str) -> None:
    assert FORMATS[name].read(bytes(range(256))).tolist() == TABLES[name].tolist()


@pytest.mark.parametrize("name", TABLES)
@given(samples=hnp.arrays(np.int16, st.integers(1, 200)))
def test_a_sample_is_written_as_a_code_that_is_near_it(name: str, samples: Samples) -> None:
    read = TABLES[name][np.frombuffer(FORMATS[name].write(samples), np.uint8)].astype(int)
    assert len(read) == len(samples)
    assert (np.abs(read - samples) <= np.maximum(np.abs(samples.astype(int)) / 16, 16) + 640).all()


async def append(wire: Wire, data: bytes) -> None:
    for start in range(0, len(data), 801):
        await wire.send("input_audio_buffer.append", audio=base64.b64encode(data[start : start + 801]).decode())


@pytest.mark.parametrize("name", TABLES)
async def test_a_telephone_call_is_heard_and_answered_in_the_same_format(simulator: Simulator, name: str) -> None:
    samples = await spoken(simulator, QUESTION)
    form = {"type": name}
    audio = {"input": {"format": form, "transcription": {"model": "sim-ear"}}, "output": {"format": form}}
    async with simulator.session() as wire:
        session = (await wire.setup(output_modalities=["audio"], instructions=context(), audio=audio))["session"]
        assert session["audio"]["input"]["format"] == session["audio"]["output"]["format"] == form
        await append(wire, companded(samples, name))
        await wire.send("input_audio_buffer.commit")
        response = (await wire.ask())["response"]
        reply = TABLES[name][np.frombuffer(wire.sound(), np.uint8)]
        item_id = response["output"][0]["id"]
        has_ms = len(wire.sound()) // 8
        await wire.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=has_ms + 1)
        assert f"of {has_ms}ms is already shorter than {has_ms + 1}ms" in (await wire.refused())["message"]
    assert response["audio"]["output"]["format"] == form
    assert response["output"][0]["content"][0]["transcript"] == ANSWER
    assert wire.all("conversation.item.input_audio_transcription.completed")[0]["transcript"] == QUESTION
    async with simulator.session() as wide:
        await wide.setup(output_modalities=["audio"], instructions=context())
        await wide.say(QUESTION)
    told = np.frombuffer(wide.sound(), "<i2")
    assert len(reply) == pytest.approx(len(told) / 3, abs=1)
    assert likeness(reply, soxr.resample(told, 24_000, 8_000)) > 0.99


@pytest.mark.parametrize("name", TABLES)
async def test_the_beta_has_names_of_its_own_for_the_formats(simulator: Simulator, name: str) -> None:
    samples = await spoken(simulator, QUESTION)
    async with simulator.beta_session() as wire:
        await wire.until("session.created")
        update = {"input_audio_format": BETA[name], "output_audio_format": BETA[name], "turn_detection": None}
        await wire.send("session.update", session=update | {"instructions": context()})
        session = (await wire.until("session.updated"))["session"]
        assert (session["input_audio_format"], session["output_audio_format"]) == (BETA[name], BETA[name])
        await append(wire, companded(samples, name))
        await wire.send("input_audio_buffer.commit")
        response = (await wire.ask())["response"]
    assert response["output_audio_format"] == BETA[name]
    assert response["output"][0]["content"][0]["transcript"] == ANSWER


async def test_one_reply_may_be_ordered_in_another_format(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(output_modalities=["audio"], instructions=context())
        wide = (await wire.say(QUESTION))["response"]["output"][0]
        size = len(wire.sound())
        await wire.say(QUESTION, audio={"output": {"format": {"type": "audio/pcma"}}})
        assert len(wire.sound()) - size == pytest.approx(size / 6, abs=1)
        await wire.send("conversation.item.retrieve", item_id=wide["id"])
        kept = (await wire.until("conversation.item.retrieved"))["item"]["content"][0]["audio"]
    assert len(base64.b64decode(kept)) == size


async def test_a_commit_needs_100_ms_of_the_format_that_is_set(simulator: Simulator) -> None:
    async with simulator.session() as wire:
        await wire.setup(audio={"input": {"format": {"type": "audio/pcmu"}}})
        await append(wire, bytes(799))
        await wire.send("input_audio_buffer.commit")
        assert "only has 99.88ms" in (await wire.refused())["message"]
        await append(wire, bytes(1))
        await wire.send("input_audio_buffer.commit")
        await wire.until("input_audio_buffer.committed")


async def test_the_format_may_change_while_the_buffer_holds_audio(simulator: Simulator) -> None:
    samples = await spoken(simulator, QUESTION)
    half = len(samples) // 2 // 3 * 3
    async with simulator.session() as wire:
        await wire.setup(instructions=context())
        await wire.append(samples[:half])
        await wire.setup(audio={"input": {"format": {"type": "audio/pcmu"}}})
        await append(wire, companded(samples[half:], "audio/pcmu"))
        await wire.send("input_audio_buffer.commit")
        response = (await wire.ask())["response"]
    assert response["output"][0]["content"][0]["text"] == ANSWER
