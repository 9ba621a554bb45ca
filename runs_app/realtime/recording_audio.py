"""A recorded request as the caller's words: any file that libsndfile reads becomes int16 mono at RATE_HZ.

Nothing is guessed in silence: what was changed on the way is told in `notes`, and a file that nobody speaks in, that
is too short or too long, or that claims a rate or channels no telephone call has, is refused with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.realtime.pcm import Float, Int16, mix_down, resample, to_int16
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.wav import AudioFormatError, Decoded, read_wav

SHORTEST_MS = 100  # the Realtime API refuses to commit less
LONGEST_S = 600
SLOWEST_HZ, FASTEST_HZ = 4_000, 384_000
MOST_CHANNELS = 8


@dataclass(frozen=True)
class RecordedAudio:
    """int16 mono at RATE_HZ, with what the file said it was; `clipped` samples went beyond full scale."""

    samples: Int16
    declared_rate_hz: int
    channels: int
    channel: int | None  # the one that was taken, from 1; None: the mean of all
    clipped: int

    @property
    def duration_ms(self) -> float:
        return len(self.samples) / SAMPLES_PER_MS

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for each thing that was changed."""
        changed = []
        if self.declared_rate_hz != RATE_HZ:
            changed.append(f"resampled from {self.declared_rate_hz} Hz to {RATE_HZ} Hz")
        if self.channel is not None:
            changed.append(f"channel {self.channel} of {self.channels}")
        elif self.channels > 1:
            changed.append(f"mixed down from {self.channels} channels")
        if self.clipped:
            changed.append(f"clipped samples: {self.clipped}")
        return tuple(changed)


def read_recording(data: bytes, *, channel: int | None = None) -> RecordedAudio:
    """Decode, take one channel (from 1) or the mean of all, resample. Raises AudioFormatError with the reason."""
    if not data:
        raise AudioFormatError("the file is empty")
    decoded = read_wav(data)
    _check(decoded, channel)
    mono = _one_channel(decoded.samples, channel)
    samples, clipped = to_int16(resample(mono, from_hz=decoded.rate_hz, to_hz=RATE_HZ))
    if not voiced(samples):
        raise AudioFormatError("nobody is heard in it: it is silence, or too quiet to be speech")
    return RecordedAudio(samples, decoded.rate_hz, decoded.samples.shape[1], channel, clipped)


def _check(decoded: Decoded, channel: int | None) -> None:
    channels = decoded.samples.shape[1]
    if not SLOWEST_HZ <= decoded.rate_hz <= FASTEST_HZ:
        raise AudioFormatError(f"it claims {decoded.rate_hz} Hz; {SLOWEST_HZ} to {FASTEST_HZ} Hz can be read")
    if channels > MOST_CHANNELS:
        raise AudioFormatError(f"it has {channels} channels, at most {MOST_CHANNELS} can be read")
    if channel is not None and not 1 <= channel <= channels:
        raise AudioFormatError(f"it has no channel {channel}: it has {channels}")
    if decoded.duration_ms < SHORTEST_MS:
        raise AudioFormatError(f"it is {decoded.duration_ms:.0f} ms long, at least {SHORTEST_MS} ms are needed")
    if decoded.duration_ms > LONGEST_S * 1000:
        raise AudioFormatError(f"it is {decoded.duration_ms / 1000:.0f} s long, at most {LONGEST_S} s can be said")


def _one_channel(samples: Float, channel: int | None) -> Float:
    return mix_down(samples) if channel is None else samples[:, channel - 1]
