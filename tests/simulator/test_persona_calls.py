"""Whole calls that a simulated persona leads: the demo's, and twelve turns in real time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runs_app.grading.grade import Evidence
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.script import IMPATIENCE_MS
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.scenario import parse_scenario
from tests.realtime.support import known
from tests.simulator.demo import APPLICATIONS, CONVERSATIONS, FIRST, SECOND, judged
from tests.simulator.personas import Call, led
from tests.simulator.wire_client import Simulator

(TALKED_OVER,) = CONVERSATIONS
HERON = APPLICATIONS["Copper Heron"]


def step(id: str, words: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "commitment": words, "words": words, **more}


FOUR = {"party_size": 4}
TWELVE = parse_scenario(
    {
        **TALKED_OVER.to_json(),
        "id": "twelve_turns",
        "input": {"text": "Hello."},
        "persona": {
            **known(TALKED_OVER.persona).to_json(),
            "agenda": [
                step("dogs", "Are dogs welcome?"),
                step("parking", "Can I park there?"),
                step("largest", "How large is your largest table?"),
                step("menu", "Is there a vegetarian menu?"),
                step("sunday", "When do you close on Sundays?", action="interrupt", after=["menu"]),
                step("weekdays", "And on weekdays?", after=["sunday"]),
                step("free", "Anything free on May 15 at 7 p.m. for three people?", after=["weekdays"]),
                step("four", "Sorry, four people, not three.", action="correct", facts=FOUR, after=["free"]),
                step("book", "Please book it.", after=["four"]),
                step("bye", "Thank you, goodbye.", action="finish", after=["book"]),
            ],
        },
        "max_turns": 14,
    }
)


async def outcome(simulator: Simulator, call: Call) -> tuple[str, str]:
    evidence = Evidence(scenario=TALKED_OVER, record=call.record, audio=call.audio, facts=HERON.facts)
    came_to = (await judged(simulator, evidence)).outcome
    return came_to.outcome, came_to.stage


@pytest.mark.slow
async def test_the_demos_conversation_tells_the_two_prompts_apart_and_is_the_same_again(simulator: Simulator) -> None:
    seeds = ("5", "5", "6")
    second, again, other = await asyncio.gather(
        *(led(simulator, TALKED_OVER, SECOND, HERON, seed=seed) for seed in seeds)
    )
    first = await led(simulator, TALKED_OVER, FIRST, HERON, seed="5")
    assert await outcome(simulator, second) == ("passed", "")
    assert await outcome(simulator, first) == ("failed", "")
    assert second.said == again.said != other.said
    assert known(second.record.persona).ended_by == "caller"
    assert await outcome(simulator, other) == ("passed", "")


@pytest.mark.slow
@pytest.mark.alone
async def test_twelve_turns_in_real_time_with_a_correction_and_an_interruption_come_again_by_their_seed(
    simulator: Simulator,
) -> None:
    quick = {"audio": {"input": {"transcription": {"model": "sim-ear"}}, "output": {"speed": 1.5}}}
    instructions = SECOND.instructions.replace("Read the details back to the caller.", "Be brief.")
    brief = parse_configuration({**SECOND.to_json(), "instructions": instructions, "session_update": quick})
    calls = [led(simulator, TWELVE, brief, HERON, seed="5", aloud=True, real_time=True) for _ in range(2)]
    one, two = await asyncio.gather(*calls)
    for call in (one, two):
        turns = call.record.turns
        assert call.record.ending.code == "caller", call.record.ending
        assert len(turns) == 12, call.said
        (cut,) = [turn for turn in turns if turn.interrupted]
        heard_ms = sum(span.end - span.start for span in cut.agent) / SAMPLES_PER_MS
        assert IMPATIENCE_MS[0] - 50 < heard_ms < IMPATIENCE_MS[1] + 250
        assert "Sundays" in turns[cut.index + 1].caller_text
        assert [tool.arguments["party_size"] for tool in call.record.tool_calls if tool.arguments] == [3, 4, 4]
        assert all(turn.thought for turn in turns[1:])
    assert one.said == two.said
    assert [turn.interrupted for turn in one.record.turns] == [turn.interrupted for turn in two.record.turns]
