"""What a design can see before it is run, worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from scipy.stats import t

from runs_app.stats.design import Design, Foreseen, Variances, foresee, variances
from runs_app.stats.moments import Moments, moments
from runs_app.stats.rows import MetricRule, TrialRow
from runs_app.stats.trials import trials_of

Values = Mapping[tuple[str, str], Sequence[float]]
QUALITY = MetricRule("semantic_quality", "higher")
LATENCY = MetricRule("response_latency_ms", "lower", "log")


def measured(values: Values, rule: MetricRule = QUALITY) -> Moments:
    """By (configuration, scenario): the values of its repeats."""
    rows = [
        TrialRow(scenario, "h", configuration, repeat, "passed", metrics={rule.name: value})
        for (configuration, scenario), own in values.items()
        for repeat, value in enumerate(own, start=1)
    ]
    trials = trials_of(rows, configurations=list(dict.fromkeys(configuration for configuration, _ in values)))
    return moments(trials, trials.tested(rule))


# Squares 2, 0, 2, 2 over 4 degrees of freedom: 1.5 inside. Differences 3 and 1: variance 2, of which luck makes
# 1.5 (1/2 + 1/2) = 1.5, so 0.5 between.
REPEATED: Values = {("A", "1"): [0, 2], ("A", "2"): [1, 1], ("B", "1"): [3, 5], ("B", "2"): [1, 3]}


def test_variance_is_parted_into_luck_inside_a_scenario_and_true_differences_between_them() -> None:
    assert variances(measured(REPEATED)) == Variances(pytest.approx(1.5), pytest.approx(0.5))  # type: ignore[arg-type]


def test_the_smallest_difference_is_what_a_paired_t_test_finds_4_times_in_5() -> None:
    found = foresee(QUALITY, measured(REPEATED), Design(scenarios=10, repeats=3))
    # sd of a difference: sqrt(0.5 + 2 x 1.5 / 3) = sqrt(1.5); (2.262 + 0.883) x 1.2247 / sqrt(10) = 1.218
    assert found == Foreseen("semantic_quality", pytest.approx(1.218, abs=0.001))  # type: ignore[arg-type]


def test_tests_that_share_the_level_see_less_and_repeats_and_scenarios_more() -> None:
    def smallest(design: Design) -> float:
        found = foresee(QUALITY, measured(REPEATED), design).smallest
        assert found is not None
        return found

    base = smallest(Design(10, 3))
    shared = (t.ppf(1 - 0.05 / 8, 9) + t.ppf(0.8, 9)) * math.sqrt(1.5 / 10)
    assert smallest(Design(10, 3, tests=4)) == pytest.approx(shared)
    assert smallest(Design(10, 6)) < base < shared
    assert smallest(Design(40, 3)) < base / 2


def test_a_variance_that_nobody_knows_leaves_a_bound() -> None:
    once = measured({("A", "1"): [0], ("A", "2"): [1], ("B", "1"): [3], ("B", "2"): [2]})
    assert variances(once) == Variances(None, pytest.approx(2.0))  # type: ignore[arg-type]
    assert foresee(QUALITY, once, Design(10, 3)).bound == "at most"
    alone = measured({("A", "1"): [0, 2], ("A", "2"): [1, 1]})
    assert variances(alone) == Variances(pytest.approx(1.0), None)  # type: ignore[arg-type]
    assert foresee(QUALITY, alone, Design(10, 3)).bound == "at least"


@pytest.mark.parametrize(
    ("values", "scenarios", "why"),
    [
        ({}, 10, "no earlier trial has a value"),
        ({("A", "1"): [0.5], ("A", "2"): [1.0]}, 10, "nothing was run twice so far"),
        ({("A", "1"): [1, 1], ("B", "1"): [1, 1]}, 10, "earlier trials did not differ"),
        (REPEATED, 1, "one scenario alone cannot tell"),
    ],
)
def test_what_is_not_known_is_said_and_not_guessed(values: Values, scenarios: int, why: str) -> None:
    found = foresee(QUALITY, measured(values), Design(scenarios, 3))
    assert found.smallest is None
    assert why in found.why


def test_a_margin_that_cannot_be_seen_asks_for_so_many_scenarios() -> None:
    rule = MetricRule("semantic_quality", "higher", margin=0.5)
    few = foresee(rule, measured(REPEATED), Design(10, 3))
    assert few.sees_margin is False
    assert few.needed is not None
    assert foresee(rule, measured(REPEATED), Design(few.needed, 3)).sees_margin is True
    assert foresee(rule, measured(REPEATED), Design(few.needed - 1, 3)).sees_margin is False
    assert foresee(QUALITY, measured(REPEATED), Design(10, 3)).sees_margin is None


def test_a_latency_is_seen_as_a_share_and_its_margin_held_against_the_typical_one() -> None:
    # ln 2 apart in every repeat: inside (ln 2)^2 / 2 with 1 degree of freedom, twice; the two sides are alike
    values = {(side, scenario): [500.0, 1000.0] for side in "AB" for scenario in "12"}
    inside = math.log(2) ** 2 / 2
    found = foresee(LATENCY, measured(values, LATENCY), Design(10, 2))
    reach = t.ppf(0.975, 9) + t.ppf(0.8, 9)
    assert found.smallest is not None
    assert found.smallest == pytest.approx(math.exp(reach * math.sqrt(inside / 10)) - 1)
    typical = math.sqrt(500 * 1000)
    for factor, seen in ((0.99, False), (1.01, True)):
        rule = MetricRule("response_latency_ms", "lower", "log", margin=factor * found.smallest * typical)
        assert foresee(rule, measured(values, LATENCY), Design(10, 2)).sees_margin is seen
