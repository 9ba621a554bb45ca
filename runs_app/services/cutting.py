"""A caller's words cut out of a recorded call, as a file of their own at the call's own rate."""

from __future__ import annotations

from runs_app.realtime.pcm import mix_down, to_int16
from runs_app.realtime.recording_audio import read_recording
from runs_app.realtime.wav import AudioFormatError, Decoded, read_wav, wav_bytes


def cut_recording(*, data: bytes, channel: int | None, start_ms: float, end_ms: float | None) -> bytes:
    """A mono WAV of one channel (from 1; None: all mixed) from `start_ms` to `end_ms` (None: its end). Raises
    AudioFormatError, also where nobody is heard in it or nobody could say so much."""
    if not data:
        raise AudioFormatError("the file is empty")
    decoded = read_wav(data)
    channels = decoded.samples.shape[1]
    if channel is not None and not 1 <= channel <= channels:
        raise AudioFormatError(f"it has no channel {channel}: it has {channels}")
    first, last = _samples(decoded, start_ms, end_ms)
    piece = decoded.samples[first:last]
    mono = mix_down(piece) if channel is None else piece[:, channel - 1]
    cut = wav_bytes(to_int16(mono).samples, rate_hz=decoded.rate_hz)
    read_recording(cut)
    return cut


def _samples(decoded: Decoded, start_ms: float, end_ms: float | None) -> tuple[int, int]:
    whole_ms = decoded.duration_ms
    if start_ms >= whole_ms:
        raise AudioFormatError(f"it begins at {start_ms / 1000:g} s, and the call is {whole_ms / 1000:.1f} s long")
    end_ms = whole_ms if end_ms is None else end_ms
    if not 0 <= start_ms < end_ms:
        raise AudioFormatError(f"the end ({end_ms / 1000:g} s) must come after the beginning ({start_ms / 1000:g} s)")
    return round(start_ms * decoded.rate_hz / 1000), round(end_ms * decoded.rate_hz / 1000)
