"""The four cards: value per configuration, difference from the baseline, and one word of verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.comparing.choice import METRICS
from runs_app.comparing.differences import Difference, difference_of
from runs_app.comparing.loading import Column
from runs_app.comparing.tail_words import (
    Tail,
    common_k,
    percentile_changes,
    percentile_tails,
    repeat_changes,
    repeat_tails,
)
from runs_app.comparing.words import metric_name, plural, value_text
from runs_app.grading.metrics import METRICS as CATALOGUE
from runs_app.stats.comparison import Comparison
from runs_app.stats.configuration import ConfigurationSummary, PassRate, rate_in_words
from runs_app.stats.pair import PairComparison
from runs_app.stats.rows import LATENCY, PASS_RATE
from runs_app.templatetags.figures import MISSING, percent

PASS_RATE_MEANS: Final = "Passed trials divided by graded ones (passed or failed). The others are counted beside it."


@dataclass(frozen=True)
class Value:
    """What one configuration came to. `count` is the denominator in words, `more` what a hover adds."""

    column: Column
    text: str
    count: str
    more: str
    tails: tuple[Tail, ...] = ()


@dataclass(frozen=True)
class Card:
    metric: str
    name: str
    definition: str
    values: tuple[Value, ...]
    differences: tuple[Difference, ...]
    empty: str  # why nothing has a value; empty when something has


def cards(comparison: Comparison, columns: Sequence[Column], *, text_only: bool) -> list[Card]:
    """`text_only`: nothing was spoken in any trial."""
    return [_card(metric, comparison, columns, text_only) for metric in METRICS]


def _card(metric: str, comparison: Comparison, columns: Sequence[Column], text_only: bool) -> Card:
    summaries = dict(zip(columns, comparison.configurations, strict=True))
    of_key = {column.key: column for column in columns}
    against = [pair for pair in comparison.pairs if columns and pair.a == columns[0].key]
    k = common_k(summary.tails for summary in comparison.configurations)
    measured = any(_measured(metric, summary) for summary in summaries.values())
    return Card(
        metric=metric,
        name=metric_name(metric),
        definition=PASS_RATE_MEANS if metric == PASS_RATE else CATALOGUE[metric].definition,
        values=tuple(_value(metric, column, summary, k) for column, summary in summaries.items()),
        differences=tuple(_difference(metric, pair, of_key[pair.b], summaries, k) for pair in against),
        empty="" if measured else why_empty(metric, comparison, text_only=text_only),
    )


def _difference(
    metric: str, pair: PairComparison, column: Column, summaries: dict[Column, ConfigurationSummary], k: int
) -> Difference:
    both = [one for one in summaries.values() if one.key in (pair.a, pair.b)]
    timeouts = sum(one.pass_rate.timeouts for one in both)
    return difference_of(metric, pair, column, timeouts=timeouts, tails=_changes(metric, pair, both, k))


def _changes(metric: str, pair: PairComparison, both: Sequence[ConfigurationSummary], k: int) -> tuple[Tail, ...]:
    if metric == PASS_RATE:
        return repeat_changes(pair.tails, k)
    if metric == LATENCY:
        return percentile_changes(pair.tails, is_thin=any(one.metrics[LATENCY].p95_is_thin for one in both))
    return ()


def _measured(metric: str, summary: ConfigurationSummary) -> int:
    return summary.pass_rate.n if metric == PASS_RATE else summary.metrics[metric].n


def _value(metric: str, column: Column, summary: ConfigurationSummary, k: int) -> Value:
    if metric == PASS_RATE:
        return _rate(column, summary, k)
    numbers = summary.metrics[metric]
    return Value(
        column=column,
        text=value_text(metric, numbers.mean),
        count=f"n {numbers.n} of {plural(numbers.of, 'trial')}",
        more=f"mean over {plural(numbers.n, 'trial')} with a value, of {numbers.of}; {summary.scenarios} scenarios",
        tails=percentile_tails(numbers, summary.tails) if metric == LATENCY and numbers.n else (),
    )


def _rate(column: Column, summary: ConfigurationSummary, k: int) -> Value:
    rate = summary.pass_rate
    value, rest = rate_in_words(rate).split(" (", 1)
    stages = ", ".join(f"{count} {stage}" for stage, count in rate.invalid_stages.items())
    more = f"{_rate_hover(rate)}; invalid: {stages}" if stages else _rate_hover(rate)
    return Value(column, value, f"({rest}", more, repeat_tails(summary.tails, k))


def _rate_hover(rate: PassRate) -> str:
    none = "no interval of so few scenarios" if rate.n else "no interval"
    more = f"95 % interval {percent(rate.low)} to {percent(rate.high)}" if rate.low is not None else none
    if rate.best != rate.worst:
        more += f"; if all without a verdict had failed {percent(rate.worst)}, had passed {percent(rate.best)}"
    return more


def why_empty(metric: str, comparison: Comparison, *, text_only: bool) -> str:
    """Why no configuration has a value of this metric."""
    outcomes: dict[str, int] = {}
    for summary in comparison.configurations:
        for word, count in summary.outcomes.items():
            outcomes[word] = outcomes.get(word, 0) + count
    if not any(summary.trials for summary in comparison.configurations):
        return "No trial yet."
    if not any(summary.pass_rate.n for summary in comparison.configurations):
        return f"No trial was graded: {', '.join(f'{count} {word}' for word, count in outcomes.items())}."
    if metric == LATENCY and text_only:
        return "Text mode: nothing was spoken, so there is no latency to measure."
    return {
        LATENCY: "No reply was heard in any graded trial.",
        "semantic_quality": "No judge scored these trials.",
        "tool_accuracy": "These scenarios say nothing about tools.",
    }.get(metric, MISSING)
