"""One timeline for a trial: from the monotonic clock to milliseconds and to samples of the stereo WAV.

Zero is the sending of the first caller sample. In real time a moment is simply its distance from zero. Not in real
time the caller's audio goes out at once, so while the caller speaks a moment is the end of the samples sent so far;
from the end of the caller on (the commit) time runs on from the end of those samples. In both, the agent's latency
is the time from the commit to the sound.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from operator import itemgetter

import numpy as np

from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS, Span

SEAM_SAMPLES = 5 * SAMPLES_PER_MS


@dataclass
class Track:
    """Samples of one channel where they lie; nothing overlaps, gaps are silence."""

    pieces: list[tuple[int, Int16]] = field(default_factory=list)
    end: int = 0

    def put(self, start: int, samples: Int16) -> Span:
        """At `start`, or at the end of what is there already."""
        start = max(start, self.end)
        self.end = start + samples.size
        self.pieces.append((start, samples))
        return Span(start, self.end)

    def reaching(self, start: int, end: int) -> Iterator[tuple[int, Int16]]:
        """The pieces that lie in this stretch, of a copy that a cut or a new piece does not disturb."""
        pieces = tuple(self.pieces)
        first = bisect_right(pieces, start, key=itemgetter(0)) - 1
        return takewhile(lambda piece: piece[0] < end, islice(pieces, max(0, first), None))

    def cut(self, at: int) -> None:
        """Nothing lies at this sample or behind it any more."""
        while self.pieces and self.pieces[-1][0] >= at:
            self.pieces.pop()
        if self.pieces:
            start, samples = self.pieces[-1]
            self.pieces[-1] = (start, samples[: at - start])
        self.end = min(self.end, at)


@dataclass
class Timeline:
    real_time: bool
    zero_s: float | None = None
    caller: Track = field(default_factory=Track)
    agent: Track = field(default_factory=Track)
    # Not in real time: the moment of the clock at which the timeline stood at this sample; None = the caller speaks.
    anchor_s: float | None = None
    anchor_sample: int = 0

    def sample_at(self, now_s: float) -> int:
        """The sample of the WAV that this moment of the clock falls on; negative before zero."""
        if self.zero_s is None:
            raise ValueError("the timeline has not begun")
        if self.real_time:
            return round((now_s - self.zero_s) * RATE_HZ)
        if now_s < self.zero_s:
            return round((now_s - self.zero_s) * RATE_HZ)
        if self.anchor_s is None:
            return self.caller.end
        return self.anchor_sample + round((now_s - self.anchor_s) * RATE_HZ)

    def t_ms(self, now_s: float) -> float:
        return round(self.sample_at(now_s) / SAMPLES_PER_MS, 3)

    def begin(self, now_s: float) -> None:
        """Zero, unless there is one already."""
        if self.zero_s is None:
            self.zero_s = now_s
            self.anchor_s = now_s

    def start_turn(self, now_s: float, *, over: bool = False) -> int:
        """The sample at which the caller starts to speak: after everything that lies on the timeline, or `over` what
        the agent is still saying."""
        self.begin(now_s)
        start = max(self.sample_at(now_s), self.caller.end, 0 if over else self.agent.end)
        self.caller.end = start
        self.anchor_s = None
        return start

    def end_turn_of_caller(self, now_s: float, at: int | None = None) -> None:
        """The caller has said everything (by default at the end of what lies there): from here on, latency runs."""
        self.anchor_s, self.anchor_sample = now_s, self.caller.end if at is None else at

    def place_caller(self, start: int, samples: Int16) -> Span:
        return self.caller.put(start, samples)

    def place_agent(self, arrival_s: float, samples: Int16) -> Span:
        """At its arrival, or right after what the agent is still saying. A seam of a few milliseconds is closed:
        it is the jitter of the network and of this loop, and would be a click that nobody sent."""
        arrival = max(0, self.sample_at(arrival_s))
        seam = 0 < arrival - self.agent.end <= SEAM_SAMPLES and self.agent.end > 0
        return self.agent.put(self.agent.end if seam else arrival, samples)

    def follow_agent(self, samples: Int16) -> Span:
        """Right behind what the agent said last, whenever it came."""
        return self.agent.put(self.agent.end, samples)

    def cut_agent(self, at: int) -> None:
        """Nothing that the agent says at this sample or later is heard; what comes afterwards is placed as ever."""
        self.agent.cut(max(0, at))

    def moment_s(self, at: int) -> float:
        """When this sample is heard. In real time only, and after zero."""
        return (self.zero_s or 0.0) + at / RATE_HZ

    def played_out_s(self, now_s: float) -> float:
        """When the agent's audio has been heard to its end. In real time only: else nobody has to wait."""
        if not self.real_time or self.zero_s is None:
            return now_s
        return max(now_s, self.zero_s + self.agent.end / RATE_HZ)

    def stereo(self) -> Int16:
        """(n, 2) samples: caller left, agent right, as long as the longer of the two."""
        return self.between(0, max(self.caller.end, self.agent.end))

    def between(self, start: int, end: int) -> Int16:
        """The same from sample `start` to `end`, silence where nothing lies. Another thread may ask while the
        conversation goes on: it hears what has been placed so far."""
        samples = np.zeros((max(0, end - start), 2), dtype=np.int16)
        for channel, track in enumerate((self.caller, self.agent)):
            for at, piece in track.reaching(start, end):
                inside = piece[max(0, start - at) : max(0, end - at)]
                first = max(at, start) - start
                samples[first : first + inside.size, channel] = inside
        return samples


def merged(spans: list[Span]) -> tuple[Span, ...]:
    """Spans in order, those that touch made one."""
    result: list[Span] = []
    for span in spans:
        if result and result[-1].end == span.start:
            result[-1] = Span(result[-1].start, span.end)
        elif span.end > span.start:
            result.append(span)
    return tuple(result)
