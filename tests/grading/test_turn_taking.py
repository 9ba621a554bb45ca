"""Endpoints, interruptions and split turns, from records and recordings whose edges are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runs_app.grading.audio_metrics import listen
from runs_app.grading.grade import Evidence, GradingResult, grade
from runs_app.grading.murmurs import is_murmur
from runs_app.grading.turn_taking import agent_stops_ms, turn_taking_metrics
from runs_app.realtime.record import Record, Turn
from tests.grading.builders import audio_record, recording, scenario, span, spoken

FIRST = spoken(caller=(0, 1000), agent=((1500, 3000),), index=0)
SECOND = spoken(caller=(2500, 3500), agent=((4000, 5000),), index=1)


def over(**changes: Any) -> tuple[Turn, Turn]:
    """The second turn begins at 2.5 s over a reply that is heard until 3.0 s."""
    known = {"interrupted": True, "interrupted_ms": 2490.0, "interruption_stop_ms": 180.0, "status": "cancelled"}
    return replace(FIRST, **{**known, **changes}), SECOND


AUDIO = recording([(0, 1000), (2500, 3500)], [(1500, 3000), (4000, 5000)], 5000)


async def graded(record: Record) -> GradingResult:
    return await grade(Evidence(scenario(expected={}), record, audio=AUDIO), judge=None)


async def test_an_interruption_has_both_its_times_and_is_no_interruption_by_the_agent() -> None:
    result = await graded(audio_record(turns=over()))
    metrics = result.metrics
    assert (metrics["interruptions"], metrics["agent_interruptions"]) == (1, 0)
    assert metrics["interruption_stop_ms"] == metrics["interruption_stop_ms_max"] == 180
    assert metrics["agent_stop_ms"] == metrics["agent_stop_ms_p95"] == 500
    first, second = result.turns
    assert (first["interrupted"], first["interrupted_ms"], first["agent_stop_ms"]) == (True, 2490, 500)
    assert (second["interrupted"], second["agent_stop_ms"]) == (False, None)


@pytest.mark.parametrize(("heard_until_ms", "rate"), [(4400, 1.0), (4700, 0.0)])
def test_an_agent_yields_when_it_falls_silent_within_two_seconds(heard_until_ms: int, rate: float) -> None:
    turns = (replace(over()[0], agent=spoken(agent=((1500, heard_until_ms),)).agent), SECOND)
    audio = recording([(0, 1000), (2500, 3500)], [(1500, heard_until_ms)], 5000)
    assert turn_taking_metrics(audio_record(turns=turns), listen(audio))["yield_rate"] == rate
    assert turn_taking_metrics(audio_record(turns=(FIRST, SECOND)), listen(AUDIO))["yield_rate"] is None


def test_an_agent_that_was_silent_already_stopped_at_once() -> None:
    turns = (replace(over()[0], agent=(FIRST.agent[0],)), SECOND)
    audio = recording([(0, 1000), (2500, 3500)], [(1500, 2200), (4000, 5000)], 5000)
    assert agent_stops_ms(turns, listen(audio)) == {0: 0}


def test_where_the_caller_talked_over_nobody_nothing_is_measured() -> None:
    metrics = turn_taking_metrics(audio_record(turns=(FIRST, replace(SECOND, caller=None))), listen(AUDIO))
    assert metrics["interruptions"] == 0
    assert metrics["interruption_stop_ms"] is None
    assert metrics["agent_stop_ms"] is None
    assert metrics["endpointing_delay_ms"] is None
    assert metrics["split_turns"] is None


@pytest.mark.parametrize("changes", [{"real_time": False}, {"mode": "text"}])
def test_outside_a_call_in_real_time_nobody_talks_over_anybody(changes: dict[str, Any]) -> None:
    record = replace(audio_record(turns=over()), **changes)
    metrics = turn_taking_metrics(record, listen(AUDIO))
    assert metrics["interruptions"] is None
    assert metrics["agent_stop_ms"] is None


def test_the_delay_of_the_endpoint_runs_from_the_last_voiced_sample() -> None:
    turns = (replace(FIRST, endpoint_ms=1520.0), replace(SECOND, endpoint_ms=4300.0, splits=2))
    metrics = turn_taking_metrics(audio_record(turns=turns), listen(AUDIO))
    assert metrics["endpointing_delay_ms"] == (520 + 800) / 2
    assert metrics["endpointing_delay_ms_p50"] == 520
    assert metrics["endpointing_delay_ms_max"] == 800
    assert metrics["split_turns"] == 1


def test_a_record_of_an_interruption_goes_through_json_unchanged() -> None:
    record = audio_record(turns=(replace(over()[0], endpoint_ms=1500.0, splits=1), SECOND))
    assert Record.from_json(record.to_json()) == record


DETECTED = {"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}
MURMUR = replace(SECOND, caller_text="Mhm, okay.")


def murmured_at(onset_ms: int, agent: list[tuple[float, float]], **changes: Any) -> dict[str, Any]:
    """The metrics of a murmur of 300 ms over an agent that is heard in these stretches."""
    turns = (over()[0], replace(MURMUR, caller=span(onset_ms, onset_ms + 300)))
    audio = recording([(0, 1000), (onset_ms, onset_ms + 300)], agent, 9000)
    record = audio_record(turns=turns, **{"session": DETECTED, **changes})
    return dict(turn_taking_metrics(record, listen(audio)))


@pytest.mark.parametrize(
    ("agent", "rate"),
    [
        ([(1500, 3500)], 1.0),
        ([(1500, 3499)], 0.0),
        ([(1500, 2600), (3099, 4000)], 1.0),  # a pause of 499 ms
        ([(1500, 2600), (3102, 4000)], 0.0),  # silenced, and then it begins anew
        ([(1500, 2400), (3000, 4000)], None),  # nobody spoke when the murmur began
    ],
)
def test_an_agent_speaks_on_over_a_murmur_when_it_is_heard_a_second_later(
    agent: list[tuple[float, float]], rate: float | None
) -> None:
    metrics = murmured_at(2500, agent)
    assert metrics["backchannel_rate"] == rate
    assert (metrics["yield_rate"], metrics["selectivity"], metrics["agent_stop_ms"]) == (None, None, None)
    assert murmured_at(2500, agent, protocol="live", session={})["backchannel_rate"] == rate


def test_where_we_stop_the_agent_ourselves_a_murmur_says_nothing_about_it() -> None:
    for changes in ({"session": {}}, {"real_time": False}, {"mode": "text"}):
        assert murmured_at(2500, [(1500, 5000)], **changes)["backchannel_rate"] is None


def test_a_murmur_that_makes_no_sound_is_not_measured() -> None:
    record = audio_record(turns=(over()[0], replace(MURMUR, caller=None)), session=DETECTED)
    assert turn_taking_metrics(record, listen(AUDIO))["backchannel_rate"] is None


@pytest.mark.parametrize(("silent_ms", "selectivity"), [(7000, 1.0), (8900, 0.5)])
def test_who_speaks_on_over_murmurs_and_yields_to_words_is_selective(silent_ms: int, selectivity: float) -> None:
    """A murmur at 2.5 s over a voice until 4 s; at 6 s words over the next reply, silent 1 s or 2.9 s after."""
    turns = (
        over()[0],
        replace(MURMUR, caller=span(2500, 2800), interrupted=True, agent=(span(5000, silent_ms),)),
        replace(SECOND, index=2, caller=span(6000, 6500), agent=()),
    )
    audio = recording([(0, 1000), (2500, 2800), (6000, 6500)], [(1500, 4000), (5000, silent_ms)], 9000)
    metrics = turn_taking_metrics(audio_record(turns=turns, session=DETECTED), listen(audio))
    assert metrics["backchannel_rate"] == 1
    assert metrics["yield_rate"] == (1.0 if selectivity == 1 else 0.0)
    assert metrics["selectivity"] == selectivity


async def test_a_murmur_is_no_chance_to_answer() -> None:
    silenced = recording([(0, 1000), (2500, 2800)], [(1500, 2600)], 9000)
    turns = (over()[0], replace(MURMUR, caller=span(2500, 2800), agent=()))
    record = audio_record(turns=turns, session=DETECTED)
    result = await grade(Evidence(scenario(expected={}), record, audio=silenced), judge=None)
    assert (result.metrics["response_rate"], result.metrics["backchannel_rate"]) == (1, 0)
    assert [row["response"] for row in result.turns] == ["answered", "excluded"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mhm.", True),
        ("Mm-hmm", True),
        ("Uh-huh, uh-huh!", True),
        ("Yes, okay. I see…", True),
        ("Right", True),
        ("Yes, at seven.", False),
        ("No.", False),
        ("Stop!", False),
        ("Okay okay okay okay okay", False),
        ("Okra", False),
        ("", False),
        ("…", False),
    ],
)
def test_a_murmur_is_told_from_words_that_want_the_floor(text: str, expected: bool) -> None:
    assert is_murmur(text) is expected
