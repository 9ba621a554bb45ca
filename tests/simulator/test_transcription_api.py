"""`/v1/audio/transcriptions` through the real openai client, and with requests that no client would send."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI

from runs_app.simulator.agent_ear import AgentEar
from runs_app.simulator.ear import LONGEST_S, Ear
from runs_app.simulator.http_reply import HttpReply, RequestError
from runs_app.simulator.multipart import read_form
from runs_app.simulator.transcription_api import answer_transcription
from runs_app.simulator.voices import AGENT, CALLER, RATE_HZ, Samples, Voices, synthesise
from tests.simulator.http_app import serving
from tests.simulator.wire_client import Simulator

TEXT = "I would like a table for two on August 6."
OTHER = "The lantern is on the second shelf."


@pytest.fixture(scope="module")
def ear() -> Ear:
    ear = Ear()
    for words in (TEXT, OTHER):
        ear.remember(words, synthesise(words, CALLER))
    return ear


@pytest.fixture
async def client(ear: Ear) -> AsyncIterator[AsyncOpenAI]:
    async def answer(body: bytes) -> HttpReply:
        return await answer_transcription(body, ear=ear)

    async with (
        serving({"/v1/audio/transcriptions": answer}) as base_url,
        AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client,
    ):
        yield client


def audio(samples: Any, *, rate_hz: int = RATE_HZ, format: str = "WAV", subtype: str | None = None) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=format, subtype=subtype)
    return file.getvalue()


def said(words: str = TEXT) -> Samples:
    return synthesise(words, CALLER)


def form(file: bytes | None, **fields: str) -> bytes:
    """A body as clients write it; `file` None leaves the recording out."""
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
    if file is not None:
        head = 'Content-Disposition: form-data; name="file"; filename="said.wav"\r\nContent-Type: audio/wav\r\n\r\n'
        parts.append(head.encode() + file)
    return b"".join(b"--edge\r\n" + part + b"\r\n" for part in parts) + b"--edge--\r\n"


@pytest.mark.parametrize(
    ("format", "subtype"),
    [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", None)],
)
async def test_the_client_gets_the_words_of_a_recording(client: AsyncOpenAI, format: str, subtype: str | None) -> None:
    file = audio(said(), format=format, subtype=subtype)
    written = await client.audio.transcriptions.create(model="whisper-1", file=(f"said.{format.lower()}", file))
    assert written.text == TEXT
    assert written.usage is not None
    assert written.usage.type == "duration"
    assert 0 <= written.usage.seconds - len(said()) / RATE_HZ < 1.1


async def test_the_client_gets_plain_text_when_it_asks_for_it(client: AsyncOpenAI) -> None:
    written = await client.audio.transcriptions.create(
        model="sim-ear", file=("said.wav", audio(said(OTHER))), response_format="text", language="en"
    )
    assert str(written) == f"{OTHER}\n"


async def test_another_rate_and_a_second_channel_are_heard(client: AsyncOpenAI) -> None:
    slow = said()[::3]  # 8 kHz, as a telephone has it
    file = audio(np.stack([slow, slow], axis=1), rate_hz=8_000)
    written = await client.audio.transcriptions.create(model="m", file=("said.wav", file))
    assert written.text == TEXT


@pytest.mark.parametrize("samples", [np.zeros(24_000, np.int16), np.zeros(0, np.int16)], ids=["silence", "nothing"])
async def test_silence_has_no_words(ear: Ear, samples: Samples) -> None:
    reply = await answer_transcription(form(audio(samples), model="m"), ear=ear)
    assert (reply.status, json.loads(reply.body)["text"]) == (200, "")


async def test_what_no_voice_here_ever_said_has_no_words(ear: Ear) -> None:
    unknown = synthesise("Nobody has taught the ear this one, not even once.", AGENT)
    reply = await answer_transcription(form(audio(unknown), model="m"), ear=ear)
    assert json.loads(reply.body)["text"] == ""


async def test_what_the_agent_said_lately_is_known_to_no_caller_and_yet_written_down(ear: Ear, tmp_path: Path) -> None:
    voices = Voices(tmp_path)
    said = voices.say("Your taxi comes to the north gate.", AGENT)
    body = form(audio(said), model="m")
    assert json.loads((await answer_transcription(body, ear=ear)).body)["text"] == ""
    agent_ear = AgentEar(voices)
    for reply in await asyncio.gather(*(answer_transcription(body, ear=ear, agent_ear=agent_ear) for _ in range(4))):
        assert json.loads(reply.body)["text"] == "Your taxi comes to the north gate."
    assert (await ear.listen(said)).text is None
    assert json.loads((await answer_transcription(body, ear=ear, agent_ear=AgentEar(Voices()))).body)["text"] == ""


async def test_half_a_sentence_is_written_down_as_half(ear: Ear) -> None:
    reply = await answer_transcription(form(audio(said()[: len(said()) // 2]), model="m"), ear=ear)
    text = json.loads(reply.body)["text"]
    assert text
    assert TEXT.startswith(text)
    assert len(text) < len(TEXT)


@pytest.mark.parametrize("kind", ["srt", "vtt", "verbose_json"])
async def test_other_formats_are_refused_in_openais_envelope(client: AsyncOpenAI, kind: Any) -> None:
    with pytest.raises(openai.BadRequestError, match=f"'{kind}' is not offered here; ask for json or text") as refused:
        await client.audio.transcriptions.create(model="m", file=("said.wav", audio(said())), response_format=kind)
    assert (refused.value.param, refused.value.type) == ("response_format", "invalid_request_error")


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (form(b"x"), "model", "model is missing"),
        (form(b"x", model=" "), "model", "model is missing"),
        (form(None, model="m"), "file", "empty or missing"),
        (form(b"", model="m"), "file", "empty or missing"),
        (form(b"no sound at all", model="m"), "file", "no wav, flac, ogg or mp3"),
        (form(audio(said())[:20], model="m"), "file", "no wav, flac, ogg or mp3"),
        (form(audio(np.zeros(100, np.int16), rate_hz=4_000), model="m"), "file", "4000 samples a second"),
        (form(audio(np.zeros((100, 9), np.int16)), model="m"), "file", "9 channels"),
        (
            form(audio(np.zeros((LONGEST_S + 1) * 8_000, np.int16), rate_hz=8_000, format="FLAC"), model="m"),
            "file",
            f"lasts {LONGEST_S + 1} s",
        ),
        (form(audio(said()), model="m", stream="true"), "stream", "streaming is not offered"),
        (b"", None, "multipart/form-data"),
        (b'{"model": "m"}', None, "multipart/form-data"),
        (b"--edge\r\n\r\nno name\r\n--edge--\r\n", None, "has no name"),
        (form(audio(said()), model="m")[:-20], None, "ends before its last boundary"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_bad_request_is_told_what_is_wrong(ear: Ear, body: bytes, param: str | None, message: str) -> None:
    reply = await answer_transcription(body, ear=ear)
    error = json.loads(reply.body)["error"]
    assert (reply.status, error["param"]) == (400, param)
    assert message in error["message"]
    assert "0x" not in error["message"]


async def test_a_recording_of_what_is_no_number_is_silence(ear: Ear) -> None:
    file = audio(np.full(2_400, np.nan, np.float32), subtype="FLOAT")
    reply = await answer_transcription(form(file, model="m"), ear=ear)
    assert (reply.status, json.loads(reply.body)["text"]) == (200, "")


async def test_the_running_simulator_writes_down_what_it_said_before(simulator: Simulator) -> None:
    async with AsyncOpenAI(base_url=f"{simulator.http}/v1", api_key="none", max_retries=0) as client:
        speech = await client.audio.speech.create(model="m", voice="agent", input=OTHER, response_format="wav")
        written = await client.audio.transcriptions.create(model="m", file=("said.wav", speech.content))
    assert written.text == OTHER


@given(st.dictionaries(st.text("abcdef[]_", min_size=1), st.binary(), min_size=1))
def test_a_form_is_read_as_it_was_written(fields: dict[str, bytes]) -> None:
    edge = b"--an edge that no field holds"
    parts = [b'Content-Disposition: form-data; name="%s"\r\n\r\n%s' % (n.encode(), v) for n, v in fields.items()]
    body = b"".join(edge + b"\r\n" + part + b"\r\n" for part in parts) + edge + b"--\r\n"
    assert read_form(body) == fields


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda end: form(b"x", model="m")[:-4] + end))
def test_any_other_body_is_refused_or_read(body: bytes) -> None:
    with contextlib.suppress(RequestError):
        read_form(body)


async def test_any_recording_is_answered_and_never_fails(ear: Ear) -> None:
    file = bytearray(audio(said()))
    for place in range(44):  # the header, one byte after the other
        file[place] ^= 0xFF
        reply: HttpReply = await answer_transcription(form(bytes(file), model="m"), ear=ear)
        assert reply.status in (200, 400), place
        file[place] ^= 0xFF
