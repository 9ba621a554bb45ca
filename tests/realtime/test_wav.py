from __future__ import annotations

import io
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.wav import AudioFormatError, as_caller_audio, read_wav, wav_bytes


def encoded(samples: np.ndarray, rate_hz: int, subtype: str, container: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, subtype=subtype, format=container)
    return file.getvalue()


def with_data_size(wav: bytes, size: int) -> bytes:
    place = wav.index(b"data") + 4
    return wav[:place] + struct.pack("<I", size) + wav[place + 4 :]


def tone(hz: float, seconds: float, rate_hz: int, level: float = 0.5) -> np.ndarray:
    return level * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate_hz)) / rate_hz)


def loudest_hz(samples: np.ndarray, rate_hz: int = 24_000) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return float(spectrum.argmax() * rate_hz / samples.size)


@pytest.mark.case("C01")
@pytest.mark.parametrize("declared", [0xFFFFFFFF, 0, 2_000_000_000])
def test_a_header_that_does_not_know_its_length_still_gives_the_whole_sound(declared: int) -> None:
    """C01: 48,000 bytes of real audio; what we store has a correct header."""
    ramp = np.arange(24_000, dtype=np.int16)
    audio = as_caller_audio(with_data_size(wav_bytes(ramp), declared))
    assert audio.samples.tolist() == ramp.tolist()
    stored = wav_bytes(audio.samples)
    assert struct.unpack("<I", stored[4:8])[0] == 48_036
    assert struct.unpack("<I", stored[40:44])[0] == 48_000
    assert len(stored) == 48_044


@pytest.mark.case("A13")
@pytest.mark.parametrize("declared", [0, 0xFFFFFFFF])
def test_a_header_without_sound_is_no_sound(declared: int) -> None:
    """A13 (b): a header-only WAV is 0 ms long."""
    empty = with_data_size(wav_bytes(np.zeros(0, dtype=np.int16)), declared)
    assert as_caller_audio(empty).samples.size == 0


def test_an_empty_data_chunk_before_other_chunks_is_no_sound() -> None:
    empty = wav_bytes(np.zeros(0, dtype=np.int16)) + struct.pack("<4sI", b"LIST", 4) + b"INFO"
    assert as_caller_audio(empty).samples.size == 0


def test_chunks_around_the_sound_are_not_sound() -> None:
    plain = wav_bytes(np.array([1, 2, 3], dtype=np.int16))
    odd_list = struct.pack("<4sI", b"LIST", 5) + b"INFOx\0"
    dressed = plain[:12] + odd_list + plain[12:] + odd_list
    assert as_caller_audio(dressed).samples.tolist() == [1, 2, 3]


@pytest.mark.case("C03")
def test_an_extensible_stereo_file_is_converted() -> None:
    """C03: tag 0xFFFE with a PCM sub-format; FE FF bytes inside the samples are only samples."""
    samples = np.stack([tone(440, 1.0, 48_000)] * 2, axis=1)
    samples[100:200] = -2 / 32768  # 0xFFFE as little-endian bytes FE FF
    data = encoded(samples, 48_000, "PCM_16", "WAVEX")
    assert struct.unpack("<H", data[data.index(b"fmt ") + 8 :][:2])[0] == 0xFFFE
    audio = as_caller_audio(data)
    assert abs(audio.samples.size - 24_000) <= 24
    assert (audio.declared_rate_hz, audio.channels) == (48_000, 2)
    assert abs(loudest_hz(audio.samples) - 440) <= 2


@pytest.mark.case("C05")
@pytest.mark.parametrize("count", [48_000, 48_001])
def test_24_bit_files_keep_tone_and_level(count: int) -> None:
    """C05: an even and an odd number of data bytes."""
    made = tone(440, 1.1, 48_000)[:count]
    audio = as_caller_audio(encoded(made, 48_000, "PCM_24")).samples[2400:-2400]
    assert abs(loudest_hz(audio) - 440) <= 2
    level_db = 20 * np.log10(np.std(audio / 32768) / np.std(made))
    assert abs(level_db) < 0.1


@pytest.mark.case("C05")
def test_float_peaks_beyond_full_scale_are_clipped_and_counted() -> None:
    """C05: 24 kHz float32 with peaks at 1.5."""
    made = tone(440, 0.5, 24_000, level=1.5)
    audio = as_caller_audio(encoded(made, 24_000, "FLOAT"))
    assert audio.samples.max() == 32767
    assert audio.samples.min() == -32768
    assert audio.clipped == int(np.count_nonzero(np.abs(made.astype(np.float32)) > 1.0)) > 0


@pytest.mark.case("C07")
def test_a_stereo_file_at_another_rate_keeps_length_and_both_tones() -> None:
    """C07: 44.1 kHz, 440 Hz left and 880 Hz right, 2.0 s; both at half level after the down-mix."""
    both = np.stack([tone(440, 2.0, 44_100), tone(880, 2.0, 44_100)], axis=1)
    audio = as_caller_audio(encoded(both, 44_100, "PCM_16"))
    assert audio.samples.size == 48_000
    spectrum = np.abs(np.fft.rfft(audio.samples / 32768)) / 24_000
    assert spectrum[880] == pytest.approx(0.25, abs=0.01)  # bins of 0.5 Hz
    assert spectrum[1760] == pytest.approx(0.25, abs=0.01)


@pytest.mark.case("C07")
def test_a_mislabelled_rate_can_be_corrected() -> None:
    """C07: 24 kHz data labelled 16 kHz: the label is used and told, and can be overridden."""
    data = wav_bytes(np.arange(2400, dtype=np.int16), rate_hz=16_000)
    assert as_caller_audio(data).samples.size == 3600
    assert as_caller_audio(data).declared_rate_hz == 16_000
    assert as_caller_audio(data, rate_hz=24_000).samples.tolist() == list(range(2400))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not audio"),
        (b"{'error': 'quota'}", "not audio"),
        (b"RIFF\x04\0\0\0WAVE", "no fmt chunk"),
        (wav_bytes(np.zeros(4, dtype=np.int16))[:36], "no data chunk"),
    ],
)
def test_what_is_not_audio_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(AudioFormatError, match=reason):
        read_wav(data)


@given(st.binary(max_size=200), st.integers(0, 60))
def test_a_damaged_file_gives_audio_or_a_format_error_and_nothing_else(noise: bytes, place: int) -> None:
    whole = wav_bytes(np.arange(50, dtype=np.int16))
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    with suppress(AudioFormatError):
        assert read_wav(damaged).rate_hz > 0


def test_a_stereo_file_is_written_as_other_readers_expect(tmp_path: Path) -> None:
    samples = np.stack([np.arange(100), -np.arange(100)], axis=1).astype(np.int16)
    (tmp_path / "both.wav").write_bytes(wav_bytes(samples))
    info = soundfile.info(tmp_path / "both.wav")
    assert (info.samplerate, info.channels, info.subtype) == (24_000, 2, "PCM_16")
    back, _ = soundfile.read(tmp_path / "both.wav", dtype="int16")
    assert back.tolist() == samples.tolist()


def test_a_compressed_file_that_claims_hours_is_refused_before_memory_is_taken() -> None:
    file = io.BytesIO()
    soundfile.write(file, np.zeros(4096, dtype=np.int16), 8000, format="FLAC")
    data = bytearray(file.getvalue())
    place = data.index(b"fLaC") + 4 + 4 + 10  # of the rate, channels and length in STREAMINFO
    packed = int.from_bytes(data[place : place + 8])
    assert packed & (2**36 - 1) == 4096
    data[place : place + 8] = (packed >> 36 << 36 | 2**36 - 1).to_bytes(8)
    with pytest.raises(AudioFormatError, match="would unpack to 68719476735 samples of 1 channel"):
        read_wav(bytes(data))
