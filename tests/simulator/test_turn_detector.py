"""Where speech begins and ends, on sounds whose truth is known to the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.simulator.turn_detector import FRAME_MS, Mark, TurnDetector

Samples = npt.NDArray[np.int16]
Json = Any
SERVER = {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 200}
SEMANTIC = {"type": "semantic_vad", "eagerness": "high"}


def silence(ms: int, rate_hz: int = 24_000) -> Samples:
    return np.zeros(ms * rate_hz // 1000, np.int16)


def noise(ms: int, dbfs: float, rate_hz: int = 24_000) -> Samples:
    rng = np.random.default_rng(3)
    return (rng.normal(0, 10 ** (dbfs / 20) * 32_767, ms * rate_hz // 1000)).clip(-32_768, 32_767).astype(np.int16)


def line(*pieces: Samples) -> Samples:
    return np.concatenate(pieces)


def marks(detector: TurnDetector, samples: Samples, rate_hz: int = 24_000) -> list[tuple[str, float, float]]:
    """(kind, where it was noticed, where speech had ended), in ms."""
    return [(mark.kind, mark.place / 24, mark.speech_end / 24) for mark in detector.feed(samples, rate_hz)]


def kinds(found: list[Any]) -> list[str]:
    return [one[0] for one in found]


@pytest.mark.parametrize("rate_hz", [24_000, 8_000])
@pytest.mark.parametrize("silence_ms", [100, 200, 500, 900])
def test_speech_is_found_to_the_frame_and_ends_after_the_silence_that_was_asked_for(
    rate_hz: int, silence_ms: int
) -> None:
    sound = line(silence(500, rate_hz), noise(800, -20, rate_hz), silence(1_500, rate_hz))
    found = marks(TurnDetector(SERVER | {"silence_duration_ms": silence_ms}, 0), sound, rate_hz)
    assert kinds(found) == ["started", "stopped"]
    (_, started, _), (_, stopped, ended) = found
    assert abs(started - 500) <= FRAME_MS
    assert abs(ended - 1_300) <= FRAME_MS
    assert stopped == ended + silence_ms


def test_a_pause_shorter_than_the_silence_ends_nothing() -> None:
    sound = line(silence(300), noise(400, -20), silence(300), noise(400, -20), silence(1_000))
    assert kinds(marks(TurnDetector(SERVER | {"silence_duration_ms": 400}, 0), sound)) == ["started", "stopped"]
    assert kinds(marks(TurnDetector(SERVER, 0), sound)) == ["started", "stopped"] * 2


def test_a_click_is_no_speech_and_does_not_keep_a_turn_open() -> None:
    click = noise(20, -6)
    assert not marks(TurnDetector(SERVER, 0), line(silence(400), click, silence(400), click, silence(400)))
    spoken = line(silence(200), noise(500, -20), silence(100), click, silence(400))
    assert [round(end) for _, _, end in marks(TurnDetector(SERVER, 0), spoken)][-1] <= 700


def test_long_speech_with_the_gaps_of_speech_is_one_turn_and_steady_sound_is_none() -> None:
    talking = line(*[line(noise(240, -20), silence(60)) for _ in range(30)])
    assert kinds(marks(TurnDetector(SERVER, 0), line(silence(200), talking))) == ["started"]
    humming = marks(TurnDetector(SERVER, 0), line(silence(200), noise(9_000, -20)))
    assert kinds(humming) == ["started", "stopped"]
    assert humming[1][1] < 4_000


@pytest.mark.parametrize(("threshold", "dbfs", "heard"), [(0.5, -50, True), (0.9, -50, False), (0.0, -65, True)])
def test_a_higher_threshold_needs_louder_speech(threshold: float, dbfs: float, heard: bool) -> None:
    found = marks(TurnDetector(SERVER | {"threshold": threshold}, 0), line(silence(300), noise(600, dbfs)))
    assert bool(found) is heard


def test_a_noisy_line_is_not_speech_for_ever() -> None:
    hiss = noise(6_000, -40)
    speech = line(silence(3_000), noise(900, -15), silence(2_100))
    sound = np.clip(hiss.astype(int) + speech, -32_768, 32_767).astype(np.int16)
    found = [one for one in marks(TurnDetector(SERVER, 0), sound) if one[1] > 2_000]
    assert kinds(found) == ["started", "stopped"]
    assert abs(found[0][1] - 3_000) <= 2 * FRAME_MS
    assert abs(found[1][2] - 3_900) <= 2 * FRAME_MS


@pytest.mark.parametrize(
    ("eagerness", "wait_ms"), [("high", 2_000), ("auto", 4_000), ("medium", 4_000), ("low", 8_000)]
)
def test_semantic_detection_asks_at_a_pause_and_waits_long_when_it_gets_no_answer(eagerness: str, wait_ms: int) -> None:
    sound = line(silence(200), noise(500, -20), silence(9_000))
    found = marks(TurnDetector(SEMANTIC | {"eagerness": eagerness}, 0), sound)
    assert kinds(found) == ["started", "paused", "stopped"]
    assert found[1][1] - found[1][2] == 300
    assert found[2][1] - found[2][2] == wait_ms


def test_who_finds_the_sentence_complete_ends_the_turn() -> None:
    detector = TurnDetector(SEMANTIC, 0)
    seen: list[Mark] = []
    for mark in detector.feed(line(silence(200), noise(500, -20), silence(3_000), noise(500, -20)), 24_000):
        seen.append(mark)
        if mark.kind == "paused":
            detector.stop()
    assert [mark.kind for mark in seen] == ["started", "paused", "started"]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 9_000), min_size=1, max_size=30), st.integers(0, 3))
def test_how_the_audio_is_cut_changes_nothing(sizes: list[int], gap: int) -> None:
    sound = line(silence(130), noise(400, -25), silence(150 + 100 * gap), noise(333, -30), silence(700))
    whole = marks(TurnDetector(SERVER, 0), sound)
    detector, cut, place = TurnDetector(SERVER, 0), [], 0
    while place < len(sound):
        size = sizes[place % len(sizes)]
        cut += marks(detector, sound[place : place + size])
        place += size
    assert cut == whole


def test_a_detector_that_comes_later_tells_places_on_the_sessions_clock() -> None:
    found = marks(TurnDetector(SERVER, 24_000 * 10), line(silence(200), noise(300, -20), silence(400)))
    assert abs(found[0][1] - 10_200) <= FRAME_MS
