"""When each chunk of the caller's voice is due, and how late it went out.

Deadlines are absolute, so that lateness never adds up. A chunk that is late by more than a frame of speech restarts
the cadence at the moment it went out: what follows keeps its distance and is never sent in a burst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runs_app.realtime.clock import Clock
from runs_app.realtime.percentile import nearest_rank
from runs_app.realtime.record import LATE_MS, RATE_HZ, Pacing

JITTER_MS = 20.0
WATCH_MS = 50.0


class Lag(NamedTuple):
    """How late one chunk was, and when on the timeline that was."""

    lag_ms: float
    t_ms: float


@dataclass
class Cadence:
    """The schedule of one turn. `due_sample` counts from the turn's first sample and includes gaps."""

    start_s: float
    due_sample: int = 0

    @property
    def due_s(self) -> float:
        return self.start_s + self.due_sample / RATE_HZ

    def lag_ms(self, now_s: float) -> float:
        return max(0.0, (now_s - self.due_s) * 1000)

    def gap_samples(self, now_s: float) -> int:
        """Silence on the line before a chunk that goes out now: none for jitter, the whole lag beyond it."""
        lag_ms = self.lag_ms(now_s)
        return round(lag_ms * RATE_HZ / 1000) if lag_ms > JITTER_MS else 0

    def advance(self, samples: int) -> None:
        self.due_sample += samples


async def watch_loop(clock: Clock, notice: Callable[[float, float], None]) -> None:
    """Wake up every WATCH_MS and tell how late that was (ms) and when (of the clock). Runs until it is cancelled."""
    due_s = clock.now_s()
    while True:
        due_s = max(due_s, clock.now_s()) + WATCH_MS / 1000
        await clock.sleep_until(due_s)
        now_s = clock.now_s()
        notice((now_s - due_s) * 1000, now_s)


def pacing_of(lags: Sequence[Lag], chunks: int, loop_worst: Lag | None = None) -> Pacing:
    """The numbers of a whole conversation; lags are empty when nothing was paced."""
    loop = (round(loop_worst.lag_ms, 3), round(loop_worst.t_ms, 3)) if loop_worst else (None, None)
    if not lags:
        return Pacing(chunks, None, None, None, *loop)
    worst = max(lags, key=lambda lag: lag.lag_ms)
    p99_ms = nearest_rank((lag.lag_ms for lag in lags), 99)
    return Pacing(
        chunks=chunks,
        lag_p99_ms=None if p99_ms is None else round(p99_ms, 3),
        lag_max_ms=round(worst.lag_ms, 3),
        worst_at_ms=round(worst.t_ms, 3),
        loop_lag_max_ms=loop[0],
        loop_worst_at_ms=loop[1],
        late_chunks=sum(lag.lag_ms >= LATE_MS for lag in lags),
    )
