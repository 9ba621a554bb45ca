"""Sound that comes in pieces, at another rate: no seam, no drift, no image."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.resampling import StreamResampler

RATES = (8_000, 11_025, 16_000, 22_050, 44_100, 48_000)
CUTS = st.lists(st.integers(0, 3000), max_size=20)


def resampled(samples: npt.NDArray[np.float64], from_hz: int, cuts: list[int] | None = None) -> npt.NDArray[np.float64]:
    made = StreamResampler(from_hz, 24_000)
    edges = [0, *sorted(min(cut, samples.size) for cut in cuts or []), samples.size]
    pieces = [made.resample(samples[start:end]) for start, end in pairwise(edges)]
    return np.concatenate((*pieces, made.finish()))


def sine(hz: float, rate_hz: int, seconds: float = 0.4) -> npt.NDArray[np.float64]:
    return 0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)


@given(from_hz=st.sampled_from(RATES), count=st.integers(0, 3000), cuts=CUTS, seed=st.integers(0, 9))
def test_wherever_a_sound_is_cut_the_samples_are_the_same(from_hz: int, count: int, cuts: list[int], seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=count) / 5
    whole = resampled(noise, from_hz)
    assert np.array_equal(resampled(noise, from_hz, cuts), whole)
    assert whole.size == (count * 24_000 + from_hz // 2) // from_hz


@pytest.mark.parametrize("from_hz", RATES)
@pytest.mark.parametrize("hz", [300.0, 1000.0, 3400.0])
def test_a_tone_keeps_its_pitch_phase_and_level(from_hz: int, hz: float) -> None:
    made = resampled(sine(hz, from_hz), from_hz, [777, 1555, 1556])
    assert np.abs(made - sine(hz, 24_000))[200:-200].max() < 0.001


def test_from_8_khz_nothing_sounds_above_the_telephone_band() -> None:
    """The image of 3.4 kHz would lie at 4.6 kHz."""
    spectrum = np.abs(np.fft.rfft(resampled(sine(3400, 8_000, 1.0), 8_000) * np.hanning(24_000)))
    assert spectrum[4400:].max() < spectrum.max() / 1000


def test_from_48_khz_what_24_khz_cannot_hold_is_gone() -> None:
    assert np.abs(resampled(sine(15_000, 48_000), 48_000))[200:-200].max() < 0.001


@pytest.mark.parametrize("from_hz", RATES)
def test_never_more_than_a_few_milliseconds_are_kept_back(from_hz: int) -> None:
    made, held = StreamResampler(from_hz, 24_000), []
    for _ in range(40):
        made.resample(np.zeros(123))
        held.append(made.held)
    assert max(held[2:]) <= 72
    assert max(held[2:]) - min(held[2:]) <= 1
