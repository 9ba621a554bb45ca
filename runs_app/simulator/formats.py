"""The audio formats of the wire: PCM16 at 24 kHz, and G.711 u-law and A-law at 8 kHz.

Inside the simulator sound is int16 mono at 24 kHz. libsndfile knows the companding tables of G.711.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from runs_app.simulator.wire import Json

RATE_HZ = 24_000

Samples = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Format:
    """One format. `subtype` is what libsndfile calls the companding; None for PCM."""

    name: str
    rate_hz: int
    bytes_per_sample: int
    subtype: str | None = None

    @property
    def bytes_per_ms(self) -> int:
        return self.rate_hz * self.bytes_per_sample // 1000

    def read(self, data: bytes) -> Samples:
        """Samples at `rate_hz`; half a PCM sample at the end is left out."""
        if self.subtype is None:
            return np.frombuffer(data[: len(data) & ~1], "<i2").astype(np.int16)
        samples, _ = soundfile.read(
            io.BytesIO(data),
            dtype="int16",
            samplerate=self.rate_hz,
            channels=1,
            format="RAW",
            subtype=self.subtype,
        )
        return np.asarray(samples, np.int16)

    def write(self, samples: Samples) -> bytes:
        """Samples at `rate_hz` as the wire has them."""
        if self.subtype is None:
            return samples.astype("<i2").tobytes()
        file = io.BytesIO()
        soundfile.write(file, samples, self.rate_hz, format="RAW", subtype=self.subtype)
        return file.getvalue()


PCM = Format("audio/pcm", RATE_HZ, 2)
FORMATS = {
    form.name: form for form in (PCM, Format("audio/pcmu", 8_000, 1, "ULAW"), Format("audio/pcma", 8_000, 1, "ALAW"))
}


def format_of(settings: dict[str, Json]) -> Format:
    """The format of a GA format object such as `{"type": "audio/pcmu"}`."""
    return FORMATS[settings["type"]]


def resampled(samples: Samples, *, from_hz: int, to_hz: int) -> Samples:
    """Another rate, of the same duration to the nearest sample."""
    if from_hz == to_hz or not samples.size:
        return samples
    wanted = round(samples.size * to_hz / from_hz)
    made = np.asarray(soxr.resample(samples, from_hz, to_hz), np.int16)[:wanted]
    return np.pad(made, (0, wanted - made.size))
