"""A stretch of the timeline is the same as that stretch of the whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.timeline import Timeline

pieces = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60)), max_size=12)


def laid(caller: list[tuple[int, int]], agent: list[tuple[int, int]]) -> Timeline:
    timeline = Timeline(real_time=True)
    for track, some in ((timeline.caller, caller), (timeline.agent, agent)):
        for number, (start, size) in enumerate(sorted(some)):
            track.put(start, np.full(size, number + 1, dtype=np.int16))
    return timeline


@given(caller=pieces, agent=pieces, start=st.integers(0, 700), length=st.integers(0, 300))
def test_between_is_a_stretch_of_the_whole_with_silence_behind_it(caller, agent, start, length) -> None:
    timeline = laid(caller, agent)
    whole = np.vstack([timeline.stereo(), np.zeros((1_500, 2), dtype=np.int16)])
    assert (timeline.between(start, start + length) == whole[start : start + length]).all()


@given(caller=pieces, agent=pieces)
def test_stretches_put_together_are_the_whole(caller, agent) -> None:
    timeline = laid(caller, agent)
    whole = timeline.stereo()
    parts = [timeline.between(at, min(at + 70, len(whole))) for at in range(0, len(whole), 70)]
    assert (np.vstack([np.zeros((0, 2), dtype=np.int16), *parts]) == whole).all()
