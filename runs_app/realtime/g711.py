"""G.711, the 8-bit codes of telephony: µ-law and A-law to 16-bit samples and back, by table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runs_app.realtime.pcm import Int16

Bytes = npt.NDArray[np.uint8]

ULAW_BIAS = 33 << 2  # of 16-bit samples; the standard counts in 14 bits


def decode(data: bytes, law: str) -> Int16:
    """One sample for each byte."""
    return _DECODED[law][np.frombuffer(data, dtype=np.uint8)]


def encode(samples: Int16, law: str) -> bytes:
    """One byte for each sample: the nearest code, of two that are equally near the quieter one."""
    return _ENCODED[law][samples.astype(np.uint16)].tobytes()


def _ulaw_levels() -> Int16:
    """Sent inverted: 4 bits of mantissa above a bias, 3 bits of exponent, a sign."""
    code = ~np.arange(256, dtype=np.uint8)
    size = ((((code & 15).astype(np.int32) << 3) + ULAW_BIAS) << (code >> 4 & 7)) - ULAW_BIAS
    return np.where(code & 0x80, -size, size).astype(np.int16)


def _alaw_levels() -> Int16:
    """Every second bit is sent inverted; the lowest two segments are equally fine."""
    code = np.arange(256, dtype=np.uint8) ^ 0x55
    exponent = (code >> 4 & 7).astype(np.int32)
    mantissa = ((code & 15).astype(np.int32) << 4) + 8
    size = np.where(exponent == 0, mantissa, mantissa + 0x100 << np.maximum(exponent - 1, 0))
    return np.where(code & 0x80, size, -size).astype(np.int16)


def _codes(levels: Int16) -> Bytes:
    """The code of every 16-bit sample, found by the sample's own bits read as an unsigned number."""
    samples = np.arange(-32_768, 32_768)
    order = np.lexsort((-np.arange(256), levels))  # µ-law has two zeros: silence is the positive one, 0xFF
    known = levels[order].astype(np.int64)
    above = np.clip(np.searchsorted(known, samples), 1, 255)
    low, high = known[above - 1], known[above]
    near, far = samples - low, high - samples
    take_high = (far < near) | ((far == near) & (abs(high) <= abs(low)))
    nearest = order[np.where(take_high, above, above - 1)].astype(np.uint8)
    return np.concatenate((nearest[32_768:], nearest[:32_768]))


_DECODED = {"g711_ulaw": _ulaw_levels(), "g711_alaw": _alaw_levels()}
_ENCODED = {law: _codes(levels) for law, levels in _DECODED.items()}
