"""Many configurations are held against the baseline alone."""

from __future__ import annotations

from runs_app.stats.comparison import compare
from runs_app.stats.rows import TrialRow


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


def test_every_two_configurations_are_paired_unless_the_baseline_alone_is_asked_for() -> None:
    every = compare(ROWS, configurations=["a", "b", "c"])
    first = compare(ROWS, configurations=["a", "b", "c"], against_first=True)
    assert [(pair.a, pair.b) for pair in every.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(pair.a, pair.b) for pair in first.pairs] == [("a", "b"), ("a", "c")]


def test_a_pair_is_the_same_whichever_others_are_compared() -> None:
    every = compare(ROWS, configurations=["a", "b", "c"])
    first = compare(ROWS, configurations=["a", "b", "c"], against_first=True)
    assert first.pair("a", "c") == every.pair("a", "c")
    assert first.scenarios == every.scenarios
