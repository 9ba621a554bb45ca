"""WAV files as people and speech services make them, and the one kind that we write.

Headers lie: streaming writers leave the length at 0, 0xFFFFFFFF or some large number. The length is then what the
file holds. Everything but plain PCM16 is decoded by libsndfile (24 and 32 bit, float, extensible, FLAC, ...).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import soundfile

from runs_app.realtime.pcm import Float, Int16, mix_down, resample, to_bytes, to_float, to_int16
from runs_app.realtime.record import RATE_HZ

HEADER_BYTES = 44
PCM, EXTENSIBLE = 1, 0xFFFE
MOST_SAMPLES = 64_000_000  # of all channels: 512 MB once decoded, and ten minutes of stereo at 48 kHz


class AudioFormatError(ValueError):
    """The bytes are not audio that we can read; the message says why."""


class Decoded(NamedTuple):
    """Floats (n, channels) where full scale is 1.0 (float files may exceed it) at the file's own rate."""

    samples: Float
    rate_hz: int

    @property
    def duration_ms(self) -> float:
        return len(self.samples) * 1000 / self.rate_hz


class CallerAudio(NamedTuple):
    """What the agent will hear: int16 mono at RATE_HZ, with what the file said it was and what was lost."""

    samples: Int16
    declared_rate_hz: int
    channels: int
    clipped: int


class _Chunk(NamedTuple):
    name: bytes
    start: int  # of its body
    declared: int


def read_wav(data: bytes) -> Decoded:
    """Decode a WAV (or anything else that libsndfile knows). Raises AudioFormatError."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return _decode(data)
    chunks = list(_chunks(data))
    form = next((chunk for chunk in chunks if chunk.name == b"fmt "), None)
    sound = next((chunk for chunk in chunks if chunk.name == b"data"), None)
    if form is None or form.declared < 16:
        raise AudioFormatError("the WAV has no fmt chunk, so its format is unknown")
    if sound is None:
        raise AudioFormatError("the WAV has no data chunk")
    body = _sound_body(data, sound)
    header = data[form.start : form.start + form.declared]
    tag, channels, rate_hz, _, block, bits = struct.unpack("<HHIIHH", header[:16])
    if not (channels and rate_hz and block):
        raise AudioFormatError(f"the WAV header says {channels} channels, {rate_hz} Hz, {block} bytes a frame")
    body = body[: len(body) - len(body) % block]
    if not body:
        return Decoded(np.zeros((0, channels)), rate_hz)
    if tag == PCM and bits == 16 and block == 2 * channels:
        return Decoded(to_float(np.frombuffer(body, dtype="<i2").reshape(-1, channels)), rate_hz)
    return _decode(_riff(header, body))


def as_caller_audio(data: bytes, *, rate_hz: int | None = None) -> CallerAudio:
    """Read, mix down and resample to RATE_HZ. `rate_hz` corrects a file that is labelled with the wrong rate."""
    decoded = read_wav(data)
    declared = decoded.rate_hz
    mono = resample(mix_down(decoded.samples), from_hz=rate_hz or declared, to_hz=RATE_HZ)
    samples, clipped = to_int16(mono)
    return CallerAudio(samples, declared, decoded.samples.shape[1], clipped)


def wav_bytes(samples: Int16, *, rate_hz: int = RATE_HZ) -> bytes:
    """A PCM16 WAV of (n,) mono or (n, channels) samples, with the plain header of 44 bytes."""
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    body = to_bytes(np.ascontiguousarray(samples))
    block = 2 * channels
    header = struct.pack("<HHIIHH", PCM, channels, rate_hz, rate_hz * block, block, 16)
    return _riff(header, body)


def _chunks(data: bytes) -> Iterator[_Chunk]:
    place = 12
    while place + 8 <= len(data):
        name, declared = struct.unpack_from("<4sI", data, place)
        yield _Chunk(name, place + 8, declared)
        if name == b"data" and not _believable(data, place + 8, declared):
            return  # nothing behind a length that lies can be found
        place += 8 + declared + declared % 2


def _sound_body(data: bytes, sound: _Chunk) -> bytes:
    believed = _believable(data, sound.start, sound.declared)
    return data[sound.start : sound.start + sound.declared] if believed else data[sound.start :]


def _believable(data: bytes, start: int, declared: int) -> bool:
    """A length beyond the file is a lie. So is 0 before audio, but not 0 before nothing or before other chunks."""
    if declared:
        return start + declared <= len(data)
    return start == len(data) or data[start : start + 4] in (b"LIST", b"fact", b"cue ", b"bext", b"id3 ")


def _riff(header: bytes, body: bytes) -> bytes:
    padding = b"\0" * (len(body) % 2)
    size = 4 + 8 + len(header) + 8 + len(body) + len(padding)
    start = struct.pack("<4sI4s4sI", b"RIFF", size, b"WAVE", b"fmt ", len(header))
    return b"".join((start, header, struct.pack("<4sI", b"data", len(body)), body, padding))


def _decode(data: bytes) -> Decoded:
    """A compressed file may unpack to any size, and its header may claim more: neither is given memory."""
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            if file.frames * file.channels > MOST_SAMPLES:
                claimed = f"{file.frames} samples of {file.channels} channels"
                raise AudioFormatError(f"it would unpack to {claimed}, at most {MOST_SAMPLES} in all can be read")
            samples, rate_hz = file.read(dtype="float64", always_2d=True), file.samplerate
    except soundfile.LibsndfileError as exc:
        reason = exc.error_string or "unknown format"
        raise AudioFormatError(f"this is not audio that can be read: {reason}") from exc
    return Decoded(samples, int(rate_hz))
