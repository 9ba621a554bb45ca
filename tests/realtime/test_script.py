"""The caller's lines: in order, at most max_turns, and broken into by a temper that a seed makes repeatable."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.realtime.script import IMPATIENCE_MS, lines, with_audio
from scenarios_app.spec.scenario import Scenario, parse_scenario
from tests.realtime.support import tone

TURNS = [{"text": f"Turn {nth}"} for nth in range(2, 42)]


def scripted(turns: list[dict[str, Any]] | None = None, **changes: Any) -> Scenario:
    said = {"text": "Turn 1", "turns": TURNS if turns is None else turns}
    return parse_scenario({"id": "talk", "title": "Talk", "interaction": "multi_turn", "input": said, **changes})


def hasty(probability: float, seed: int | None = None) -> dict[str, Any]:
    return {"persona": {"goal": "Book", "behaviors": {"interrupt_probability": probability}, "seed": seed}}


def moments(scenario: Scenario, seed: int | str = 0) -> list[float | None]:
    return [line.interrupt_after_ms for line in lines(scenario, seed=seed)]


def test_the_first_line_is_the_request_and_the_others_follow_in_order() -> None:
    script = lines(scripted([{"text": "Turn 2", "interrupt_after_ms": 900}, {"text": "Turn 3", "wait": "silence"}]))
    assert [line.text for line in script] == ["Turn 1", "Turn 2", "Turn 3"]
    assert [line.interrupt_after_ms for line in script] == [None, 900, None]
    assert [line.wait for line in script] == ["reply", "reply", "silence"]


def test_no_more_turns_are_said_than_allowed() -> None:
    assert [line.text for line in lines(scripted(max_turns=2))] == ["Turn 1", "Turn 2"]
    assert len(lines(scripted())) == 41


@pytest.mark.behaviour(20)
def test_a_temper_of_one_always_breaks_in_and_of_zero_never() -> None:
    always = moments(scripted(**hasty(1)))
    assert always[0] is None  # there is nothing to break into yet
    known = [moment for moment in always[1:] if moment is not None]
    assert len(known) == 40
    assert min(known) >= IMPATIENCE_MS[0]
    assert max(known) <= IMPATIENCE_MS[1]
    assert len(set(known)) > 20
    assert set(moments(scripted(**hasty(0)))) == {None}
    assert set(moments(scripted())) == {None}


def test_a_seed_breaks_in_at_the_same_places_and_another_one_elsewhere() -> None:
    half = scripted(**hasty(0.5))
    assert moments(half, 7) == moments(half, 7)
    assert moments(half, 7) != moments(half, 8)
    assert moments(scripted(**hasty(0.5, seed=1)), 7) != moments(scripted(**hasty(0.5, seed=2)), 7)
    assert 8 < sum(moment is not None for moment in moments(half, 7)) < 32


def test_what_the_script_says_itself_wins_over_the_temper_and_moves_no_other_draw() -> None:
    given: list[dict[str, Any]] = [dict(turn) for turn in TURNS]
    given[3]["interrupt_after_ms"] = 50
    plain, changed = moments(scripted(**hasty(1)), 7), moments(scripted(given, **hasty(1)), 7)
    assert changed[4] == 50
    assert changed[:4] + changed[5:] == plain[:4] + plain[5:]


def test_every_line_gets_its_sound() -> None:
    script = lines(scripted([{"text": "Turn 2", "interrupt_after_ms": 0}]))
    first, second = with_audio(script, [tone(100), tone(200)])
    assert (first.text, second.interrupt_after_ms) == ("Turn 1", 0)
    assert first.audio is not None
    assert first.audio.size == 2400
