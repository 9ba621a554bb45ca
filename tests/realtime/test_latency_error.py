"""Real time, concurrency 8: how far the measured latency is from a truth known at the server, and how late the caller's
voice is sent, in every way to end a turn."""

from __future__ import annotations

import pytest

from runs_app.realtime.percentile import nearest_rank
from scripts.bench_latency import AIM_P99_MS, MODES, run_all

pytestmark = [pytest.mark.slow, pytest.mark.alone]

CONVERSATIONS = {"live": 8}  # each is followed by the quiet in which it settles
TRIES = 3  # other work on the machine disturbs all eight conversations at once


@pytest.mark.parametrize("mode", MODES)
async def test_the_error_of_the_latency_and_the_lag_of_the_voice_stay_under_20_ms(mode: str) -> None:
    """A truth of 150 ms to 3.6 s, with silence at either end, at once, in bursts and in a trickle. Nor is the caller's
    voice sent later than that."""
    found: list[tuple[float, float]] = []
    for seed in range(TRIES):
        results = await run_all(CONVERSATIONS.get(mode, 16), 8, seed, True, mode)
        undisturbed = [result for result in results if not result.disturbed]
        assert len(undisturbed) > len(results) / 2
        error_ms = nearest_rank([abs(result.error_ms) for result in undisturbed], 99)
        lag_ms = nearest_rank([result.lag_p99_ms or 0.0 for result in undisturbed], 99)
        assert error_ms is not None
        assert lag_ms is not None
        naive_ms = [abs(result.first_delta_ms - result.truth_ms) for result in undisturbed]
        assert max(naive_ms) > AIM_P99_MS  # what timing the first delta would have said
        found.append((error_ms, lag_ms))
        if max(error_ms, lag_ms) < AIM_P99_MS:
            return
    pytest.fail(f"p99 of the error and of the lag in ms, three times: {found}")
