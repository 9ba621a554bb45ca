"""The input audio buffer: base64 in any cut and any format of the wire, taken out by place on the session's clock.

The clock counts samples at 24 kHz of all audio that was appended, so it is exact for 8 kHz formats too.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from runs_app.simulator.formats import PCM, RATE_HZ, Format, Samples, resampled
from runs_app.simulator.items import read_base64
from runs_app.simulator.wire import Refusal

SAMPLES_PER_MS = RATE_HZ // 1000
SHORTEST_COMMIT_MS = 100
LARGEST_APPEND_BYTES = 15 * 1024 * 1024
LARGEST_BUFFER_SAMPLES = 100 * 1024 * 1024  # more than the longest session in real time

_TOO_MUCH = "Invalid 'audio'. One event may carry at most 15 MiB of audio."


class AudioBuffer:
    """Audio that nobody committed yet. It is kept as it came (8 kHz stays 8 kHz) until it is taken."""

    def __init__(self) -> None:
        self.clock = 0
        self.start = 0  # of the first piece, on the clock
        self._pieces: deque[tuple[Format, Samples]] = deque()
        self._odd = b""

    def append(self, audio: str, form: Format) -> Samples:
        """Take in one event's audio; its whole samples at the rate of `form`."""
        if len(audio) > LARGEST_APPEND_BYTES * 4 // 3 + 4:
            raise Refusal("invalid_value", _TOO_MUCH, param="audio")
        data = read_base64(audio, "audio")
        if len(data) > LARGEST_APPEND_BYTES:
            raise Refusal("invalid_value", _TOO_MUCH, param="audio")
        if self.clock - self.start + len(data) > LARGEST_BUFFER_SAMPLES:
            message = "The input audio buffer is full: commit or clear it."
            raise Refusal("input_audio_buffer_full", message, param="audio")
        return self._take_in(data, form)

    def clear(self) -> None:
        self._pieces.clear()
        self.start, self._odd = self.clock, b""

    def commit(self) -> Samples:
        """All samples so far at 24 kHz; the buffer is empty afterwards. Refusal under 100 ms, which changes nothing."""
        held_ms = (self.clock - self.start) / SAMPLES_PER_MS
        if held_ms < SHORTEST_COMMIT_MS:
            raise too_small(held_ms)
        samples = self.take(self.start, self.clock)
        self._odd = b""
        return samples

    def take(self, start: int, end: int) -> Samples:
        """What lies between two places of the clock, at 24 kHz; that and all before it leave the buffer."""
        samples = self.copy(start, end)
        self.drop_before(end)
        return samples

    def copy(self, start: int, end: int) -> Samples:
        """What lies between two places of the clock, at 24 kHz."""
        runs: list[tuple[Format, list[Samples]]] = []
        for form, samples in self._pieces:
            if not runs or runs[-1][0] != form:
                runs.append((form, []))
            runs[-1][1].append(samples)
        # One resampling per stretch of one format: at every cut of an append it would click.
        whole = [resampled(np.concatenate(run), from_hz=form.rate_hz, to_hz=RATE_HZ) for form, run in runs]
        return np.concatenate([np.zeros(0, np.int16), *whole])[max(start - self.start, 0) : max(end - self.start, 0)]

    def drop_before(self, place: int) -> None:
        """Forget what lies before a place of the clock."""
        while self._pieces and self.start < place:
            form, samples = self._pieces.popleft()
            factor = RATE_HZ // form.rate_hz
            surplus = (place - self.start) // factor
            if surplus < len(samples):
                self._pieces.appendleft((form, samples[surplus:]))
                self.start += surplus * factor
                return
            self.start += len(samples) * factor

    def _take_in(self, data: bytes, form: Format) -> Samples:
        if form == PCM:  # an append may cut a sample in two
            data = self._odd + data
            self._odd = data[len(data) & ~1 :]
        samples = form.read(data)
        if samples.size:
            self._pieces.append((form, samples))
            self.clock += len(samples) * (RATE_HZ // form.rate_hz)
        return samples


def too_small(held_ms: float) -> Refusal:
    message = (
        "Error committing input audio buffer: buffer too small. "
        f"Expected at least {SHORTEST_COMMIT_MS}ms of audio, but buffer only has {held_ms:.2f}ms of audio."
    )
    return Refusal("input_audio_buffer_commit_empty", message)
