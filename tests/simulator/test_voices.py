"""The voices: repeatable, clearly two, level, with short silence; and how written forms are read aloud."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.simulator import voices as voices_module
from runs_app.simulator.spoken import spoken
from runs_app.simulator.voices import AGENT, CALLER, RATE_HZ, VOICES, Voices, known_voice, synthesise

TEXT = "Book a table for Maya on August 6 at 7 p.m. for two."
SPEECH_RMS = 220  # what counts as speech everywhere in the project, over 20 ms


def loudness(samples: npt.NDArray[np.int16], frame_ms: int = 20) -> npt.NDArray[np.float64]:
    size = RATE_HZ * frame_ms // 1000
    frames = samples[: len(samples) // size * size].reshape(-1, size).astype(float)
    return np.sqrt((frames**2).mean(axis=1))


def pitch_hz(samples: npt.NDArray[np.int16]) -> float:
    """Median over loud 40 ms frames of the strongest period between 80 and 400 Hz."""
    size = RATE_HZ // 25
    frames = samples[: len(samples) // size * size].reshape(-1, size).astype(float)
    loud = frames[np.sqrt((frames**2).mean(axis=1)) > 2_000]
    lags = range(RATE_HZ // 400, RATE_HZ // 80)
    best = [max(lags, key=lambda lag: np.corrcoef(frame[:-lag], frame[lag:])[0, 1]) for frame in loud]
    return float(RATE_HZ / np.median(best))


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("text", [TEXT, "Yes.", "R-100", "My phone number is +1 555 010 0134."])
def test_speech_is_level_and_framed_by_short_silence(text: str, voice: str) -> None:
    samples = synthesise(text, voice)
    assert samples.dtype == np.int16
    assert samples.ndim == 1
    peak_dbfs = 20 * np.log10(np.abs(samples.astype(int)).max() / 32767)
    assert peak_dbfs == pytest.approx(-6, abs=0.1)
    frames = loudness(samples)
    voiced = np.flatnonzero(frames >= SPEECH_RMS)
    assert frames[voiced].mean() > 5 * SPEECH_RMS
    assert voiced[0] * 20 <= 120
    assert (len(frames) - 1 - voiced[-1]) * 20 <= 120
    assert samples[0] == samples[-1] == 0


@pytest.mark.parametrize("voice", VOICES)
def test_the_same_words_give_the_same_samples(voice: str) -> None:
    assert np.array_equal(synthesise(TEXT, voice), synthesise(TEXT, voice))


def test_another_process_says_it_with_the_same_samples() -> None:
    script = (
        "import hashlib, sys\n"
        "from runs_app.simulator.voices import synthesise\n"
        "print(hashlib.sha256(synthesise(sys.argv[1]).tobytes()).hexdigest())\n"
    )
    ran = subprocess.run([sys.executable, "-c", script, TEXT], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == hashlib.sha256(synthesise(TEXT).tobytes()).hexdigest()


def test_the_agent_is_clearly_lower_at_about_the_same_pace() -> None:
    caller, agent = synthesise(TEXT, CALLER), synthesise(TEXT, AGENT)
    assert pitch_hz(agent) < 0.9 * pitch_hz(caller)
    assert len(agent) / len(caller) == pytest.approx(1, abs=0.15)


def test_speed_makes_it_shorter_or_longer() -> None:
    normal = len(synthesise(TEXT))
    assert len(synthesise(TEXT, speed=1.5)) < 0.8 * normal
    assert len(synthesise(TEXT, speed=0.6)) > 1.3 * normal


@pytest.mark.parametrize("name", ["alloy", "", None, 7, "CALLER"])
def test_an_unknown_voice_is_the_default(name: object) -> None:
    assert known_voice(name) == CALLER
    assert known_voice(name, AGENT) == AGENT


@pytest.mark.parametrize("text", ["", "   ", "...", "¿?"])
def test_words_that_cannot_be_said_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="nothing that can be said"):
        synthesise(text)


def test_a_phrase_comes_from_the_disk_after_a_restart(tmp_path: Path, monkeypatch) -> None:
    first = Voices(tmp_path).say(TEXT, AGENT)

    def no_model(*_: object, **__: object) -> None:
        raise AssertionError("the phrase was made again")

    monkeypatch.setattr(voices_module, "synthesise", no_model)
    assert np.array_equal(Voices(tmp_path).say(TEXT, AGENT), first)


def test_a_broken_file_of_the_cache_is_made_again(tmp_path: Path) -> None:
    first = Voices(tmp_path).say("Good evening.")
    (stored,) = (tmp_path / "speech").glob("*.flac")
    stored.write_bytes(stored.read_bytes()[:50])
    assert np.array_equal(Voices(tmp_path).say("Good evening."), first)


def test_the_cache_keeps_its_size(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(voices_module, "_DISK_PHRASES", 3)
    voices = Voices(tmp_path)
    for n in range(5):
        voices.say(f"Number {n}.")
    assert len(list((tmp_path / "speech").iterdir())) == 3


def test_voices_and_speeds_are_not_mixed_up(tmp_path: Path) -> None:
    voices = Voices(tmp_path)
    kinds = [voices.say("Yes, please.", voice, speed=speed) for voice in VOICES for speed in (1.0, 1.4)]
    assert len({each.tobytes() for each in kinds}) == 4


async def test_the_loop_goes_on_while_the_model_works() -> None:
    voices = Voices()
    speaking = asyncio.create_task(voices.speak("A rather long sentence, " * 12 + "and its end."))
    longest_s, last = 0.0, time.perf_counter()
    while not speaking.done():
        await asyncio.sleep(0)
        longest_s, last = max(longest_s, time.perf_counter() - last), time.perf_counter()
    assert len(speaking.result()) > 10 * RATE_HZ
    assert longest_s < 0.25


async def test_many_at_once_each_get_their_own_words() -> None:
    voices = Voices()
    words = [f"Table {n}." for n in range(1, 7)]
    said = await asyncio.gather(*(voices.speak(each) for each in words))
    assert all(np.array_equal(one, synthesise(each)) for one, each in zip(said, words, strict=True))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Reservation R-100", "Reservation R 100"),
        ("R-103 and RES-2041", "R one zero three and R E S two zero four one"),
        ("A-12", "Ay 12"),
        ("code XK4T9Q", "code X K four T nine Q"),
        ("at 19:00", "at 7 p.m."),
        ("at 07:30", "at 7:30 a.m."),
        ("at 7:30 pm", "at 7:30 pm"),
        ("at 7 p.m. on 2027-05-15", "at 7 p.m. on 2027-05-15"),
        ("12:00 or 00:00", "noon or midnight"),
        ("2027-05-15T19:00:00Z", "2027-05-15 at 7 p.m."),
        ("+1 555 010 0134", "plus one, five five five, zero one zero, zero one three four"),
        ("(415) 555-0132", "four one five, five five five, zero one three two"),
        ("maya.lind@example.com", "maya dot lind at example dot com"),
        ("on August 6 for two", "on August 6 for two"),
    ],
)
def test_written_forms_are_read_as_people_say_them(written: str, read: str) -> None:
    assert spoken(written) == read


@given(st.text(max_size=80))
def test_reading_aloud_never_fails_and_is_stable(text: str) -> None:
    once = spoken(text)
    assert "  " not in once
    assert spoken(once) == spoken(once)
