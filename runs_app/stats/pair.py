"""One configuration against another: which scenarios pair up, the difference of each metric, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from runs_app.stats.estimate import Tails
from runs_app.stats.multiple import HolmStep, holm
from runs_app.stats.paired import PairedDifference, deciding_p, paired_difference, scenario_means, t_interval
from runs_app.stats.rows import (
    PASS_RATE,
    WITHOUT_VERDICT,
    Grouped,
    MetricRule,
    TrialRow,
    by_scenario,
    value_of,
    with_timeout,
)
from runs_app.stats.verdict import Verdict, comparability, decide

Value = Callable[[TrialRow], float | None]
Method = Literal["paired t", "exact McNemar", "sign flips"]


@dataclass(frozen=True)
class Ratio:
    """B over A, from the mean difference of logarithms; the interval is null where t has none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests: `low` to `high` is the 90 % interval of the difference (of a log metric: of the ratio),
    `margin` the metric's, and it `holds` when all of the interval lies inside."""

    margin: float
    low: float
    high: float
    p_value: float
    holds: bool


@dataclass(frozen=True)
class Bounds:
    """The difference if every trial without a verdict had gone against B (`worst`) and for it (`best`)."""

    worst: float
    best: float


@dataclass(frozen=True)
class Noise:
    """Within `low` to `high` (of a log metric: of the ratio) lie 19 of 20 differences of the baseline from itself,
    told from how much its own repeats differ. A difference inside is no more than luck would make."""

    low: float
    high: float


@dataclass(frozen=True)
class RowFlag:
    """One scenario's pass counts on both sides. `posterior`: how likely B truly passes less often than A (Jeffreys);
    `suspected` from .95 on, in either direction. `q` is Fisher's p after Benjamini and Hochberg over all rows."""

    posterior: float
    q: float
    suspected: bool


@dataclass(frozen=True)
class MetricComparison:
    """`paired` is B minus A in the metric's own unit, its interval at Holm's level for this metric.

    For a metric on the log scale `ratio` is what the verdict rests on. `p_value` is the deciding one, by `method`, and
    `p_adjusted` Holm's over the primary metrics of all candidates (null for others). `better`, `worse` and `same`
    count scenarios. `equivalence` is null without a margin, `bounds` without trials that lack a verdict, `noise`
    without repeats. `mde`: the smallest true difference that this design finds 4 times in 5 at its level; for a log
    metric as a share (0.1 is 10 %), else in the metric's unit.
    """

    metric: str
    paired: PairedDifference
    ratio: Ratio | None
    p_adjusted: float | None
    verdict: Verdict
    primary: bool = True
    method: Method = "paired t"
    alpha: float = 0.05
    p_value: float | None = None
    equivalence: Equivalence | None = None
    bounds: Bounds | None = None
    noise: Noise | None = None
    mde: float | None = None
    better: int = 0
    worse: int = 0
    same: int = 0


@dataclass(frozen=True)
class PairComparison:
    """`paired` scenarios count; `changed` ran with different content on the two sides; the others only on one."""

    a: str
    b: str
    paired: tuple[str, ...]
    changed: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    metrics: dict[str, MetricComparison]
    differences: dict[str, dict[str, float | None]]  # scenario id -> metric -> B minus A
    tails: Tails | None = None  # null while it is being computed
    critical: tuple[str, ...] = ()  # marked critical, passed at least once by A and never by B: overrides any average
    flags: dict[str, RowFlag] = field(default_factory=dict)  # by paired scenario with a verdict on both sides


def compare_pair(
    a: str, rows_a: Sequence[TrialRow], b: str, rows_b: Sequence[TrialRow], rules: Sequence[MetricRule]
) -> PairComparison:
    of_a, of_b = by_scenario(rows_a), by_scenario(rows_b)
    shared = sorted(of_a.keys() & of_b.keys())
    changed = tuple(scenario for scenario in shared if not _same_content(of_a[scenario], of_b[scenario]))
    paired = tuple(scenario for scenario in shared if scenario not in changed)
    kept_a = [row for row in rows_a if row.scenario_id in paired]
    kept_b = [row for row in rows_b if row.scenario_id in paired]
    return PairComparison(
        a=a,
        b=b,
        paired=paired,
        changed=changed,
        only_a=tuple(sorted(of_a.keys() - of_b.keys())),
        only_b=tuple(sorted(of_b.keys() - of_a.keys())),
        metrics=_metrics(kept_a, kept_b, rules, comparability(len(shared), len(changed))),
        differences={scenario: _differences(of_a[scenario], of_b[scenario], rules) for scenario in paired},
    )


def _same_content(one: Sequence[TrialRow], other: Sequence[TrialRow]) -> bool:
    return len({row.run_hash for row in (*one, *other)}) == 1


def _differences(
    rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rules: Sequence[MetricRule]
) -> dict[str, float | None]:
    return {rule.name: _plain(rows_a, rows_b, rule).difference for rule in rules}


def _means(rows: Sequence[TrialRow], value: Value) -> dict[str, float]:
    grouped: Grouped = {scenario: [value(row) for row in own] for scenario, own in by_scenario(rows).items()}
    return scenario_means(grouped)


def _metrics(
    rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rules: Sequence[MetricRule], not_comparable: str
) -> dict[str, MetricComparison]:
    tested = {rule.name: _tested(rows_a, rows_b, rule) for rule in rules}
    steps = holm({name: deciding_p(difference) for name, difference in tested.items()})
    return {
        rule.name: _compared(rows_a, rows_b, rule, tested[rule.name], steps[rule.name], not_comparable)
        for rule in rules
    }


def _tested(rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rule: MetricRule) -> PairedDifference:
    """The difference that the test is made on: logarithms for a log metric, time-outs at their limit."""
    if rule.scale == "log":
        return paired_difference(_means(rows_a, _log(rule)), _means(rows_b, _log(rule)))
    return _plain(rows_a, rows_b, rule)


def _log(rule: MetricRule) -> Value:
    def value(row: TrialRow) -> float | None:
        number = with_timeout(row, rule)
        return math.log(number) if number is not None and number > 0 else None

    return value


def _plain(
    rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rule: MetricRule, level: float = 0.95
) -> PairedDifference:
    def value(row: TrialRow) -> float | None:
        return value_of(row, rule.name)

    return paired_difference(_means(rows_a, value), _means(rows_b, value), level=level)


def _compared(
    rows_a: Sequence[TrialRow],
    rows_b: Sequence[TrialRow],
    rule: MetricRule,
    tested: PairedDifference,
    step: HolmStep,
    not_comparable: str,
) -> MetricComparison:
    level = 1 - step.alpha
    plain = _plain(rows_a, rows_b, rule, level)
    bounds = _bounds(rows_a, rows_b, rule) if rule.name == PASS_RATE else ()
    verdict = decide(rule, tested, step, rows_a, rows_b, bounds=bounds, not_comparable=not_comparable)
    ratio = _ratio(rows_a, rows_b, rule, level) if rule.scale == "log" else None
    return MetricComparison(rule.name, plain, ratio, step.p_adjusted, verdict)


def _each(rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], value: Value) -> list[float]:
    of_a, of_b = _means(rows_a, value), _means(rows_b, value)
    return [of_b[scenario] - of_a[scenario] for scenario in sorted(of_a.keys() & of_b.keys())]


def _ratio(rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rule: MetricRule, level: float) -> Ratio | None:
    logs = _each(rows_a, rows_b, _log(rule))
    if not logs:
        return None
    low, high = t_interval(logs, level)
    return Ratio(
        value=math.exp(math.fsum(logs) / len(logs)),
        low=None if low is None else math.exp(low),
        high=None if high is None else math.exp(high),
    )


def _bounds(rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow], rule: MetricRule) -> tuple[PairedDifference, ...]:
    """The pass rate's difference if every trial without a verdict had gone against B, and for it."""
    if not any(row.outcome in WITHOUT_VERDICT for row in (*rows_a, *rows_b)):
        return ()
    return tuple(
        _plain([_as(row, if_a) for row in rows_a], [_as(row, if_b) for row in rows_b], rule)
        for if_a, if_b in (("passed", "failed"), ("failed", "passed"))
    )


def _as(row: TrialRow, outcome: str) -> TrialRow:
    return replace(row, outcome=outcome, stage="") if row.outcome in WITHOUT_VERDICT else row
