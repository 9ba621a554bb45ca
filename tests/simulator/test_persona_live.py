"""A persona on GPT Live: the same caller, on a line without turns."""

from __future__ import annotations

import pytest

from scenarios_app.spec.scenario import parse_scenario
from tests.realtime.support import known
from tests.simulator.demo import APPLICATIONS, CONVERSATIONS, LIVE
from tests.simulator.personas import led
from tests.simulator.wire_client import Simulator

BYE = {"id": "bye", "commitment": "Say goodbye", "action": "finish", "words": "Thank you, goodbye."}


@pytest.mark.slow
@pytest.mark.alone
async def test_a_persona_leads_a_live_call_and_breaks_in(simulator: Simulator) -> None:
    whole = CONVERSATIONS[0].to_json()
    short = {**whole["persona"], "agenda": [*whole["persona"]["agenda"][:2], {**BYE, "after": ["sunday"]}]}
    scenario = parse_scenario({**whole, "input": {"text": "Hello."}, "persona": short})
    call = await led(simulator, scenario, LIVE, APPLICATIONS["Copper Heron"], seed="5", aloud=True, real_time=True)
    assert call.record.ending.code == "caller", (call.record.ending, call.said)
    assert known(call.record.persona).steps == ("menu", "sunday", "bye")
    assert [turn.interrupted for turn in call.record.turns] == [False, True, False, False]
    assert all(turn.agent_text for turn in call.record.turns)
