"""One configuration against another: which scenarios pair up, the difference of each metric, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from runs_app.stats.estimate import Tails
from runs_app.stats.flags import RowFlag, row_flags
from runs_app.stats.margins import Equivalence, Noise
from runs_app.stats.moments import Moments
from runs_app.stats.paired import PairedDifference
from runs_app.stats.pairing import Pairing
from runs_app.stats.rows import PASS_RATE
from runs_app.stats.testing import Method
from runs_app.stats.trials import Trials
from runs_app.stats.verdict import Verdict


@dataclass(frozen=True)
class Ratio:
    """B over A, from the mean difference of logarithms; the interval is null where t has none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Bounds:
    """The difference if every trial without a verdict had gone against B (`worst`) and for it (`best`)."""

    worst: float
    best: float


@dataclass(frozen=True)
class MetricComparison:
    """`paired` is B minus A in the metric's own unit, its interval at Holm's level for this metric.

    For a metric on the log scale `ratio` is what the verdict rests on. `p_value` is the deciding one, by `method`, and
    `p_adjusted` Holm's over the primary metrics of all candidates (null for others). `better`, `worse` and `same`
    count scenarios. `equivalence` is null without a margin, `bounds` without trials that lack a verdict, `noise`
    without repeats. Of fewer than `fewest` scenarios there is no interval. `mde`: the smallest true difference that
    this design finds 4 times in 5 at its level; for a log metric as a share (0.1 is 10 %), else in the metric's unit.
    """

    metric: str
    paired: PairedDifference
    ratio: Ratio | None
    p_adjusted: float | None
    verdict: Verdict
    primary: bool
    method: Method
    fewest: int
    alpha: float
    p_value: float | None
    equivalence: Equivalence | None
    bounds: Bounds | None
    noise: Noise | None
    mde: float | None
    better: int
    worse: int
    same: int


@dataclass(frozen=True, eq=False)
class Measured:
    """Where a comparison's rows are computed from when they are asked for."""

    trials: Trials
    plain: Mapping[str, Moments]
    tested: Mapping[str, Moments]


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
    tails: Tails
    critical: tuple[str, ...]  # marked critical, passed at least once by A and never by B: overrides any average
    source: tuple[Measured, Pairing] = field(repr=False, compare=False)

    @cached_property
    def differences(self) -> dict[str, dict[str, float | None]]:
        """Scenario id -> metric -> B minus A in the metric's own unit; null where a side has no value."""
        measured, pairing = self.source
        found: dict[str, dict[str, float | None]] = {scenario: {} for scenario in self.paired}
        for name, one in measured.plain.items():
            values = (one.mean[pairing.b] - one.mean[pairing.a])[pairing.paired]
            for scenario, value in zip(self.paired, values.tolist(), strict=True):
                found[scenario][name] = None if value != value else value
        return found

    @cached_property
    def flags(self) -> dict[str, RowFlag]:
        """By paired scenario with a verdict on both sides; empty where the pass rate is not compared."""
        measured, pairing = self.source
        if PASS_RATE not in measured.plain:
            return {}
        rates = measured.plain[PASS_RATE]
        passed = np.nan_to_num(rates.n * rates.mean)
        a, b = pairing.a, pairing.b
        columns = np.rint(np.array([passed[a], rates.n[a], passed[b], rates.n[b]])).astype(int).T.tolist()
        return row_flags(
            {
                scenario: tuple(count)
                for scenario, count, paired in zip(measured.trials.scenario_ids, columns, pairing.paired, strict=True)
                if paired and count[1] and count[3]
            }
        )
