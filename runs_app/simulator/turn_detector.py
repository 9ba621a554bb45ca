"""Where the caller's speech begins and ends, by energy, on the clock of the audio that was appended.

A frame of 20 ms is speech when it is louder than `threshold` asks for and clearly louder than the quietest tenth of
the last three seconds, so a noisy line does not count as speech for ever. Speech begins with 60 ms of such frames (a
click is none) and ends with as much silence as the session asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from runs_app.simulator.formats import RATE_HZ, Samples
from runs_app.simulator.wire import Json

FRAME_MS = 20
FRAME = RATE_HZ * FRAME_MS // 1000  # on the clock
ONSET_FRAMES, RESUME_FRAMES = 3, 2

# dBFS of a frame; `threshold` 0 to 1 moves both limits, 0.5 is the usual one.
_QUIETEST_DB, _QUIETEST_RANGE_DB = -70.0, 30.0
_ABOVE_NOISE_DB, _ABOVE_NOISE_RANGE_DB = 4.0, 8.0
_NOISE_FRAMES, _NOISE_KNOWN_FRAMES, _NOISE_EVERY_FRAMES, _NOISE_PERCENTILE = 150, 50, 10, 10
_SILENT_DB = -100.0

SEMANTIC_CHECK_MS = 300
_SEMANTIC_WAIT_MS = {"low": 8_000, "medium": 4_000, "auto": 4_000, "high": 2_000}

Kind = Literal["started", "paused", "stopped"]


@dataclass(frozen=True)
class Mark:
    """Something on the clock (samples at 24 kHz). `speech_end` is where the last sound of speech ended."""

    kind: Kind
    place: int
    speech_end: int


class TurnDetector:
    """Feed it everything that is appended, in order. `settings` is the session's turn_detection, complete."""

    def __init__(self, settings: dict[str, Json], place: int) -> None:
        self.speaking = False
        self._place = place  # of the next frame
        self._rest: Samples = np.zeros(0, np.int16)
        self._rate_hz = RATE_HZ
        self._levels: deque[float] = deque(maxlen=_NOISE_FRAMES)
        self._noise_db = _SILENT_DB
        self._loud = self._silent = 0
        self.configure(settings)

    def configure(self, settings: dict[str, Json]) -> None:
        semantic = settings["type"] == "semantic_vad"
        self._threshold = 0.5 if semantic else settings["threshold"]
        self._stop_ms = _SEMANTIC_WAIT_MS[settings["eagerness"]] if semantic else settings["silence_duration_ms"]
        self._pause_ms = SEMANTIC_CHECK_MS if semantic else None

    def feed(self, samples: Samples, rate_hz: int) -> Iterator[Mark]:
        """Marks in order. After "paused" (semantic only) the one who reads may call `stop`."""
        if rate_hz != self._rate_hz:
            self._rest, self._rate_hz = np.zeros(0, np.int16), rate_hz
        size = rate_hz * FRAME_MS // 1000
        samples = np.concatenate([self._rest, samples])
        whole = len(samples) // size * size
        self._rest = samples[whole:]
        for level in _levels_db(samples[:whole].reshape(-1, size)):
            self._place += FRAME
            mark = self._hear(float(level))
            if mark is not None:
                yield mark

    def stop(self) -> None:
        """The turn is over: what comes now is a new one."""
        self.speaking = False
        self._loud = self._silent = 0

    def _hear(self, level_db: float) -> Mark | None:
        loud = self._is_loud(level_db)
        self._loud = self._loud + 1 if loud else 0
        if not self.speaking:
            if self._loud < ONSET_FRAMES:
                return None
            self.speaking, self._silent = True, 0
            return Mark("started", self._place - ONSET_FRAMES * FRAME, self._place)
        self._silent = 0 if self._loud >= RESUME_FRAMES else self._silent + 1
        silent_ms, end = self._silent * FRAME_MS, self._place - self._silent * FRAME
        if self._silent and silent_ms >= self._stop_ms:
            self.stop()
            return Mark("stopped", self._place, end)
        return Mark("paused", self._place, end) if silent_ms == self._pause_ms else None

    def _is_loud(self, level_db: float) -> bool:
        self._levels.append(level_db)
        number = self._place // FRAME
        if len(self._levels) >= _NOISE_KNOWN_FRAMES and number % _NOISE_EVERY_FRAMES == 0:
            self._noise_db = float(np.percentile(self._levels, _NOISE_PERCENTILE))
        above_noise = self._noise_db + _ABOVE_NOISE_DB + _ABOVE_NOISE_RANGE_DB * self._threshold
        return level_db > max(_QUIETEST_DB + _QUIETEST_RANGE_DB * self._threshold, above_noise)


def _levels_db(frames: np.ndarray) -> np.ndarray:
    power = np.mean((frames / 32_768.0) ** 2, axis=1) if len(frames) else np.zeros(0)
    return 10 * np.log10(np.maximum(power, 10 ** (_SILENT_DB / 10)))
