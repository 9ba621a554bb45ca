"""The demo over GPT Live, in real time: with the provider's backend, and with our own behind the voice."""

from __future__ import annotations

import asyncio

import pytest

from runs_app.grading.grade import Evidence
from tests.simulator.demo import EIGHT, FAILS, LIVE, LIVE_CLIENT, conversed, judged, outcomes
from tests.simulator.wire_client import Simulator

AT_ONCE = 16  # every one of them in real time: so it takes as long as the longest


@pytest.mark.slow
@pytest.mark.alone
async def test_the_demo_comes_to_the_same_over_live_with_either_backend(simulator: Simulator) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def held(number: int) -> Evidence:
        configuration, scenario = (LIVE, LIVE_CLIENT)[number // len(EIGHT)], EIGHT[number % len(EIGHT)]
        async with places:
            return await conversed(simulator, scenario, configuration, "7", aloud=True, real_time=True)

    evidence = await asyncio.gather(*map(held, range(2 * len(EIGHT))))
    found = [(await judged(simulator, one)).outcome for one in evidence]
    expected = list(outcomes(EIGHT, FAILS["Front desk@2"]).values())
    assert [one.outcome for one in found] == [*expected, *expected], found
    targets = [{work.target for work in one.record.delegations} for one in evidence]
    assert set().union(*targets[: len(EIGHT)]) == {"responses"}
    assert set().union(*targets[len(EIGHT) :]) == {"client"}
