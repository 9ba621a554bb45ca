"""Samples: 16-bit conversion that saturates, bytes that arrive cut at odd places, mixing and resampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import soxr

Int16 = npt.NDArray[np.int16]
Float = npt.NDArray[np.float64]

FULL_SCALE = 32_768.0


class Converted(NamedTuple):
    """Samples, and how many of them were beyond full scale and had to be clipped."""

    samples: Int16
    clipped: int


def to_int16(samples: npt.NDArray[np.floating]) -> Converted:
    """Floats in [-1, 1] as int16 of the same shape. Beyond full scale they stay at full scale; NaN is silence."""
    values = np.nan_to_num(np.asarray(samples, dtype=np.float64), nan=0.0, posinf=2.0, neginf=-2.0)
    clipped = int(np.count_nonzero(np.abs(values) > 1.0))
    scaled = np.clip(np.rint(values * FULL_SCALE), -32_768, 32_767)
    return Converted(scaled.astype(np.int16), clipped)


def to_float(samples: Int16) -> Float:
    """Int16 as floats in [-1, 1); `to_int16` gives back exactly the same samples."""
    return samples.astype(np.float64) / FULL_SCALE


def mix_down(samples: Float) -> Float:
    """(n, channels) to (n,): the mean of the channels, so two full-scale channels stay at full scale."""
    return samples if samples.ndim == 1 else samples.mean(axis=1)


def resample(samples: Float, *, from_hz: int, to_hz: int) -> Float:
    """Mono floats at another rate, of the same duration to the nearest sample. It may overshoot full scale."""
    if from_hz == to_hz or not samples.size:
        return samples
    wanted = round(samples.size * to_hz / from_hz)
    finite = np.nan_to_num(samples, nan=0.0, posinf=2.0, neginf=-2.0)  # one NaN would silence all of its filter's reach
    made = np.asarray(soxr.resample(finite, from_hz, to_hz, quality="VHQ"), dtype=np.float64)
    return np.pad(made[:wanted], (0, max(0, wanted - made.size)))


def to_bytes(samples: Int16) -> bytes:
    return samples.astype("<i2", copy=False).tobytes()


def from_bytes(data: bytes) -> Int16:
    """Little-endian PCM16. An odd last byte is left out: callers that stream keep it."""
    return np.frombuffer(data[: len(data) & ~1], dtype="<i2").astype(np.int16, copy=False)
