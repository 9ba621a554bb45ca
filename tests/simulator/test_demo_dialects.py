"""The demo in every dialect and every coding of the protocol: the wire changes, and nothing that comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios_app.spec.configuration import Configuration, parse_configuration
from tests.simulator.demo import EIGHT, FAILS, FULL, SECOND, graded, outcomes, results
from tests.simulator.wire_client import Simulator

BETA = {"dialect": "beta", "session_update": {"input_audio_transcription": {"model": "sim-ear"}}}
G711 = {"audio": {"input": "g711_ulaw", "output": "g711_alaw"}}
BOOKING = next(one for one in EIGHT if one.id == "booking_plain")


def speaking(**changes: Any) -> Configuration:
    return parse_configuration({**SECOND.to_json(), **changes})


async def test_the_demo_in_beta_comes_to_what_it_comes_to_in_ga(simulator: Simulator) -> None:
    found = await results(simulator, speaking(**BETA), EIGHT)
    assert found == outcomes(EIGHT, FAILS["Front desk@2"])


@pytest.mark.slow
async def test_the_spoken_demo_in_beta_over_a_telephone_line_comes_to_the_same(simulator: Simulator) -> None:
    found = await results(simulator, speaking(**BETA, **G711), FULL, at_once=4, aloud=True)
    assert found == outcomes(FULL, FAILS["Front desk@2"])


@pytest.mark.parametrize("changes", [BETA, G711, {**BETA, **G711}], ids=["beta", "g711", "beta g711"])
async def test_a_spoken_booking_is_understood_and_answered_in_every_coding(
    simulator: Simulator, changes: dict[str, Any]
) -> None:
    result = await graded(simulator, BOOKING, speaking(**changes), "7", aloud=True)
    assert result.outcome.outcome == "passed", result.outcome
    assert result.metrics["agent_speech_ms"] > 1000
