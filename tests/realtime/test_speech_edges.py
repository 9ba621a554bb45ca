from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.percentile import nearest_rank
from runs_app.realtime.record import Span
from runs_app.realtime.speech_edges import peaks, voiced, voiced_frames


def loud(count: int, level: float = 3000.0, hz: float = 220.0) -> np.ndarray:
    return level * np.sin(2 * np.pi * hz * np.arange(count) / 24_000)


def channel(length: int, *stretches: tuple[int, int], level: float = 3000.0, hz: float = 220.0) -> np.ndarray:
    samples = np.zeros(length)
    for start, end in stretches:
        samples[start:end] = loud(end - start, level, hz)
    return samples.astype(np.int16)


def p99(errors: list[float]) -> float:
    worst = nearest_rank(np.abs(errors), 99)
    assert worst is not None
    return worst


def test_silence_holds_no_speech() -> None:
    assert voiced(np.zeros(24_000, dtype=np.int16)) == []
    assert voiced(np.zeros(0, dtype=np.int16)) == []


def test_frames_under_the_threshold_are_no_speech_and_at_it_are() -> None:
    assert voiced(np.full(4800, 219, dtype=np.int16)) == []
    assert voiced(np.full(4800, 220, dtype=np.int16)) == [Span(0, 4800)]


def test_edges_lie_inside_the_frame_and_the_unrefined_ones_on_the_grid() -> None:
    samples = channel(24_000, (5 * 24 + 480, 480 * 3 + 13 * 24))
    assert voiced_frames(samples) == [Span(480, 480 * 4)]
    assert voiced(samples) == [Span(480 + 5 * 24, 480 * 3 + 13 * 24)]


def test_an_edge_follows_quiet_speech_into_the_frame_that_was_too_short_of_it() -> None:
    samples = channel(24_000, (480 - 10 * 24, 480 * 5 + 10 * 24), level=320, hz=1000)
    assert voiced_frames(samples) == [Span(480, 480 * 5)]
    assert voiced(samples) == [Span(480 - 10 * 24, 480 * 5 + 10 * 24)]


def test_a_sound_that_ends_within_the_last_frame_ends_with_the_samples() -> None:
    assert voiced(channel(1000, (0, 1000))) == [Span(0, 1000)]


def test_p99_of_a_thousand_synthetic_latencies_is_under_3_ms() -> None:
    """Caller end and agent start anywhere inside their frames, levels and pitches of speech, against truth."""
    rng = np.random.default_rng(7)
    refined, unrefined = [], []
    for _ in range(1000):
        end, gap = int(rng.integers(9_600, 14_400)), int(rng.integers(2_400, 12_000))
        level, hz = float(rng.uniform(600, 12_000)), float(rng.uniform(90, 400))
        caller = channel(36_000, (2_400, end), level=level, hz=hz)
        agent = channel(36_000, (end + gap, 36_000), level=level, hz=hz)
        refined.append((voiced(agent)[0].start - voiced(caller)[-1].end - gap) / 24)
        unrefined.append((voiced_frames(agent)[0].start - voiced_frames(caller)[-1].end - gap) / 24)
    assert p99(refined) < 3
    assert abs(float(np.mean(refined))) < 1
    assert p99(unrefined) > 15  # what refining is for


@given(
    st.lists(st.integers(0, 3000), min_size=2, max_size=12),
    st.integers(100, 20_000),
    st.integers(0, 2**32 - 1),
)
def test_refined_spans_pair_with_frames_in_order_without_overlap(lengths: list[int], level: int, seed: int) -> None:
    noise = np.random.default_rng(seed)
    pieces = [
        noise.integers(-level, level, size) if place % 2 else np.zeros(size, dtype=np.int64)
        for place, size in enumerate(lengths)
    ]
    samples = np.concatenate(pieces).astype(np.int16)
    spans, frames = voiced(samples), voiced_frames(samples)
    assert len(spans) == len(frames)
    edges = [edge for span in spans for edge in (span.start, span.end)]
    assert edges == sorted(edges)
    assert all(0 <= span.start < span.end <= samples.size for span in spans)
    assert all(abs(a.start - b.start) <= 480 for a, b in zip(spans, frames, strict=True))
    assert all(abs(a.end - b.end) <= 960 for a, b in zip(spans, frames, strict=True))


def test_peaks_hold_the_extremes_of_each_bin() -> None:
    samples = np.zeros((600, 2), dtype=np.int16)
    samples[10, 0], samples[20, 0], samples[300, 1], samples[599, 0] = 32767, -32768, 255, -1
    left, right = peaks(samples)
    assert (left.low, left.high) == ([-128, 0, -1], [127, 0, 0])
    assert (right.low, right.high) == ([0, 0, 0], [0, 1, 0])


def test_peaks_of_nothing_and_of_mono() -> None:
    assert peaks(np.zeros((0, 2), dtype=np.int16))[1].low == []
    assert peaks(np.full(240, 512, dtype=np.int16))[0].high == [2]


@pytest.mark.parametrize("work", [voiced, peaks])
def test_five_minutes_take_well_under_a_second(work: Callable[[np.ndarray], object]) -> None:
    samples = np.random.default_rng(1).integers(-9000, 9000, 300 * 24_000).astype(np.int16)
    started = time.process_time()
    work(samples)
    assert time.process_time() - started < 0.8
