"""What a difference is held against: a margin set beforehand, and the noise of the baseline against itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from runs_app.stats.logs import factor
from runs_app.stats.moments import Moments
from runs_app.stats.rows import MetricRule
from runs_app.stats.summary import mean, standard_deviation
from runs_app.stats.trials import Flags, Floats

POWER = 0.8


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests: `low` to `high` is the 90 % interval of the difference (of a log metric: of the ratio).

    `margin` is the metric's own; `least` and `most` are what it allows on that scale. It `holds` when all of the
    interval lies inside. `p_value` is the larger one-sided p, null where the interval is not t's.
    """

    margin: float
    least: float
    most: float
    low: float
    high: float
    p_value: float | None
    holds: bool


@dataclass(frozen=True)
class Noise:
    """Within `low` to `high` (of a log metric: of the ratio) lie 19 of 20 differences of the baseline from itself,
    told from how much its own repeats differ. A difference inside is no more than luck would make."""

    low: float
    high: float


def scaled_margin(rule: MetricRule, baseline: Floats) -> float | None:
    """On the scale of the test: milliseconds become a share of the baseline's typical latency, of which `baseline` has
    the logarithms. None where no margin was set, or nothing is typical."""
    if rule.margin is None or rule.scale != "log":
        return rule.margin
    return math.log1p(rule.margin / factor(float(baseline.mean()))) if len(baseline) else None


def two_one_sided(differences: Floats, margin: float) -> tuple[float, float, float] | None:
    """90 % interval and the larger p of t's two tests; None where t says nothing."""
    centre, sd = mean(differences), standard_deviation(differences)
    if centre is None or not sd:
        return None
    error, freedom = sd / math.sqrt(len(differences)), len(differences) - 1
    half = float(stdtrit(freedom, 0.95)) * error
    p = max(float(stdtr(freedom, -(centre + margin) / error)), float(stdtr(freedom, (centre - margin) / error)))
    return centre - half, centre + half, p


def noise_half(found: Moments, place: int, n_other: Floats, of: Flags) -> float | None:
    """Half the width of the noise band, on the scale of the moments; None where the baseline was not repeated.

    The band that splitting the baseline's repeats in two, again and again, would show, scaled to the repeats that the
    comparison has: t.975 sqrt(sum over scenarios of s2 (1/n_a + 1/n_b)) / S, with s2 pooled from its repeats.
    """
    variance, freedom = found.within(place, of)
    own, other = found.n[place, of], n_other[of]
    both = (own > 0) & (other > 0)
    if not freedom or not both.any():
        return None
    spread = variance * float((1 / own[both] + 1 / other[both]).sum())
    return float(stdtrit(freedom, 0.975)) * math.sqrt(spread) / int(both.sum())


def detectable(sd: float | None, scenarios: int, alpha: float) -> float | None:
    """The smallest true difference that a paired t test at `alpha` finds 4 times in 5; null where there is no sd."""
    if not sd or scenarios < 2:
        return None
    return reach(scenarios, alpha) * sd / math.sqrt(scenarios)


def reach(scenarios: int, alpha: float) -> float:
    """So many standard errors must a true difference measure to be found 4 times in 5."""
    return float(np.sum(stdtrit(scenarios - 1, [1 - alpha / 2, POWER])))
