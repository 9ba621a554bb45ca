"""The agent's audio from bytes that arrive cut at odd places, in whatever coding, to samples at RATE_HZ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from runs_app.realtime.dialects.base import Place
from runs_app.realtime.formats import PCM, AudioFormat, as_samples
from runs_app.realtime.pcm import Int16, to_float, to_int16
from runs_app.realtime.record import RATE_HZ
from runs_app.realtime.resampling import StreamResampler


class Piece(NamedTuple):
    """Samples at RATE_HZ; the first `held` of them come from bytes of earlier calls."""

    samples: Int16
    held: int


@dataclass
class Stream:
    form: AudioFormat
    odd: bytes = b""
    resampler: StreamResampler | None = field(init=False)

    def __post_init__(self) -> None:
        self.resampler = None if self.form.rate_hz == RATE_HZ else StreamResampler(self.form.rate_hz, RATE_HZ)

    def decode(self, data: bytes) -> Piece:
        whole = self.odd + data
        self.odd = whole[len(whole) - len(whole) % self.form.sample_bytes :]
        samples = as_samples(whole, self.form)
        if self.resampler is None:
            return Piece(samples, 0)
        held = self.resampler.held
        return Piece(to_int16(self.resampler.resample(to_float(samples))).samples, held)

    def finish(self) -> Int16:
        return to_int16(self.resampler.finish()).samples if self.resampler else np.zeros(0, dtype=np.int16)


class Finished(NamedTuple):
    """What was kept back of each stream, and how many of them ended in half a sample."""

    tails: dict[Place, Int16]
    dangling: int


class SoundDecoder:
    """All streams of one conversation. A stream is a part of an item; bytes of one never complete another's."""

    def __init__(self) -> None:
        self._streams: dict[Place, Stream] = {}

    def decode(self, place: Place, data: bytes, form: AudioFormat = PCM) -> Piece:
        """`form` counts when the stream begins: a format that changes within a sound is a server's mistake."""
        if place not in self._streams:
            self._streams[place] = Stream(form)
        return self._streams[place].decode(data)

    def finish(self, response_id: str | None) -> Finished:
        """The end of a response's streams, and of those of which nobody knows whose they are."""
        over = [place for place in self._streams if response_id is None or place.response_id in (response_id, None)]
        streams = {place: self._streams.pop(place) for place in over}
        tails = {place: stream.finish() for place, stream in streams.items()}
        dangling = sum(bool(stream.odd) for stream in streams.values())
        return Finished({place: tail for place, tail in tails.items() if tail.size}, dangling)
