from __future__ import annotations

import asyncio

import numpy as np
import pytest

from runs_app.realtime.pacing import Cadence, Lag, pacing_of, watch_loop
from tests.realtime.fake_clock import FakeClock

CHUNK = 2400  # 100 ms


async def sent_at_ms(clock: FakeClock, count: int) -> tuple[list[float], list[int]]:
    """When each chunk went out and on which sample it lies, both from the start."""
    start_s = clock.now_s()
    cadence, moments, samples = Cadence(start_s), [], []
    for _ in range(count):
        await clock.sleep_until(cadence.due_s)
        now_s = clock.now_s()
        cadence.advance(cadence.gap_samples(now_s))
        moments.append((now_s - start_s) * 1000)
        samples.append(cadence.due_sample)
        cadence.advance(CHUNK)
    return moments, samples


async def test_on_time_every_chunk_has_its_place() -> None:
    moments, samples = await sent_at_ms(FakeClock(), 4)
    assert moments == pytest.approx([0, 100, 200, 300])
    assert samples == [0, 2400, 4800, 7200]


async def test_jitter_never_adds_up_and_leaves_no_gap() -> None:
    moments, samples = await sent_at_ms(FakeClock(late_ms=dict.fromkeys(range(1, 50), 9.0)), 50)
    assert moments[-1] == pytest.approx(4909)
    assert samples == [nth * 2400 for nth in range(50)]


async def test_a_late_chunk_leaves_a_gap_and_the_next_keeps_its_distance() -> None:
    moments, samples = await sent_at_ms(FakeClock(late_ms={2: 312.0}), 5)
    assert moments == pytest.approx([0, 100, 512, 612, 712])
    assert samples == [0, 2400, 512 * 24, 612 * 24, 712 * 24]
    assert np.diff(moments).min() == pytest.approx(100)  # never a burst


def test_the_lag_is_against_the_absolute_deadline_and_never_negative() -> None:
    cadence = Cadence(10.0)
    cadence.advance(CHUNK)
    assert cadence.lag_ms(10.125) == pytest.approx(25)
    assert cadence.lag_ms(10.05) == 0


def test_the_pacing_of_a_conversation_names_the_worst_moment() -> None:
    lags = [Lag(1.0, nth * 100.0) for nth in range(99)] + [Lag(312.0, 4000.0)]
    pacing = pacing_of(lags, 100)
    assert (pacing.chunks, pacing.lag_p99_ms, pacing.lag_max_ms, pacing.worst_at_ms) == (100, 1.0, 312.0, 4000.0)


def test_nothing_paced_is_not_measured() -> None:
    pacing = pacing_of([], 7)
    assert (pacing.chunks, pacing.lag_p99_ms, pacing.lag_max_ms) == (7, None, None)


async def test_a_loop_that_wakes_up_late_is_noticed_with_the_moment() -> None:
    clock, noticed = FakeClock(now_s=10.0, late_ms={2: 312.0}), []

    def notice(lag_ms: float, at_s: float) -> None:
        noticed.append((round(lag_ms), round((at_s - 10.0) * 1000)))
        if len(noticed) == 5:
            watching.cancel()

    watching = asyncio.ensure_future(watch_loop(clock, notice))
    with pytest.raises(asyncio.CancelledError):
        await watching
    assert noticed == [(0, 50), (0, 100), (312, 462), (0, 512), (0, 562)]


def test_the_lateness_of_the_loop_stands_beside_that_of_the_chunks() -> None:
    pacing = pacing_of([Lag(1.0, 0.0)], 1, Lag(270.0, 4200.0))
    assert (pacing.lag_max_ms, pacing.loop_lag_max_ms, pacing.loop_worst_at_ms) == (1.0, 270.0, 4200.0)
