from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.formats import PCM, as_samples, format_of
from runs_app.realtime.pcm import (
    from_bytes,
    mix_down,
    resample,
    to_bytes,
    to_float,
    to_int16,
)
from runs_app.realtime.record import SAMPLES_PER_MS


@pytest.mark.case("C09")
def test_full_scale_saturates_and_never_changes_sign() -> None:
    """C09: float samples at and beyond full scale, and NaN."""
    samples, clipped = to_int16(np.array([1.0, 1.2, -1.0, -1.05, np.nan, np.inf, -np.inf]))
    assert samples.tolist() == [32767, 32767, -32768, -32768, 0, 32767, -32768]
    assert clipped == 4


@pytest.mark.case("C09")
def test_mixing_two_full_scale_channels_stays_at_full_scale() -> None:
    """C09: the mean, not the sum."""
    mixed = mix_down(np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]))
    assert to_int16(mixed).samples.tolist() == [32767, -32768, 0]


@pytest.mark.case("C09")
def test_a_resampled_square_wave_that_overshoots_keeps_its_signs() -> None:
    """C09: resampling overshoots at the edges of a full-scale square wave; the overshoot is clipped and counted."""
    square = np.where((np.arange(4800) // 100) % 2 == 0, 1.0, -1.0)
    samples, clipped = to_int16(resample(square, from_hz=48_000, to_hz=24_000))
    assert samples.size == 2400
    assert clipped > 0
    middle_of_halves = samples[25::50]
    assert (middle_of_halves[0::2] > 30_000).all()
    assert (middle_of_halves[1::2] < -30_000).all()


@given(st.lists(st.integers(-32768, 32767), max_size=200))
def test_int16_goes_through_floats_and_bytes_unchanged(values: list[int]) -> None:
    samples = np.array(values, dtype=np.int16)
    back, clipped = to_int16(to_float(samples))
    assert back.tolist() == values
    assert clipped == 0
    assert from_bytes(to_bytes(samples)).tolist() == values


@pytest.mark.parametrize(
    ("from_hz", "count", "wanted"), [(44_100, 88_200, 48_000), (16_000, 16_000, 24_000), (8_000, 1, 3)]
)
def test_resampling_keeps_the_duration(from_hz: int, count: int, wanted: int) -> None:
    made = resample(np.sin(np.arange(count) / 20), from_hz=from_hz, to_hz=24_000)
    assert made.size == wanted


def test_resampling_keeps_the_pitch() -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    spectrum = np.abs(np.fft.rfft(resample(tone, from_hz=16_000, to_hz=24_000)))
    assert abs(int(spectrum.argmax()) - 440) <= 1


@pytest.mark.behaviour(21)
def test_48_bytes_are_a_millisecond_and_none_are_none() -> None:
    """Behaviour 21: of PCM16; of G.711 it is 8 bytes."""
    assert [len(as_samples(bytes(n), PCM)) / SAMPLES_PER_MS for n in (48, 0, 48_000)] == [1.0, 0.0, 1000.0]
    narrow = format_of("g711_ulaw")
    assert len(as_samples(bytes(8), narrow)) * 1000 / narrow.rate_hz == 1.0
