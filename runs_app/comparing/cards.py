"""The four cards: value per configuration, difference from the baseline, and one word of verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.comparing.choice import METRICS
from runs_app.comparing.loading import Column, Fact, Loaded
from runs_app.comparing.words import LATENCY, interval_text, plural, ratio_text, signed_text, value_text
from runs_app.grading.metrics import METRICS as CATALOGUE
from runs_app.stats.change import describe_change
from runs_app.stats.comparison import Comparison
from runs_app.stats.configuration import ConfigurationSummary, PassRate, rate_in_words
from runs_app.stats.pair import MetricComparison, PairComparison
from runs_app.stats.rows import PASS_RATE, PRIMARY, MetricRule
from runs_app.stats.summary import Summary
from runs_app.templatetags.figures import MISSING, ms, percent

RULES: Final = {rule.name: rule for rule in PRIMARY}
NAMES: Final = {PASS_RATE: "pass rate"}
PASS_RATE_MEANS: Final = "Passed trials divided by graded ones (passed or failed). The others are counted beside it."
# of the drawing: 300 wide, no difference in the middle, ends kept free for the dot
MIDDLE: Final = 150.0
REACH: Final = 138.0
NARROWEST: Final = 0.05  # smaller differences are not blown up to fill the axis
CLASSES: Final = {"Better": "better", "Worse": "worse", "Can't tell": "cant", "Not comparable": "cant"}


@dataclass(frozen=True)
class Value:
    """What one configuration came to. `count` is the denominator in words, `more` what a hover adds."""

    column: Column
    text: str
    count: str
    more: str
    percentiles: tuple[tuple[str, str, bool], ...] = ()  # name, text, whether it is thin


@dataclass(frozen=True)
class Drawing:
    """Positions of dot and interval on the card's axis; the interval is None where there is none."""

    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Difference:
    column: Column
    text: str
    interval: str
    level: str
    n: int
    word: str
    css: str
    reason: str
    note: str
    change: str
    drawing: Drawing | None
    better: int
    worse: int
    same: int


@dataclass(frozen=True)
class Card:
    metric: str
    name: str
    definition: str
    values: tuple[Value, ...]
    differences: tuple[Difference, ...]
    empty: str  # why nothing has a value; empty when something has


def cards(comparison: Comparison, loaded: Loaded) -> list[Card]:
    return [_card(metric, comparison, loaded) for metric in METRICS]


def _card(metric: str, comparison: Comparison, loaded: Loaded) -> Card:
    summaries = dict(zip(loaded.columns, comparison.configurations, strict=True))
    of_key = {column.key: column for column in loaded.columns}
    values = tuple(_value(metric, column, summary) for column, summary in summaries.items())
    return Card(
        metric=metric,
        name=NAMES.get(metric, metric),
        definition=PASS_RATE_MEANS if metric == PASS_RATE else CATALOGUE[metric].definition,
        values=values,
        differences=tuple(_difference(metric, pair, of_key[pair.b], loaded.facts) for pair in comparison.pairs),
        empty="" if any(_measured(metric, summary) for summary in summaries.values()) else why_empty(metric, loaded),
    )


def _measured(metric: str, summary: ConfigurationSummary) -> int:
    return summary.pass_rate.n if metric == PASS_RATE else summary.metrics[metric].n


def _value(metric: str, column: Column, summary: ConfigurationSummary) -> Value:
    if metric == PASS_RATE:
        return _rate(column, summary.pass_rate)
    numbers = summary.metrics[metric]
    return Value(
        column=column,
        text=value_text(metric, numbers.mean),
        count=f"n {numbers.n} of {plural(numbers.of, 'trial')}",
        more=f"mean over {plural(numbers.n, 'trial')} with a value, of {numbers.of}; {summary.scenarios} scenarios",
        percentiles=_percentiles(numbers) if metric == LATENCY and numbers.n else (),
    )


def _percentiles(numbers: Summary) -> tuple[tuple[str, str, bool], ...]:
    return (("p50", ms(numbers.p50), False), ("p95", ms(numbers.p95), numbers.p95_is_thin))


def _rate(column: Column, rate: PassRate) -> Value:
    value, rest = rate_in_words(rate).split(" (", 1)
    more = f"95 % interval {percent(rate.low)} to {percent(rate.high)}" if rate.low is not None else "no interval"
    if rate.best != rate.worst:
        more += f"; if all without a verdict had failed {percent(rate.worst)}, had passed {percent(rate.best)}"
    stages = ", ".join(f"{count} {stage}" for stage, count in rate.invalid_stages.items())
    return Value(column, value, f"({rest}", f"{more}; invalid: {stages}" if stages else more)


def _difference(metric: str, pair: PairComparison, column: Column, facts: Sequence[Fact]) -> Difference:
    compared = pair.metrics[metric]
    paired, better, worse, same = compared.paired, *_counts(RULES[metric], pair)
    return Difference(
        column=column,
        text=_difference_text(metric, compared),
        interval=_interval(metric, compared),
        level=f"{100 * paired.level:.3g} % interval of the paired difference (t)",
        n=paired.n,
        word=compared.verdict.word,
        css=CLASSES[compared.verdict.word],
        reason=compared.verdict.reason,
        note=_timeouts(pair, facts) if compared.ratio else "",
        change=describe_change(paired.mean_a, paired.mean_b),
        drawing=_drawing(compared),
        better=better,
        worse=worse,
        same=same,
    )


def _difference_text(metric: str, compared: MetricComparison) -> str:
    text = signed_text(metric, compared.paired.difference)
    # the verdict on time rests on the ratio: it comes first, with its own interval
    return f"{ratio_text(compared.ratio.value)} ({text})" if compared.ratio else text


def _timeouts(pair: PairComparison, facts: Sequence[Fact]) -> str:
    """The ratio counts a time-out at its limit and the milliseconds cannot, so that the two may even disagree."""
    sides = (pair.a, pair.b)
    late = [f for f in facts if f.row.timed_out and f.row.configuration_key in sides and f.row.timeout_ms is not None]
    counted = sum(fact.row.scenario_id in pair.paired for fact in late)
    return (
        f"The percentage counts {plural(counted, 'time-out')} at the limit; the ms leave them out." if counted else ""
    )


def _interval(metric: str, compared: MetricComparison) -> str:
    ratio = compared.ratio
    if ratio is None:
        return interval_text(metric, compared.paired.low, compared.paired.high)
    if ratio.low is None or ratio.high is None:
        return ""
    return f"[{ratio_text(ratio.low)}, {ratio_text(ratio.high)}]"


def _drawing(compared: MetricComparison) -> Drawing | None:
    ratio, paired = compared.ratio, compared.paired
    at, low, high = paired.difference, paired.low, paired.high
    if ratio is not None:
        at, low, high = ratio.value - 1, _change(ratio.low), _change(ratio.high)
    if at is None:
        return None
    scale = REACH / (1.1 * max(NARROWEST, *(abs(number) for number in (at, low, high) if number is not None)))

    def place(number: float) -> float:
        return round(MIDDLE + scale * number, 1)

    if low is None or high is None:
        return Drawing(place(at), None, None)
    return Drawing(place(at), place(low), place(high))


def _change(ratio: float | None) -> float | None:
    return None if ratio is None else ratio - 1


def _counts(rule: MetricRule, pair: PairComparison) -> tuple[int, int, int]:
    """Paired scenarios that are better, worse and the same by this metric."""
    words = [direction(rule, own[rule.name]) for own in pair.differences.values()]
    return words.count("better"), words.count("worse"), words.count("same")


def direction(rule: MetricRule, difference: float | None) -> str:
    """better, worse or same; empty where one side has no value."""
    if difference is None:
        return ""
    if abs(difference) < 1e-9:
        return "same"
    return "better" if (difference > 0) == (rule.better == "higher") else "worse"


def why_empty(metric: str, loaded: Loaded) -> str:
    """Why no configuration has a value of this metric."""
    facts = loaded.facts
    if not facts:
        return "No trial yet."
    if not any(fact.row.graded for fact in facts):
        return f"No trial was graded: {_outcomes(facts)}."
    if metric == LATENCY and all(fact.mode == "text" for fact in facts):
        return "Text mode: nothing was spoken, so there is no latency to measure."
    return {
        LATENCY: "No reply was heard in any graded trial.",
        "semantic_quality": "No judge scored these trials.",
        "tool_accuracy": "These scenarios say nothing about tools.",
    }.get(metric, MISSING)


def _outcomes(facts: Sequence[Fact]) -> str:
    outcomes = [fact.row.outcome or fact.status for fact in facts]
    return ", ".join(f"{outcomes.count(word)} {word}" for word in dict.fromkeys(outcomes))
