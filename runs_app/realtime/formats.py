"""How sound travels: its coding and rate on the wire, and the caller's words in that form."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from runs_app.realtime import g711
from runs_app.realtime.pcm import Int16, from_bytes, resample, to_bytes, to_float, to_int16
from runs_app.realtime.record import RATE_HZ

G711_HZ = 8_000
FINEST_HZ = 75  # of what all rates of sound share with RATE_HZ, 11,025 Hz the least; filters for less stall the loop
LAWS = ("g711_ulaw", "g711_alaw")
SHOWN = {"pcm16": "PCM16", "g711_ulaw": "G.711 µ-law", "g711_alaw": "G.711 A-law"}


@dataclass(frozen=True)
class AudioFormat:
    """`coding`: pcm16, g711_ulaw, g711_alaw, or a server's own name for something that we cannot read."""

    coding: str
    rate_hz: int

    @property
    def readable(self) -> bool:
        usual_rate = 4_000 <= self.rate_hz <= 192_000 and gcd(self.rate_hz, RATE_HZ) >= FINEST_HZ
        return self.coding in SHOWN and usual_rate

    @property
    def sample_bytes(self) -> int:
        return 2 if self.coding == "pcm16" else 1

    def __str__(self) -> str:
        return f"{SHOWN.get(self.coding, self.coding)} at {self.rate_hz} Hz"


PCM = AudioFormat("pcm16", RATE_HZ)


@dataclass(frozen=True)
class Formats:
    """Of a session: `input` is what the server takes, `output` what it sends. None where it is not told."""

    input: AudioFormat | None = None
    output: AudioFormat | None = None


UNTOLD = Formats()


def format_of(coding: str) -> AudioFormat:
    """The format for a setting of a configuration."""
    return AudioFormat(coding, RATE_HZ if coding == "pcm16" else G711_HZ)


def as_bytes(samples: Int16, form: AudioFormat) -> bytes:
    """Samples at the format's own rate."""
    if form.coding in LAWS:
        return g711.encode(samples, form.coding)
    return to_bytes(samples)


def as_samples(data: bytes, form: AudioFormat) -> Int16:
    """Whole samples at the format's own rate; a last odd byte of PCM16 is left out."""
    if form.coding in LAWS:
        return g711.decode(data, form.coding)
    return from_bytes(data)


def disagreements(asked: Formats, told: Formats) -> list[str]:
    """What a server does otherwise than it was asked to, in words."""
    found = []
    if asked.input and told.input and asked.input != told.input:
        found.append(f"the server takes {told.input}, and {asked.input} was asked for; it gets what it takes")
    if asked.output and told.output and asked.output != told.output:
        found.append(f"the agent speaks {told.output}, and {asked.output} was asked for; it is read as it comes")
    return found


@dataclass(frozen=True)
class WireSpeech:
    """An utterance in the coding of the wire, to be cut by positions at RATE_HZ: where it is cut changes no byte."""

    form: AudioFormat
    data: bytes

    def piece(self, start: int, stop: int) -> bytes:
        return self.data[self._place(start) : self._place(stop)]

    def _place(self, sample: int) -> int:
        return -(-sample * self.form.rate_hz // RATE_HZ) * self.form.sample_bytes


def wire_speech(samples: Int16, form: AudioFormat) -> WireSpeech:
    """Int16 mono at RATE_HZ. Resampled whole, with a low-pass below the new rate, so it is not for the loop."""
    if form.rate_hz == RATE_HZ:
        return WireSpeech(form, as_bytes(samples, form))
    padded = -(-samples.size * form.rate_hz // RATE_HZ)  # the last piece is never empty
    made = to_int16(resample(to_float(samples), from_hz=RATE_HZ, to_hz=form.rate_hz)).samples
    return WireSpeech(form, as_bytes(np.pad(made, (0, padded - made.size)), form))
