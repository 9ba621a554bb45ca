"""The ear's memory: over restarts, between processes, with broken files, and how fast it is."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from runs_app.simulator.ear import BANDS, RATE_HZ, Ear, Heard, fingerprint
from runs_app.simulator.voices import Voices

HELLO = "I would like a table for two."


@pytest.fixture(scope="module")
def voices() -> Voices:
    return Voices()


def test_a_phrase_is_known_after_a_restart(tmp_path: Path, voices: Voices) -> None:
    Ear(tmp_path).remember(HELLO, voices.say(HELLO))
    heard = Ear(tmp_path).hear(voices.say(HELLO))
    assert heard.text == HELLO
    assert heard.score > 0.99


def test_a_phrase_that_another_ear_learnt_meanwhile_is_known(tmp_path: Path, voices: Voices) -> None:
    first, second = Ear(tmp_path), Ear(tmp_path)
    assert second.hear(voices.say(HELLO)) == Heard(None, 0.0, 0.0)
    first.remember(HELLO, voices.say(HELLO))
    assert second.hear(voices.say(HELLO)).text == HELLO


def test_processes_that_learn_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, numpy as np\n"
        "from runs_app.simulator.ear import Ear\n"
        "ear, seed = Ear(sys.argv[1]), int(sys.argv[2])\n"
        "for n in range(20):\n"
        "    rng = np.random.default_rng(seed * 100 + n)\n"
        "    sound = rng.normal(0, 1, 24000) * np.sin(np.arange(24000) / 900) * 4000\n"
        "    ear.remember(f'{seed}-{n}', sound.astype(np.int16))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(seed)]) for seed in (1, 2)]
    assert [process.wait(timeout=60) for process in started] == [0, 0]
    assert len(Ear(tmp_path)) == 40


def test_the_same_phrase_is_kept_once(tmp_path: Path, voices: Voices) -> None:
    ear = Ear(tmp_path)
    for _ in range(3):
        ear.remember(HELLO, voices.say(HELLO))
    assert len(ear) == len(Ear(tmp_path)) == 1


def test_a_broken_file_is_left_out_with_a_warning(tmp_path: Path, voices: Voices, caplog) -> None:
    Ear(tmp_path).remember(HELLO, voices.say(HELLO))
    folder = next(tmp_path.iterdir())
    (folder / "cut.npz").write_bytes(next(folder.glob("*.npz")).read_bytes()[:200])
    (folder / "empty.npz").write_bytes(b"")
    np.savez(folder / "shape.npz", text=np.array("x"), found=np.ones((3, 10)))
    ear = Ear(tmp_path)
    assert len(ear) == 1
    assert ear.hear(voices.say(HELLO)).text == HELLO
    assert {name for name in ("cut.npz", "empty.npz", "shape.npz") if name in caplog.text} == {
        "cut.npz",
        "empty.npz",
        "shape.npz",
    }


@pytest.mark.parametrize("samples", [0, 100, 2_000, RATE_HZ], ids=str)
def test_silence_is_neither_heard_nor_remembered(tmp_path: Path, samples: int) -> None:
    ear = Ear(tmp_path)
    ear.remember("nothing", np.zeros(samples, np.int16))
    assert len(ear) == 0
    assert ear.hear(np.zeros(samples, np.int16)) == Heard(None, 0.0, 0.0)


def test_phrases_that_only_differ_in_punctuation_are_no_rivals(voices: Voices) -> None:
    ear = Ear()
    ear.remember("Yes, that is right.", voices.say("Yes, that is right."))
    ear.remember("yes that is right", voices.say("Yes, that is right."))
    heard = ear.hear(voices.say("Yes, that is right."))
    assert heard.text == "Yes, that is right."
    assert heard.runner_up == 0.0


def test_a_phrase_is_found_among_hundreds(voices: Voices) -> None:
    ear = Ear()
    base = voices.say("Please book a table for Maya on August 6 at 7 p.m. for two people near the window.")
    for n in range(1, 301):
        ear.remember(f"other {n}", np.roll(base, 977 * n)[: len(base) - 40 * (n % 300)])
    ear.remember("the one", base)
    assert ear.hear(base).text == "the one"


def test_a_minute_of_sound_and_a_word_can_be_compared(voices: Voices) -> None:
    ear = Ear()
    ear.remember("Yes.", voices.say("Yes."))
    rng = np.random.default_rng(2)
    long = (rng.normal(0, 2_000, RATE_HZ * 90) * (np.arange(RATE_HZ * 90) // 6_000 % 2)).astype(np.int16)
    assert ear.hear(long).text is None
    ear.remember("a long noise", long)
    assert ear.hear(long).text == "a long noise"


def test_learning_and_hearing_in_many_threads_agree(tmp_path: Path, voices: Voices) -> None:
    ear = Ear(tmp_path)
    words = [f"Number {n}, please." for n in (11, 24, 37, 58, 93, 46)]
    sounds = {word: voices.say(word) for word in words}
    threads = [threading.Thread(target=ear.remember, args=pair) for pair in sounds.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ear.hear(sounds[word]).text for word in words] == words


async def test_a_loop_can_learn_and_listen_without_waiting_itself(voices: Voices) -> None:
    ear = Ear()
    await ear.learn(HELLO, voices.say(HELLO))
    assert (await ear.listen(voices.say(HELLO))).text == HELLO


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.int16, st.integers(0, 30_000)))
def test_any_sound_has_a_fingerprint_of_unit_norm_or_none(samples: npt.NDArray[np.int16]) -> None:
    found = fingerprint(samples)
    if found is not None:
        assert found.shape[0] == BANDS
        assert np.isfinite(found).all()
        assert np.linalg.norm(found) == pytest.approx(1, abs=1e-4)
