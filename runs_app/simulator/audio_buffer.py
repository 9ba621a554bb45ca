"""The input audio buffer: base64 PCM16 in any cut, committed in whole."""

from __future__ import annotations

import numpy as np

from runs_app.simulator.items import Samples, read_base64
from runs_app.simulator.wire import Refusal

BYTES_PER_MS = 48
SHORTEST_COMMIT_MS = 100
LARGEST_APPEND_BYTES = 15 * 1024 * 1024
LARGEST_BUFFER_BYTES = 200 * 1024 * 1024  # more than the longest session in real time


class AudioBuffer:
    """Bytes as they come; a sample may be cut in two by an append, so only the commit looks at samples."""

    def __init__(self) -> None:
        self._data = bytearray()

    def append(self, audio: str) -> None:
        if len(audio) > LARGEST_APPEND_BYTES * 4 // 3 + 4:
            raise Refusal(
                "invalid_value", "Invalid 'audio'. One event may carry at most 15 MiB of audio.", param="audio"
            )
        data = read_base64(audio, "audio")
        if len(data) > LARGEST_APPEND_BYTES:
            raise Refusal(
                "invalid_value", "Invalid 'audio'. One event may carry at most 15 MiB of audio.", param="audio"
            )
        if len(self._data) + len(data) > LARGEST_BUFFER_BYTES:
            raise Refusal(
                "input_audio_buffer_full", "The input audio buffer is full: commit or clear it.", param="audio"
            )
        self._data += data

    def clear(self) -> None:
        self._data.clear()

    def commit(self) -> Samples:
        """All samples so far; the buffer is empty afterwards. Refusal under 100 ms, which changes nothing."""
        held_ms = len(self._data) / BYTES_PER_MS
        if held_ms < SHORTEST_COMMIT_MS:
            message = (
                "Error committing input audio buffer: buffer too small. "
                f"Expected at least {SHORTEST_COMMIT_MS}ms of audio, but buffer only has {held_ms:.2f}ms of audio."
            )
            raise Refusal("input_audio_buffer_commit_empty", message)
        samples = np.frombuffer(bytes(self._data[: len(self._data) // 2 * 2]), "<i2")
        self.clear()
        return samples
