"""The recognition extra: strangers are understood where it is installed, and nothing changes where it is not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from runs_app.simulator.agent_ear import AgentEar
from runs_app.simulator.ear import Ear
from runs_app.simulator.recognition import is_installed, words_in
from runs_app.simulator.transcription_api import answer_transcription
from runs_app.simulator.voices import AGENT, CALLER, Voices
from tests.services import missing
from tests.simulator.test_transcription_api import audio, form

ASKED = "Could I book a table on May 15 at 7 p.m. for six people?"


@pytest.mark.skipif(is_installed(), reason="the recognition extra is installed")
def test_without_the_extra_a_stranger_is_not_caught() -> None:
    said = Voices().say(ASKED, CALLER)
    assert words_in(said) is None
    assert Ear().hear(said).text is None


@pytest.mark.slow
def test_with_the_extra_the_ear_understands_who_never_spoke_to_it_and_makes_nothing_up() -> None:
    if not is_installed():
        missing("recognition", 'the recognition extra is not installed (pip install ".[recognition]")')
    ear = Ear()
    assert ear.hear(Voices().say(ASKED, CALLER)).text == ASKED
    noise = np.random.default_rng(1).normal(0, 800, 48_000).astype(np.int16)
    assert ear.hear(noise).text is None
    assert words_in(np.zeros(48_000, dtype=np.int16)) is None


@pytest.mark.slow
async def test_with_the_extra_too_what_our_agent_said_is_written_down_as_it_was_spelt() -> None:
    if not is_installed():
        missing("recognition", 'the recognition extra is not installed (pip install ".[recognition]")')
    voices = Voices()
    spelt = "Ask for Xiomara Quigg at Llanelli House."
    body = form(audio(voices.say(spelt, AGENT)), model="m")
    reply = await answer_transcription(body, ear=Ear(), agent_ear=AgentEar(voices))
    assert json.loads(reply.body)["text"] == spelt
