from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.record import Span
from runs_app.realtime.timeline import Timeline, merged
from tests.realtime.support import ramp

S = 24  # samples of a millisecond


def begun(real_time: bool, now_s: float = 100.0) -> Timeline:
    timeline = Timeline(real_time=real_time)
    timeline.start_turn(now_s)
    return timeline


def test_before_zero_there_are_no_times() -> None:
    with pytest.raises(ValueError, match="not begun"):
        Timeline(real_time=True).t_ms(1.0)


@pytest.mark.parametrize("real_time", [True, False])
def test_zero_is_the_first_caller_sample_and_earlier_is_negative(real_time: bool) -> None:
    timeline = begun(real_time)
    assert timeline.t_ms(100.0) == 0
    assert timeline.t_ms(99.75) == -250


def test_in_real_time_a_moment_is_its_distance_from_zero() -> None:
    timeline = begun(real_time=True)
    timeline.place_caller(0, ramp(100 * S))
    timeline.end_turn_of_caller(100.1)
    assert timeline.t_ms(100.35) == 350


def test_in_real_time_agent_audio_lies_at_its_arrival_or_behind_its_predecessor() -> None:
    timeline = begun(real_time=True)
    assert timeline.place_agent(100.5, ramp(200 * S)) == Span(500 * S, 700 * S)
    assert timeline.place_agent(100.51, ramp(100 * S)) == Span(700 * S, 800 * S)
    assert timeline.place_agent(101.0, ramp(100 * S)) == Span(1000 * S, 1100 * S)


def test_a_seam_of_jitter_is_closed_and_a_pause_is_not() -> None:
    timeline = begun(real_time=True)
    timeline.place_agent(100.5, ramp(100 * S))
    assert timeline.place_agent(100.605, ramp(100 * S)).start == 600 * S
    assert timeline.place_agent(100.706, ramp(100 * S)).start == 706 * S


def test_not_in_real_time_the_caller_takes_as_long_as_his_samples() -> None:
    timeline = begun(real_time=False)
    timeline.place_caller(0, ramp(100 * S))
    assert timeline.t_ms(100.001) == 100
    timeline.place_caller(100 * S, ramp(100 * S))
    assert timeline.t_ms(100.002) == 200


def test_not_in_real_time_latency_runs_from_the_commit() -> None:
    timeline = begun(real_time=False)
    timeline.place_caller(0, ramp(4000 * S))
    timeline.end_turn_of_caller(100.02)
    assert timeline.t_ms(100.02) == 4000
    assert timeline.place_agent(100.32, ramp(100 * S)) == Span(4300 * S, 4400 * S)


def test_the_next_turn_starts_after_everything_that_lies_there() -> None:
    timeline = begun(real_time=False)
    timeline.place_caller(0, ramp(100 * S))
    timeline.end_turn_of_caller(100.0)
    timeline.place_agent(100.2, ramp(900 * S))
    assert timeline.start_turn(100.3) == 1200 * S
    assert timeline.t_ms(100.3) == 1200
    timeline.place_caller(1200 * S, ramp(50 * S))
    timeline.end_turn_of_caller(100.31)
    assert timeline.t_ms(100.41) == 1350


def test_the_next_turn_starts_no_earlier_than_now_when_nothing_was_said() -> None:
    timeline = begun(real_time=False)
    timeline.place_caller(0, ramp(100 * S))
    timeline.end_turn_of_caller(100.0)
    assert timeline.start_turn(100.7) == 800 * S


def test_in_real_time_the_caller_waits_for_what_is_still_playing() -> None:
    timeline = begun(real_time=True)
    timeline.place_agent(100.5, ramp(2000 * S))
    assert timeline.played_out_s(100.6) == pytest.approx(102.5)
    assert timeline.played_out_s(103.0) == 103.0
    burst = begun(real_time=False)
    burst.place_agent(100.5, ramp(2000 * S))
    assert burst.played_out_s(100.6) == 100.6


def test_the_stereo_samples_are_the_two_tracks() -> None:
    timeline = begun(real_time=True)
    timeline.place_caller(0, ramp(10, start=1))
    timeline.place_caller(20, ramp(5, start=100))
    timeline.place_agent(100.001, ramp(4, start=7))
    stereo = timeline.stereo()
    assert stereo.shape == (28, 2)
    assert stereo[:, 0].tolist() == [*range(1, 11), *[0] * 10, *range(100, 105), *[0] * 3]
    assert stereo[:, 1].tolist() == [*[0] * 24, 7, 8, 9, 10]


def test_spans_that_touch_are_one_and_empty_ones_none() -> None:
    assert merged([Span(5, 5), Span(5, 9), Span(9, 12), Span(20, 21)]) == (Span(5, 12), Span(20, 21))
    assert merged([]) == ()


@given(
    real_time=st.booleans(),
    steps=st.lists(st.tuples(st.sampled_from(["caller", "agent", "commit", "turn"]), st.integers(0, 800)), max_size=30),
)
def test_whatever_happens_time_never_runs_back_and_no_sample_is_lost(
    real_time: bool, steps: list[tuple[str, int]]
) -> None:
    now_s, timeline = 100.0, Timeline(real_time=real_time)
    start, sent, heard, before_ms = timeline.start_turn(now_s), 0, 0, 0.0
    for what, ms in steps:
        now_s += ms / 4000
        samples = np.ones(ms * S // 8, dtype=np.int16)
        if what == "caller" and timeline.anchor_s is None:
            timeline.place_caller(start, samples)
            sent += samples.size
        elif what == "agent":
            timeline.place_agent(now_s, samples)
            heard += samples.size
        elif what == "commit" and timeline.anchor_s is None:
            timeline.end_turn_of_caller(now_s)
        elif what == "turn":
            now_s = timeline.played_out_s(now_s)
            start = timeline.start_turn(now_s)
        assert timeline.t_ms(now_s) >= before_ms
        before_ms = timeline.t_ms(now_s)
    assert timeline.stereo().sum(axis=0).tolist() == [sent, heard]
