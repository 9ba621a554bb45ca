"""The bracket stands on the claim's own sound, in samples, and ends where the tool's result came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.case import Case
from runs_app.grading.grade import grade
from runs_app.grading.spoke_too_soon import early_claims, spoke_too_soon, spoke_too_soon_ms
from runs_app.realtime.record import Caption, Delegation, Span, Turn
from tests.grading.builders import audio_record, call, case, recording, scenario, spoken

RESULT_MS = 2_000.0
TOOL = call(called_ms=1_200.0, answered_ms=RESULT_MS)


def confirming(at_ms: float, *more: tuple[float, float], text: str = "Your table is booked.") -> Turn:
    return spoken(agent=((at_ms, at_ms + 1_500), *more), captions=(Caption(at_ms, text),), text=text)


def test_a_confirmation_400_ms_before_the_result_is_bracketed_to_the_sample() -> None:
    audio = recording([(0, 1_000)], [(1_600, 3_100)], 3_200)
    the_case = case(scenario(), audio_record(TOOL, turns=(confirming(1_600),), audio_samples=len(audio)), audio=audio)
    (early,) = early_claims(the_case)
    assert early.bracket == Span(1_600 * 24, 2_000 * 24)
    assert not audio[: early.bracket.start, 1].any(), "nothing of the agent is heard before the bracket"
    assert np.abs(audio[early.bracket.start : early.bracket.end, 1]).max() > 1_000, "and in it it is"
    check = spoke_too_soon(the_case)
    assert (check.status, check.required) == ("failed", False)
    assert check.reason == '"Your table is booked." was said 400 ms before create_reservation answered'
    assert check.evidence["spans_ms"] == [[1_600.0, 2_000.0]]
    assert spoke_too_soon_ms(the_case) == 400.0


def test_a_claim_after_the_result_is_none_of_it() -> None:
    the_case = case(scenario(), audio_record(TOOL, turns=(confirming(2_001),)))
    assert spoke_too_soon(the_case).status == "passed"
    assert spoke_too_soon_ms(the_case) == 0.0


def of(protocol: str, *captions: tuple[float, str], agent: tuple[tuple[float, float], ...], **changes: Any) -> Case:
    told = tuple(Caption(at_ms, text) for at_ms, text in captions)
    turn = spoken(agent=agent, captions=told, text="".join(caption.text for caption in told))
    return case(scenario(), audio_record(TOOL, turns=(turn,), protocol=protocol, **changes))


@pytest.mark.parametrize("protocol", ["realtime", "live"])
def test_a_sentence_ends_where_the_result_came_and_the_agent_spoke_anew(protocol: str) -> None:
    captions = ((1_400.0, "Your table, let me see"), (2_400.0, "Your table is booked."))
    the_case = of(protocol, *captions, agent=((1_400, 1_900), (2_400, 3_000)))
    assert spoke_too_soon_ms(the_case) == 0.0
    assert spoke_too_soon(the_case).status == "passed"


@pytest.mark.parametrize(
    ("captions", "agent", "early_ms"),
    [
        # an acknowledgement without a stop, a pause, the answer
        ([(1_300, "One moment"), (2_500, " it is booked.")], ((1_300, 1_800), (2_500, 3_000)), 0.0),
        # the same in one breath: a new sentence after the result
        ([(1_700, "One moment"), (2_050, " It is booked.")], ((1_700, 2_700),), 0.0),
        # a sentence that runs on over the result: it claims with its last words
        ([(1_700, "your table for three"), (2_050, " is booked.")], ((1_700, 2_700),), 0.0),
        # and one that claimed before the result, and runs on
        ([(1_700, "your table"), (1_850, " is booked"), (2_050, " for three.")], ((1_700, 2_700),), 150.0),
        ([(1_300, "Of course."), (1_650, " It is booked.")], ((1_300, 2_300),), 350.0),
    ],
)
def test_a_live_agent_claims_with_its_claiming_words(
    captions: list[tuple[float, str]], agent: tuple[tuple[float, float], ...], early_ms: float
) -> None:
    assert spoke_too_soon_ms(of("live", *captions, agent=agent)) == early_ms


def test_a_task_that_is_done_may_be_told_of_while_another_goes_on() -> None:
    done = Delegation("d1", "client", 0, created_ms=1_100.0, ended_ms=1_300.0, status="completed")
    open_one = Delegation("d2", "client", 0, created_ms=1_150.0, ended_ms=2_050.0, status="completed")
    first = call(called_ms=1_200.0, answered_ms=1_250.0)
    captions, agent = [(1_600.0, "It is booked.")], ((1_600.0, 2_400.0),)
    both = of("live", *captions, agent=agent, delegations=(done, open_one))
    calls = (first, call(called_ms=1_320.0, answered_ms=2_000.0))
    record = replace(both.record, tool_calls=calls)
    assert spoke_too_soon_ms(case(scenario(), record)) == 0.0
    alone = replace(record, tool_calls=calls[1:], delegations=(open_one,))
    assert spoke_too_soon_ms(case(scenario(), alone)) == 400.0


def test_words_that_run_ahead_of_their_sound_are_bracketed_where_they_are_heard() -> None:
    """All words came at once at 1.3 s; "One moment now, sir." takes the first half of what is heard until 2.5 s."""
    text = "One moment now, sir. Your table's booked."
    turn = spoken(agent=((1_300, 2_500),), captions=(Caption(1_300, text),), text=text)
    (early,) = early_claims(case(scenario(), audio_record(TOOL, turns=(turn,))))
    assert early.early_ms == 700.0
    assert early.bracket.start / 24 == pytest.approx(1_300 + 1_200 * 21 / 41, abs=1)
    assert early.bracket.end == 2_000 * 24


def test_a_claim_made_before_the_result_and_heard_after_it_is_bracketed_itself() -> None:
    text = "Let me look into that for you right away, one moment please. It is booked."
    turn = spoken(agent=((1_300, 5_300),), captions=(Caption(1_300, text),), text=text)
    (early,) = early_claims(case(scenario(), audio_record(TOOL, turns=(turn,))))
    assert early.bracket.start > 2_000 * 24
    assert early.bracket.end == 5_300 * 24


def test_each_turn_is_measured_by_its_own_last_tool() -> None:
    """The second turn's tool, a minute later, does not make the first turn's claim a minute early."""
    later = call(turn=1, called_ms=60_000.0, answered_ms=60_500.0)
    first, second = confirming(1_900), spoken(caller=(58_000, 59_000), agent=((60_600, 61_000),), index=1)
    assert spoke_too_soon_ms(case(scenario(), audio_record(TOOL, later, turns=(first, second)))) == 100.0


def test_without_a_tool_or_words_there_is_nothing_to_tell() -> None:
    no_tool = case(scenario(), audio_record(turns=(confirming(1_600),)))
    no_words = case(scenario(), audio_record(TOOL, turns=(spoken(captions=()),)))
    assert [spoke_too_soon(one).status for one in (no_tool, no_words)] == ["not_applicable"] * 2
    assert [spoke_too_soon_ms(one) for one in (no_tool, no_words)] == [None, None]


async def test_an_assertion_on_the_metric_lets_it_decide() -> None:
    strict = scenario(assertions=[{"metric": {"name": "spoke_too_soon_ms", "lte": 0}}])
    outcomes = [
        (await grade(case(strict, audio_record(TOOL, turns=(confirming(at_ms),))).evidence, judge=None)).outcome.outcome
        for at_ms in (1_600, 2_001)
    ]
    assert outcomes == ["failed", "passed"]


@given(
    pieces=st.lists(
        st.tuples(
            st.floats(1_000, 4_000, allow_nan=False), st.sampled_from(["It is booked. ", "Hello. ", " ", "All set. "])
        ),
        min_size=1,
        max_size=8,
    )
)
def test_a_bracket_never_runs_backwards_nor_begins_before_its_words(pieces: list[tuple[float, str]]) -> None:
    captions = tuple(Caption(at_ms, text) for at_ms, text in sorted(pieces))
    text = "".join(caption.text for caption in captions)
    turn = spoken(agent=((1_000, 1_900), (2_500, 3_000)), captions=captions, text=text)
    for early in early_claims(case(scenario(), audio_record(TOOL, turns=(turn,)))):
        assert early.early_ms > 0
        assert round(early.claim.said_ms * 24) <= early.bracket.start <= early.bracket.end
