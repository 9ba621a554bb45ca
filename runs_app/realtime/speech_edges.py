"""Where somebody speaks in a channel, to the millisecond; and the waveform that a page draws.

Speech is what CRAWL calls speech: frames of 20 ms whose RMS reaches 220. A 20 ms grid alone puts every edge up to a
frame too early or too late, which is why edges are then refined to windows of 1 ms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS, Span

SPEECH_RMS = 220.0
FRAME_MS = 20
BRIDGE_MS = 4  # between two pulses of a low voice a window of 1 ms can be quiet
FLOOR_PERCENTILE = 5  # the quietest twentieth of a recording's frames is its noise
FLOOR_MARGIN = 2**0.5  # so far above it voice and noise are equally loud

Energies = npt.NDArray[np.float64]


class Peaks(NamedTuple):
    """Lowest and highest sample of each bin, as int8 (256 int16 steps to one)."""

    low: list[int]
    high: list[int]


def voiced_frames(samples: Int16, *, threshold_rms: float = SPEECH_RMS) -> list[Span]:
    """CRAWL's unrefined stretches of speech in mono samples, on the 20 ms grid. Pairs with `voiced`."""
    runs = _runs(_frame_is_speech(_window_energies(samples), threshold_rms))
    size = FRAME_MS * SAMPLES_PER_MS
    return [Span(start * size, min(end * size, samples.size)) for start, end in runs]


def voiced(samples: Int16, *, threshold_rms: float = SPEECH_RMS) -> list[Span]:
    """Stretches of speech in mono samples at 24 kHz, edges refined to 1 ms; one for each of `voiced_frames`.

    An edge is the first (for an end: the last) 1 ms window at the threshold inside the frame. Where the windows go
    on into the neighbouring frame, which was too short of sound to count, the edge follows them there.
    """
    energies = _window_energies(samples)
    loud = energies >= threshold_rms**2
    runs = _runs(_frame_is_speech(energies, threshold_rms))
    starts = [_first_loud(loud, start * FRAME_MS) for start, _ in runs]
    ends = [_last_loud(loud, end * FRAME_MS) for _, end in runs]
    limits = [*starts, loud.size][1:]
    return [
        Span(start * SAMPLES_PER_MS, min(min(end, limit) * SAMPLES_PER_MS, samples.size))
        for start, end, limit in zip(starts, ends, limits, strict=True)
    ]


def adaptive_threshold(samples: Int16) -> float:
    """The RMS from which a recording's frames are speech: SPEECH_RMS, or in noise the level at which a voice is as
    loud as the noise under it. What is quieter than that is not found, wherever it begins or ends."""
    frames = _window_energies(samples).reshape(-1, FRAME_MS).mean(axis=1)
    floor_rms = float(np.percentile(frames, FLOOR_PERCENTILE)) ** 0.5 if frames.size else 0.0
    return max(SPEECH_RMS, FLOOR_MARGIN * floor_rms)


def peaks(samples: Int16, *, bin_ms: int = 10) -> list[Peaks]:
    """One Peaks for each channel of (n,) or (n, channels) samples at 24 kHz; the last bin may be short."""
    columns = samples[:, np.newaxis] if samples.ndim == 1 else samples
    size = bin_ms * SAMPLES_PER_MS
    missing = -columns.shape[0] % size
    if missing:  # repeating the last sample changes no extreme
        columns = np.pad(columns, ((0, missing), (0, 0)), mode="edge")
    bins = columns.reshape(-1, size, columns.shape[1])
    low = bins.min(axis=1) >> 8
    high = np.minimum(-((-bins.max(axis=1).astype(np.int32)) >> 8), 127)
    return [Peaks(low[:, channel].tolist(), high[:, channel].tolist()) for channel in range(low.shape[1])]


def _window_energies(samples: Int16) -> Energies:
    """Mean square of each 1 ms window, padded with silence to whole frames."""
    padded = np.pad(samples, (0, -samples.size % (FRAME_MS * SAMPLES_PER_MS)))
    windows = padded.reshape(-1, SAMPLES_PER_MS).astype(np.float32)
    squares: Energies = np.einsum("ij,ij->i", windows, windows).astype(np.float64)
    return squares / SAMPLES_PER_MS


def _frame_is_speech(energies: Energies, threshold_rms: float) -> npt.NDArray[np.bool_]:
    return np.asarray(energies.reshape(-1, FRAME_MS).mean(axis=1) >= threshold_rms**2)


def _runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False]))))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _first_loud(loud: npt.NDArray[np.bool_], frame_start: int) -> int:
    """The edge for a run whose first frame starts at this window."""
    inside = frame_start + int(np.argmax(loud[frame_start : frame_start + FRAME_MS]))
    if inside - frame_start > BRIDGE_MS:
        return inside
    return _follow(loud, inside, -1, max(0, frame_start - FRAME_MS) - 1)


def _last_loud(loud: npt.NDArray[np.bool_], frame_end: int) -> int:
    """The edge (exclusive) for a run whose last frame ends before this window."""
    inside = frame_end - 1 - int(np.argmax(loud[frame_end - FRAME_MS : frame_end][::-1]))
    if frame_end - inside > BRIDGE_MS:
        return inside + 1
    return _follow(loud, inside, 1, min(loud.size, frame_end + FRAME_MS)) + 1


def _follow(loud: npt.NDArray[np.bool_], edge: int, step: int, limit: int) -> int:
    """The last loud window on the way to `limit` (not reached) that no gap of more than BRIDGE_MS cuts off."""
    place = edge + step
    while place != limit and abs(place - edge) <= BRIDGE_MS:
        if loud[place]:
            edge = place
        place += step
    return edge
