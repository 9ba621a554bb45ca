"""A recorded caller on the whole road of a trial: the file as it was sent in, what the agent hears, what is kept."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import numpy as np
import pytest
import soundfile

from runs_app.models import Trial
from runs_app.realtime.pcm import to_bytes
from runs_app.services.artifacts import read_audio
from scenarios_app.services.recordings import keep_recording
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.runs.test_conversing import play
from tests.scripted_events import audio_reply
from tests.scripted_server import Expect, Hang, ScriptedServer, serving_in_thread

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = (8000 * np.sin(np.arange(24_000) / 10)).astype("<i2").tobytes()
SCRIPT = [
    *agents.UP,
    Expect("input_audio_buffer.commit"),
    Expect("response.create"),
    *audio_reply([REPLY], "Your table is booked."),
    Hang(),
]


def wav(samples: np.ndarray, rate_hz: int, subtype: str = "PCM_16") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, subtype=subtype, format="WAV")
    return file.getvalue()


def tone(hz: float, seconds: float, rate_hz: int, level: float = 0.5) -> np.ndarray:
    return level * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)


def heard(agent: ScriptedServer) -> np.ndarray:
    """All that the agent was sent, as one sound."""
    sent = agent.sessions[0].events("input_audio_buffer.append")
    return np.frombuffer(b"".join(base64.b64decode(event["audio"]) for event in sent), dtype="<i2")


def strength(samples: np.ndarray, hz: float) -> float:
    spectrum = np.abs(np.fft.rfft(samples / 32_768)) * 2 / samples.size
    return float(spectrum[round(hz * samples.size / 24_000)])


def ask(agent: ScriptedServer, recordings: list[dict[str, Any]], **caller: Any) -> Trial:
    """A trial whose caller was recorded. No speech service runs."""
    one = scenario("book", input={"text": "A table for Nora.", "recordings": recordings})
    configuration = make_configuration(
        endpoint=agent.url,
        mode="audio",
        audio={"real_time": False},
        caller={"endpoint": "http://127.0.0.1:9", **caller},
    )
    return play(make_run([one], configurations=[configuration]))


def kept(data: bytes, **more: Any) -> dict[str, Any]:
    sha256 = keep_recording(data=data, name="nora.wav").recording.sha256
    return {"id": "nora", "path": "audio/nora.wav", "sha256": sha256, **more}


@pytest.mark.case("C07")
def test_a_stereo_recording_is_sent_as_24_khz_mono_and_kept_as_it_was_sent() -> None:
    """C07: 44.1 kHz, 440 Hz left and 880 Hz right, 2.0 s: 96,000 bytes arrive, both tones at half level."""
    both = np.stack([tone(440, 2.0, 44_100), tone(880, 2.0, 44_100)], axis=1)
    with serving_in_thread(SCRIPT) as agent:
        trial = ask(agent, [kept(wav(both, 44_100))])
    assert (trial.outcome, trial.stage, trial.reason) == ("passed", "", trial.reason)
    arrived = heard(agent)
    assert arrived.size * 2 == 96_000
    assert strength(arrived, 440) == pytest.approx(0.25, abs=0.005)
    assert strength(arrived, 880) == pytest.approx(0.25, abs=0.005)
    assert to_bytes(read_audio(trial.wav)[: arrived.size, 0].copy()) == arrived.tobytes()
    told = trial.events.get(type="caller.audio").payload
    assert told["recording"] == "nora"


@pytest.mark.case("C07")
def test_the_chosen_channel_is_what_the_agent_hears() -> None:
    """C07: the caller on the right side of a recorded call."""
    both = np.stack([tone(440, 1.0, 8_000), tone(880, 1.0, 8_000)], axis=1)
    with serving_in_thread(SCRIPT) as agent:
        ask(agent, [kept(wav(both, 8_000), channel=2)])
    arrived = heard(agent)
    assert strength(arrived, 880) == pytest.approx(0.5, abs=0.01)
    assert strength(arrived, 440) < 0.001


@pytest.mark.case("C09")
def test_full_scale_never_wraps_on_its_way_to_the_agent() -> None:
    """C09: a square wave of full scale, resampled, which overshoots."""
    square = np.where((np.arange(48_000) // 240) % 2 == 0, 1.0, -1.0)
    with serving_in_thread(SCRIPT) as agent:
        ask(agent, [kept(wav(square, 48_000, "FLOAT"))])
    middle = heard(agent)[60::120].astype(int)
    assert (middle[0::2] > 30_000).all()
    assert (middle[1::2] < -30_000).all()


def test_silence_after_the_last_word_is_told_because_it_counts_as_latency() -> None:
    tail = np.concatenate([tone(440, 1.0, 24_000), np.zeros(12_000)])
    assert keep_recording(data=wav(tail, 24_000), name="a.wav").notes == (
        "0.5 s without words at its end, which count as latency: better cut them off",
    )
    assert keep_recording(data=wav(tone(440, 1.0, 24_000), 24_000), name="b.wav").notes == ()


def test_a_condition_is_laid_over_a_recording_and_says_what_it_was() -> None:
    with serving_in_thread(SCRIPT) as agent:
        trial = ask(agent, [kept(wav(tone(440, 1.0, 24_000), 24_000))], condition="noisy")
    (turn,) = trial.record["turns"]
    assert turn["line"]["condition"] == {"noise_snr_db": 10}
    clean = to_bytes((tone(440, 1.0, 24_000) * 32_768).astype(np.int16))
    assert heard(agent).tobytes() != clean


def test_a_noisy_recording_tells_from_which_level_on_somebody_speaks() -> None:
    noise = np.random.default_rng(3).normal(0, 0.03, 48_000)
    noise[12_000:36_000] += tone(440, 1.0, 24_000)
    with serving_in_thread(SCRIPT) as agent:
        trial = ask(agent, [kept(wav(noise, 24_000))])
    line = trial.record["turns"][0]["line"]
    assert line["levels"]["threshold_rms"] == pytest.approx(0.03 * 32_768 * 2**0.5, rel=0.1)
    assert (line["voice"][0]["start"], line["voice"][-1]["end"]) == (
        pytest.approx(12_000, abs=96),
        pytest.approx(36_000, abs=96),
    )


@pytest.mark.parametrize("sha256", [None, "0" * 64])
def test_a_sound_that_is_not_here_makes_the_trial_invalid_and_names_it(sha256: str | None) -> None:
    entry = {"id": "nora", "path": "audio/nora.wav"} | ({"sha256": sha256} if sha256 else {})
    with serving_in_thread(SCRIPT) as agent:
        trial = ask(agent, [entry])
        assert agent.sessions == []
    assert (trial.outcome, trial.stage) == ("invalid", "caller_audio")
    assert 'recording "nora" (audio/nora.wav)' in trial.reason
    assert "not on this site" in trial.reason


def test_repeats_take_the_recordings_in_turn_and_a_further_turn_has_its_own() -> None:
    sounds = [keep_recording(data=wav(tone(hz, 0.5, 24_000), 24_000), name=f"{hz}.wav") for hz in (400, 600)]
    listed = [
        {"id": str(place), "path": f"{place}.wav", "sha256": sound.recording.sha256}
        for place, sound in enumerate(sounds, 1)
    ]
    one = scenario("book", input={"text": "A table.", "recordings": listed})
    with serving_in_thread(SCRIPT) as agent:
        configuration = make_configuration(endpoint=agent.url, mode="audio", audio={"real_time": False})
        run = make_run([one], configurations=[configuration], repeats=2)
        trials = [play(run), play(run)]
    played = {trial.repeat: trial.events.get(type="caller.audio").payload["recording"] for trial in trials}
    assert played == {1: "1", 2: "2"}
    assert json.dumps(trials[0].record)  # a record of a recorded turn can be stored
