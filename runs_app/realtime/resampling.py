"""Another sample rate for sound that comes piece by piece: cut anywhere, it gives the same samples as in one piece.

soxr's streams keep back 15 to 40 ms of what they were given, by turns more and less; on a timeline those would be
holes between two deltas. This filter keeps back 24 samples (3 ms at 8 kHz) and always as many.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from runs_app.realtime.pcm import Float

REACH = 24  # samples of the lower rate on each side of the one that is made
KAISER_BETA = 7.0  # images and aliases are 70 dB down


@lru_cache(maxsize=16)
def _taps(up: int, down: int) -> Float:
    """(up, 2 * reach): the weights of the input around an output that lies phase/up of a sample behind the middle."""
    reach = _reach(up, down)
    cutoff = min(1.0, up / down)
    distance = np.arange(-reach + 1, reach + 1) - np.arange(up)[:, None] / up
    window = np.i0(KAISER_BETA * np.sqrt(np.clip(1 - (distance / reach) ** 2, 0, None)))
    taps = np.sinc(distance * cutoff) * window
    whole: Float = taps / taps.sum(axis=1, keepdims=True)  # a constant stays that constant
    return whole


def _reach(up: int, down: int) -> int:
    return max(REACH, -(-REACH * down // up))


class StreamResampler:
    """Mono floats from one rate to another. After `finish` it has given round(n * to_hz / from_hz) samples."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        common = gcd(from_hz, to_hz)
        self._up, self._down = to_hz // common, from_hz // common
        self._reach = _reach(self._up, self._down)
        self._buffer: Float = np.zeros(self._reach - 1)  # begins at input sample `_first`
        self._first = 1 - self._reach
        self._given = 0  # input samples
        self._made = 0  # output samples

    @property
    def held(self) -> int:
        """Output samples that the input given so far is still good for."""
        return self._total() - self._made

    def resample(self, samples: Float) -> Float:
        self._given += samples.size
        self._buffer = np.concatenate((self._buffer, samples))
        # The last output whose window is whole lies `reach` samples before the end of the input.
        whole = max(0, ((self._given - self._reach) * self._up - 1) // self._down + 1)
        return self._make_until(min(whole, self._total()))

    def finish(self) -> Float:
        """What was kept back. Nothing may follow."""
        self._buffer = np.concatenate((self._buffer, np.zeros(self._reach + 1)))
        return self._make_until(self._total())

    def _total(self) -> int:
        return (self._given * self._up + self._down // 2) // self._down

    def _make_until(self, end: int) -> Float:
        if end <= self._made:
            return np.zeros(0)
        place, phase = np.divmod(np.arange(self._made, end) * self._down, self._up)
        windows = sliding_window_view(self._buffer, 2 * self._reach)[place - self._reach + 1 - self._first]
        made: Float = np.einsum("ij,ij->i", windows, _taps(self._up, self._down)[phase])
        self._made = end
        self._forget(end)
        return made

    def _forget(self, end: int) -> None:
        """Input before the window of the next output is over."""
        needed = end * self._down // self._up - self._reach + 1
        self._buffer = self._buffer[needed - self._first :]
        self._first = needed
