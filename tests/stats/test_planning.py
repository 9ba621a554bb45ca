"""The cheapest extra repeats: no scenario is asked for more than a person would run."""

from __future__ import annotations

import numpy as np

from runs_app.stats.planning import MOST_REPEATS, Spread, _cheapest


def alike(count: int) -> Spread:
    """So many scenarios with one trial on each side, a variance of 1 inside each and none between them."""
    names = tuple(f"case_{n}" for n in range(count))
    return Spread(names, np.ones(count), np.ones(count), np.ones(count), 0.0, known=True)


def variance_after(count: int, extra: int) -> float:
    """Of the mean difference of `count` such scenarios with `extra` more trials each."""
    return 2 / (1 + extra) / count


def test_the_repeats_reach_the_variance_that_is_allowed_and_no_more() -> None:
    chosen = _cheapest(alike(4), variance_after(4, 3) * (1 + 1e-9), {})
    assert chosen is not None
    assert [one.repeats for one in chosen] == [3, 3, 3, 3]


def test_a_plan_asks_one_scenario_for_no_more_than_a_hundred_repeats() -> None:
    most = _cheapest(alike(2), variance_after(2, MOST_REPEATS) * (1 + 1e-9), {})
    assert most is not None
    assert [one.repeats for one in most] == [MOST_REPEATS, MOST_REPEATS]
    assert _cheapest(alike(2), variance_after(2, MOST_REPEATS + 1), {}) is None
