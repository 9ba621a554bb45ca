"""`/v1/audio/speech` through the real openai client, and with requests that no client would send."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import openai
import pytest
import soundfile
from openai import AsyncOpenAI

from runs_app.simulator.ear import Ear
from runs_app.simulator.http_reply import HttpReply
from runs_app.simulator.speech_api import answer_speech
from runs_app.simulator.voices import AGENT, CALLER, RATE_HZ, Samples, Voices, synthesise
from tests.simulator.http_app import serving

TEXT = "I would like a table for two on August 6."


class Service:
    """Voices, ear, and a client of the real library that talks to them."""

    def __init__(self, voices: Voices, ear: Ear) -> None:
        self.voices, self.ear = voices, ear
        self.client = AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="none", max_retries=0)

    async def answer(self, body: bytes) -> HttpReply:
        return await answer_speech(body, voices=self.voices, ear=self.ear)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    service = Service(Voices(tmp_path), Ear(tmp_path))
    async with serving({"/v1/audio/speech": service.answer}) as base_url:
        service.client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        async with service.client:
            yield service


async def test_the_client_gets_the_callers_voice_as_pcm(service: Service) -> None:
    speech = await service.client.audio.speech.create(
        model="sim-tts", voice="caller", input=TEXT, response_format="pcm"
    )
    assert np.array_equal(np.frombuffer(speech.content, "<i2"), synthesise(TEXT, CALLER))


async def test_the_client_gets_the_agents_voice_as_a_wav_file(service: Service) -> None:
    speech = await service.client.audio.speech.create(
        model="sim-tts", voice="agent", input=TEXT, response_format="wav", instructions="Sound happy."
    )
    samples, rate_hz = soundfile.read(io.BytesIO(speech.content), dtype="int16")
    assert rate_hz == RATE_HZ
    assert np.array_equal(samples, synthesise(TEXT, AGENT))


async def test_an_answer_can_be_streamed_by_the_client(service: Service) -> None:
    streamed = service.client.audio.speech.with_streaming_response
    async with streamed.create(model="sim-tts", voice="caller", input=TEXT, response_format="pcm") as response:
        body = b"".join([chunk async for chunk in response.iter_bytes()])
    assert len(body) == 2 * len(synthesise(TEXT))


async def test_unknown_names_get_the_documented_defaults(service: Service) -> None:
    speech = await service.client.audio.speech.create(
        model="gpt-4o-mini-tts", voice="alloy", input=TEXT, response_format="pcm"
    )
    assert np.array_equal(np.frombuffer(speech.content, "<i2"), synthesise(TEXT, CALLER))


async def test_speed_is_heard(service: Service) -> None:
    fast = await service.client.audio.speech.create(
        model="sim-tts", voice="caller", input=TEXT, response_format="pcm", speed=1.5
    )
    assert len(fast.content) / 2 < 0.8 * len(synthesise(TEXT))


async def test_what_is_said_is_known_before_the_answer_leaves(service: Service, tmp_path: Path) -> None:
    reply = await service.answer(json.dumps({"model": "m", "input": TEXT, "response_format": "pcm"}).encode())
    samples: Samples = np.frombuffer(reply.body, "<i2").astype(np.int16)
    assert service.ear.hear(samples).text == TEXT
    assert Ear(tmp_path).hear(samples).text == TEXT


async def test_speech_from_an_earlier_run_is_understood_after_a_restart(service: Service, tmp_path: Path) -> None:
    speech = await service.client.audio.speech.create(model="m", voice="caller", input=TEXT, response_format="pcm")
    restarted = Service(Voices(tmp_path), Ear(tmp_path))
    assert restarted.ear.hear(np.frombuffer(speech.content, "<i2").astype(np.int16)).text == TEXT


@pytest.mark.parametrize("kind", ["mp3", "opus", "aac", "flac"])
async def test_other_formats_are_refused_in_openais_envelope(service: Service, kind: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await service.client.audio.speech.create(
            model="m",
            voice="caller",
            input="Hello",
            response_format=kind,  # type: ignore[arg-type]
        )
    assert refused.value.param == "response_format"
    assert refused.value.type == "invalid_request_error"
    assert f"'{kind}' is not offered here; ask for pcm or wav" in refused.value.message


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"input": None}, "input"),
        ({"input": "  "}, "input"),
        ({"input": 5}, "input"),
        ({"input": "..."}, "input"),
        ({"input": "a" * 5_000}, "input"),
        ({"response_format": None}, "response_format"),
        ({"response_format": ["pcm"]}, "response_format"),
        ({"speed": 0}, "speed"),
        ({"speed": 9}, "speed"),
        ({"speed": "fast"}, "speed"),
        ({"speed": True}, "speed"),
        ({"speed": float("nan")}, "speed"),
    ],
    ids=str,
)
async def test_a_bad_request_names_its_parameter(service: Service, change: dict[str, object], param: str) -> None:
    asked = {"model": "m", "input": "Hello", "voice": "caller", "response_format": "pcm", **change}
    reply = await service.answer(json.dumps(asked).encode())
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["param"] == param
    assert len(service.ear) == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"\xff\xfe"])
async def test_a_body_that_is_no_json_object_is_refused(service: Service, body: bytes) -> None:
    reply = await service.answer(body)
    assert reply.status == 400
    assert "JSON" in json.loads(reply.body)["error"]["message"]
