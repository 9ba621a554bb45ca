"""Recorded requests as people upload them. The decoder below has its own tests in test_wav.py."""

from __future__ import annotations

import io
import struct
from contextlib import suppress

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.realtime.record import RATE_HZ
from runs_app.realtime.recording_audio import read_recording
from runs_app.realtime.wav import AudioFormatError, wav_bytes


def tone(hz: float, seconds: float, rate_hz: int, level: float = 0.5) -> np.ndarray:
    return level * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)


def encoded(samples: np.ndarray, rate_hz: int, subtype: str, container: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, subtype=subtype, format=container)
    return file.getvalue()


def strength(samples: np.ndarray, hz: float) -> float:
    """Amplitude of a tone that fits into the samples a whole number of times; full scale is 1."""
    spectrum = np.abs(np.fft.rfft(samples / 32_768)) * 2 / samples.size
    return float(spectrum[round(hz * samples.size / RATE_HZ)])


def harmonic_noise_db(samples: np.ndarray, hz: float) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.blackman(samples.size)))
    main = round(hz * samples.size / RATE_HZ)
    spectrum[main - 20 : main + 21], peak = 0, spectrum[main]
    return float(20 * np.log10(spectrum.max() / peak))


@pytest.mark.case("C01")
@pytest.mark.parametrize("declared", [0xFFFFFFFF, 0, 2_000_000_000])
def test_an_uploaded_header_that_does_not_know_its_length_is_one_second_long(declared: int) -> None:
    """C01: 48,000 bytes of audio under a wrong length; what we store has a correct header."""
    sound = (tone(440, 1.0, RATE_HZ) * 32_767).astype(np.int16)
    wav = wav_bytes(sound)
    recorded = read_recording(wav[:40] + struct.pack("<I", declared) + wav[44:])
    assert recorded.duration_ms == 1000.0
    assert recorded.samples.tolist() == sound.tolist()
    assert struct.unpack("<I", wav_bytes(recorded.samples)[40:44]) == (48_000,)
    assert recorded.notes == ()


@pytest.mark.case("C03")
def test_an_extensible_stereo_recording_keeps_length_and_tone() -> None:
    """C03: tag 0xFFFE at 48 kHz, with FE FF bytes among the samples."""
    both = np.stack([tone(440, 1.0, 48_000)] * 2, axis=1)
    both[100:140] = -2 / 32_768
    recorded = read_recording(encoded(both, 48_000, "PCM_16", "WAVEX"))
    assert abs(recorded.duration_ms - 1000) <= 1
    assert strength(recorded.samples, 440) == pytest.approx(0.5, abs=0.005)
    assert recorded.notes == ("resampled from 48000 Hz to 24000 Hz", "mixed down from 2 channels")


@pytest.mark.case("C05")
@pytest.mark.parametrize("count", [48_000, 48_001])
def test_24_bit_recordings_are_clean_tones(count: int) -> None:
    """C05: 440 Hz within 0.1 dB, other noise below -60 dB, with an even and an odd number of data bytes."""
    made = tone(440, 1.1, 48_000)[:count]
    samples = read_recording(encoded(made, 48_000, "PCM_24")).samples[:24_000]
    assert abs(20 * np.log10(strength(samples, 440) / 0.5)) < 0.1
    assert harmonic_noise_db(samples, 440) < -60


@pytest.mark.case("C05")
def test_float_recordings_beyond_full_scale_are_clipped_and_say_so() -> None:
    """C05: float32 at 24 kHz with peaks at 1.5."""
    made = tone(440, 0.5, RATE_HZ, level=1.5).astype(np.float32)
    recorded = read_recording(encoded(made, RATE_HZ, "FLOAT"))
    assert (recorded.samples.max(), recorded.samples.min()) == (32_767, -32_768)
    assert recorded.notes == (f"clipped samples: {int(np.count_nonzero(np.abs(made) > 1))}",)


@pytest.mark.case("C07")
def test_both_sides_of_a_stereo_recording_are_heard_at_half_level() -> None:
    """C07: 44.1 kHz, 440 Hz left and 880 Hz right, 2.0 s: 48,000 samples, not an octave off."""
    both = np.stack([tone(440, 2.0, 44_100), tone(880, 2.0, 44_100)], axis=1)
    recorded = read_recording(encoded(both, 44_100, "PCM_16"))
    assert recorded.samples.size * 2 == 96_000
    assert strength(recorded.samples, 440) == pytest.approx(0.25, abs=0.005)
    assert strength(recorded.samples, 880) == pytest.approx(0.25, abs=0.005)


@pytest.mark.case("C07")
@pytest.mark.parametrize(("channel", "hz", "other"), [(1, 440, 880), (2, 880, 440)])
def test_one_side_of_a_stereo_recording_can_be_chosen(channel: int, hz: int, other: int) -> None:
    """C07: the caller is on one side of a recorded call."""
    both = np.stack([tone(440, 2.0, 44_100), tone(880, 2.0, 44_100)], axis=1)
    recorded = read_recording(encoded(both, 44_100, "PCM_16"), channel=channel)
    assert strength(recorded.samples, hz) == pytest.approx(0.5, abs=0.005)
    assert strength(recorded.samples, other) < 0.001
    assert recorded.notes[-1] == f"channel {channel} of 2"


@pytest.mark.case("C07")
def test_a_16_khz_recording_keeps_its_pitch() -> None:
    """C07: 440 stays 440."""
    recorded = read_recording(encoded(tone(440, 1.0, 16_000), 16_000, "PCM_16"))
    assert recorded.samples.size == 24_000
    assert strength(recorded.samples, 440) == pytest.approx(0.5, abs=0.005)


@pytest.mark.case("C09")
def test_a_full_scale_square_wave_keeps_its_signs_and_counts_what_was_clipped() -> None:
    """C09: resampling overshoots; nothing wraps."""
    high = (np.arange(48_000) // 240) % 2 == 0
    both = np.stack([np.where(high, 32_767, -32_768)] * 2, axis=1).astype(np.int16)
    recorded = read_recording(encoded(both, 48_000, "PCM_16"))
    assert recorded.clipped > 0
    middle = recorded.samples[60::120]
    assert (middle[0::2] > 30_000).all()
    assert (middle[1::2] < -30_000).all()


@pytest.mark.case("C09")
def test_a_sample_that_is_no_number_spoils_no_other() -> None:
    """C09: NaN is silence, also where the recording is resampled."""
    made = tone(440, 1.0, 48_000).astype(np.float32)
    made[[1_000, 2_000]] = np.nan, np.inf
    samples = read_recording(encoded(made, 48_000, "FLOAT")).samples
    clean = read_recording(encoded(tone(440, 1.0, 48_000), 48_000, "FLOAT")).samples
    assert np.abs(samples[1_500:].astype(int) - clean[1_500:]).max() < 40
    assert samples.any()


@pytest.mark.parametrize(
    ("data", "channel", "reason"),
    [
        (b"", None, "the file is empty"),
        (b"ID: 7, text: hello", None, "not audio"),
        (encoded(tone(440, 0.05, RATE_HZ), RATE_HZ, "PCM_16"), None, "50 ms long, at least 100 ms"),
        (encoded(tone(440, 1, RATE_HZ), RATE_HZ, "PCM_16"), 2, "it has no channel 2: it has 1"),
        (encoded(tone(440, 1, RATE_HZ), RATE_HZ, "PCM_16"), 0, "it has no channel 0: it has 1"),
        (encoded(tone(440, 1, RATE_HZ, 0.003), RATE_HZ, "PCM_16"), None, "nobody is heard in it"),
        (wav_bytes(np.ones(2_000, dtype=np.int16), rate_hz=1_000), None, "it claims 1000 Hz"),
        (wav_bytes(np.ones(610 * 4_000, dtype=np.int16), rate_hz=4_000), None, "610 s long, at most 600 s"),
        (wav_bytes(np.ones((3_000, 9), dtype=np.int16)), None, "9 channels, at most 8"),
    ],
)
def test_what_nobody_could_say_is_refused_with_the_reason(data: bytes, channel: int | None, reason: str) -> None:
    with pytest.raises(AudioFormatError, match=reason):
        read_recording(data, channel=channel)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=80), st.integers(0, 60))
def test_a_damaged_recording_is_read_or_refused_and_nothing_else(noise: bytes, place: int) -> None:
    whole = wav_bytes((tone(440, 0.2, RATE_HZ) * 32_767).astype(np.int16))
    with suppress(AudioFormatError):
        assert read_recording(whole[:place] + noise + whole[place + len(noise) :]).samples.size > 0
