"""The recording against truth: sounds with edges that we put there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runs_app.grading import intervals
from runs_app.grading.audio_metrics import audio_metrics, listen, response_counts, responses
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS, Delegation, Record, Span
from tests.grading.builders import audio_record, call, recording, span, spoken, tone


def numbers(record: Record, audio: Any) -> dict[str, float | None]:
    voices = listen(audio)
    return audio_metrics(record, voices, responses(record, voices))


def one_turn(start_ms: float, end_ms: float, **changes: Any) -> Record:
    return audio_record(turns=(spoken(agent=((start_ms, end_ms),), **changes),))


@pytest.mark.parametrize("gap_ms", [0.0, 7.0, 150.0, 803.0, 3_000.0, 5_000.0])
@pytest.mark.parametrize("offset_ms", [0.0, 3.0, 11.0, 19.0])
def test_latency_is_from_the_last_voiced_to_the_first_voiced_sample(gap_ms: float, offset_ms: float) -> None:
    end = 1_000.0 + offset_ms
    start = end + gap_ms
    audio = recording([(offset_ms, end)], [(start, start + 900)], start + 1_000)
    found = numbers(one_turn(start, start + 900, caller=(0.0, end)), audio)
    assert found["response_latency_ms"] == pytest.approx(gap_ms, abs=2.0)
    assert found["response_rate"] == 1.0
    # CRAWL's grid can only be early at the start and late at the end.
    unrefined = found["response_latency_unrefined_ms"]
    assert unrefined is not None
    assert gap_ms - 40.5 <= unrefined <= gap_ms + 2.0


def test_a_thousand_pairs_are_within_three_milliseconds_of_the_truth() -> None:
    random = np.random.default_rng(7)
    errors = []
    for _ in range(1_000):
        gap_ms = float(random.uniform(150, 3_000))
        end = float(random.uniform(400, 700))
        start = end + gap_ms
        audio = np.zeros((round((start + 400) * SAMPLES_PER_MS), 2), dtype=np.int16)
        pitches = random.uniform(110, 260, size=2)
        said, answer = (tone(300, pitch_hz=pitch, amplitude=int(random.integers(2_000, 20_000))) for pitch in pitches)
        audio[round(end * SAMPLES_PER_MS) - len(said) : round(end * SAMPLES_PER_MS), 0] = said
        audio[round(start * SAMPLES_PER_MS) :, 1][: len(answer)] = answer
        found = responses(one_turn(start, start + 300, caller=(0.0, end)), listen(audio))
        assert found[0].latency_ms is not None
        errors.append(abs(found[0].latency_ms - gap_ms))
    assert np.percentile(errors, 99) < 3.0


def test_silence_inside_the_agents_audio_counts_as_latency() -> None:
    """The first delta comes at 1,500 ms and begins with 300 ms of silence."""
    audio = recording([(0, 1_000)], [(1_800, 2_500)], 2_600)
    found = numbers(one_turn(1_500, 2_500), audio)
    assert found["response_latency_ms"] == pytest.approx(800.0, abs=2)
    assert found["agent_speech_ms"] == 1_000.0
    assert found["speaking_duration_ms"] == pytest.approx(700.0, abs=2)


def test_an_answer_after_five_seconds_is_late_and_counts_as_missed() -> None:
    audio = recording([(0, 1_000)], [(6_050, 7_000)], 7_100)
    record = one_turn(6_050, 7_000)
    found = responses(record, listen(audio))
    assert (found[0].verdict, found[0].latency_ms) == ("late", pytest.approx(5_050, abs=2))
    measured = numbers(record, audio)
    assert (measured["response_rate"], measured["response_latency_ms"], measured["response_late_count"]) == (0, None, 1)


@pytest.mark.case("A03")
def test_a_reply_without_a_sound_is_a_miss_and_has_no_latency() -> None:
    """A03, second script: incomplete (content_filter), no audio at all."""
    silent = spoken(agent=(), text="", status="incomplete", status_reason="content_filter")
    measured = numbers(audio_record(turns=(silent,)), recording([(0, 1_000)], [], 1_500))
    assert (measured["response_rate"], measured["response_latency_ms"]) == (0.0, None)


@pytest.mark.parametrize(
    ("status", "total_ms", "verdict"),
    [
        ("closed", 1_500, "censored"),
        ("closed", 6_100, "missed"),
        ("timeout", 3_000, "missed"),
        ("completed", 1_500, "missed"),
    ],
)
def test_a_conversation_that_broke_off_early_says_nothing_about_the_answer(
    status: Any, total_ms: int, verdict: str
) -> None:
    record = audio_record(turns=(spoken(agent=(), text="", status=status),))
    voices = listen(recording([(0, 1_000)], [], total_ms))
    found = responses(record, voices)
    assert [response.verdict for response in found] == [verdict]
    assert audio_metrics(record, voices, found)["response_rate"] == (None if verdict == "censored" else 0.0)


def test_an_agent_that_speaks_while_the_caller_ends_is_excluded_from_the_rate() -> None:
    record = one_turn(600, 2_000)
    voices = listen(recording([(0, 1_000)], [(600, 2_000)], 2_100))
    found = responses(record, voices)
    assert found[0].verdict == "excluded"
    measured = audio_metrics(record, voices, found)
    assert (measured["response_rate"], measured["response_latency_ms"]) == (None, None)
    assert measured["agent_interruptions"] == 1
    assert response_counts(record, found)["response_excluded_count"] == 1


def test_an_agent_that_stops_with_the_caller_was_still_speaking() -> None:
    """CRAWL counts the end itself in: start < request end <= end."""
    found = responses(one_turn(600, 1_000), listen(recording([(0, 1_000)], [(600, 1_000)], 1_500)))
    assert found[0].verdict == "excluded"


def test_an_interruption_that_yields_is_counted_and_the_answer_is_measured() -> None:
    record = audio_record(turns=(spoken(agent=((300, 600), (1_700, 2_000))),))
    measured = numbers(record, recording([(0, 1_000)], [(300, 600), (1_700, 2_000)], 2_100))
    assert (measured["interruption_rate"], measured["response_rate"]) == (1.0, 1.0)
    assert measured["response_latency_ms"] == pytest.approx(700, abs=2)


def test_without_real_time_interruptions_are_not_measured() -> None:
    record = replace(one_turn(1_800, 3_000), real_time=False)
    measured = numbers(record, recording([(0, 1_000)], [(1_800, 3_000)], 3_100))
    assert (measured["interruption_rate"], measured["agent_interruptions"]) == (None, None)
    assert measured["response_latency_ms"] == pytest.approx(800, abs=2)


def test_every_turn_keeps_its_own_latency() -> None:
    first = spoken(agent=((1_500, 2_000),))
    second = spoken(index=1, caller=(3_000, 4_000), agent=((4_900, 5_500),))
    record = audio_record(turns=(first, second))
    audio = recording([(0, 1_000), (3_000, 4_000)], [(1_500, 2_000), (4_900, 5_500)], 5_600)
    found = responses(record, listen(audio))
    assert [response.latency_ms for response in found] == [pytest.approx(500, abs=2), pytest.approx(900, abs=2)]
    assert numbers(record, audio)["response_latency_ms"] == pytest.approx(700, abs=2)


def test_an_answer_after_the_next_question_answers_that_one() -> None:
    first = spoken(agent=(), text="")
    second = spoken(index=1, caller=(2_000, 3_000), agent=((3_400, 4_000),))
    audio = recording([(0, 1_000), (2_000, 3_000)], [(3_400, 4_000)], 4_100)
    found = responses(audio_record(turns=(first, second)), listen(audio))
    assert [response.verdict for response in found] == ["missed", "answered"]


def test_floor_hold_is_the_silence_between_a_call_and_the_end_of_the_reply() -> None:
    """Acknowledgement 1,500 to 2,000, call at 2,000, answer spoken 3,100 to 4,000, done at 4,000."""
    turn = spoken(agent=((1_500, 2_000), (3_100, 4_000)), done_ms=4_000.0)
    record = audio_record(call(called_ms=2_000.0, answered_ms=2_100.0), turns=(turn,))
    audio = recording([(0, 1_000)], [(1_500, 2_000), (3_100, 4_000)], 4_100)
    measured = numbers(record, audio)
    assert measured["floor_hold_silence_ms"] == pytest.approx(1_100, abs=2)
    assert measured["floor_hold_silence_max_ms"] == pytest.approx(1_100, abs=2)
    assert numbers(audio_record(turns=(turn,)), audio)["floor_hold_silence_ms"] == 0.0


@pytest.mark.parametrize("protocol", ["live", "realtime"])
def test_floor_hold_behind_a_voice_is_the_silence_while_a_task_is_under_way(protocol: str) -> None:
    """Handed on at 1,200, acknowledged from 1,500 to 2,000, done at 2,900, told from 3,100; another from 3,500 on."""
    turn = spoken(agent=((1_500, 2_000), (3_100, 4_000)), done_ms=4_000.0)
    first = Delegation("d1", "client", 0, created_ms=1_200.0, ended_ms=2_900.0, status="completed")
    never = Delegation("d2", "client", 0, created_ms=3_500.0)
    made = call(called_ms=1_300.0, answered_ms=1_400.0)
    audio = recording([(0, 1_000)], [(1_500, 2_000), (3_100, 4_000)], 4_250)
    both = audio_record(made, turns=(turn,), protocol=protocol, delegations=(first, never))
    measured = numbers(both, audio)
    assert measured["floor_hold_silence_ms"] == pytest.approx(300 + 900 + 250, abs=4)
    assert measured["floor_hold_silence_max_ms"] == pytest.approx(900, abs=2)
    overlapping = replace(both, delegations=(first, replace(first, id="d3", created_ms=2_100.0, ended_ms=3_050.0)))
    assert numbers(overlapping, audio)["floor_hold_silence_ms"] == pytest.approx(300 + 1_050, abs=4)


def test_a_live_agent_that_handed_nothing_on_holds_no_floor() -> None:
    turn = spoken(agent=((3_100, 4_000),), done_ms=4_000.0)
    measured = numbers(audio_record(turns=(turn,), protocol="live"), recording([(0, 1_000)], [(3_100, 4_000)], 4_100))
    assert (measured["floor_hold_silence_ms"], measured["floor_hold_silence_max_ms"]) == (0.0, 0.0)
    assert (measured["response_rate"], measured["response_latency_ms"]) == (1.0, pytest.approx(2_100, abs=2))


def test_a_live_agent_that_begins_while_the_caller_speaks_interrupts_as_any_other() -> None:
    """A murmur from 400 to 560 within the caller's first second, then the answer."""
    turn = spoken(agent=((400, 560), (1_700, 2_500)), done_ms=2_500.0)
    audio = recording([(0, 1_000)], [(400, 560), (1_700, 2_500)], 2_600)
    measured = numbers(audio_record(turns=(turn,), protocol="live"), audio)
    assert (measured["interruption_rate"], measured["agent_interruptions"]) == (1.0, 1)
    assert (measured["response_rate"], measured["response_latency_ms"]) == (1.0, pytest.approx(700, abs=2))
    assert measured["speaking_duration_ms"] == pytest.approx(960, abs=4)


def test_speaking_duration_is_a_union_and_its_maximum_is_of_one_turn() -> None:
    first = spoken(agent=((1_500, 2_000),))
    second = spoken(index=1, caller=(3_000, 4_000), agent=((4_500, 6_000),))
    audio = recording([(0, 1_000), (3_000, 4_000)], [(1_500, 2_000), (4_500, 5_000), (5_200, 6_000)], 6_100)
    measured = numbers(audio_record(turns=(first, second)), audio)
    assert measured["speaking_duration_ms"] == pytest.approx(1_800, abs=4)
    assert measured["speaking_duration_max_ms"] == pytest.approx(1_300, abs=4)
    assert measured["user_speech_ms"] == 2_000.0


def test_a_silent_recording_measures_nothing_and_fails_nothing() -> None:
    record = audio_record(turns=(spoken(agent=(), text=""),))
    measured = numbers(record, np.zeros((RATE_HZ, 2), dtype=np.int16))
    assert (measured["response_rate"], measured["interruption_rate"]) == (None, None)
    assert measured["speaking_duration_ms"] == 0.0


def test_a_mono_recording_is_refused() -> None:
    with pytest.raises(ValueError, match="stereo"):
        listen(np.zeros(100, dtype=np.int16))


def test_intervals_are_united_subtracted_and_clipped() -> None:
    assert intervals.union([Span(5, 9), Span(0, 3), Span(3, 4), Span(7, 7)]) == (Span(0, 4), Span(5, 9))
    assert intervals.subtract([Span(0, 10)], [Span(2, 4), Span(3, 6), Span(9, 12)]) == (Span(0, 2), Span(6, 9))
    assert intervals.clip([Span(0, 10), Span(20, 30)], Span(5, 25)) == (Span(5, 10), Span(20, 25))
    assert span(0, 1) == Span(0, 24)
