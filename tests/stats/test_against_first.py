"""Which pairs are compared, and how many tests share the chance of a false alarm."""

from __future__ import annotations

import pytest

from runs_app.stats.comparison import compare
from runs_app.stats.rows import PASS_RATE, PRIMARY, TrialRow
from runs_app.stats.trials import trials_of


def row(configuration: str, scenario: str, outcome: str) -> TrialRow:
    return TrialRow(scenario, "h", configuration, 1, outcome)


ROWS = [
    row("a", "one", "passed"),
    row("a", "two", "failed"),
    row("b", "one", "failed"),
    row("b", "two", "failed"),
    row("c", "one", "passed"),
    row("c", "two", "passed"),
]
TRIALS = trials_of(ROWS, configurations=["a", "b", "c"])


def test_every_two_configurations_are_paired_unless_the_baseline_alone_is_asked_for() -> None:
    every = compare(TRIALS)
    first = compare(TRIALS, against_first=True)
    assert [(pair.a, pair.b) for pair in every.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(pair.a, pair.b) for pair in first.pairs] == [("a", "b"), ("a", "c")]
    assert first.scenarios == every.scenarios


def test_the_more_candidates_and_primary_metrics_the_smaller_the_level_of_each() -> None:
    """Holm over primary metrics x candidates: one that is not measured has no p and shares nothing."""
    assert (compare(TRIALS).family, compare(TRIALS, against_first=True).family) == (3, 2)
    alone = compare(trials_of(ROWS, configurations=["a", "b"]), rules=PRIMARY[:1])
    among = compare(TRIALS, rules=PRIMARY[:1], against_first=True)
    assert alone.pair("a", "b").metrics[PASS_RATE].alpha == 0.05
    assert among.pair("a", "b").metrics[PASS_RATE].alpha == 0.025


def test_a_metric_that_does_not_decide_takes_no_share_and_gets_no_word() -> None:
    found = compare(TRIALS, primaries=["semantic_quality"], against_first=True)
    metric = found.pair("a", "b").metrics[PASS_RATE]
    assert found.family == 0
    assert (metric.primary, metric.p_adjusted, metric.alpha) == (False, None, 0.05)
    assert (metric.verdict.word, metric.verdict.code) == ("Can't tell", "exploratory")
    assert "is not among the primary metrics" in metric.verdict.reason


def test_a_primary_or_a_margin_of_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="no rule for the metric beauty"):
        compare(TRIALS, primaries=["beauty"])
    with pytest.raises(ValueError, match="no rule for the metric beauty"):
        compare(TRIALS, margins={"beauty": 1})
    with pytest.raises(ValueError, match="metric given twice: pass_rate"):
        compare(TRIALS, rules=[*PRIMARY, PRIMARY[0]])
