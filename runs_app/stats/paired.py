"""Two configurations over the same scenarios: the difference per scenario, its mean, and what it is worth.

The scenario is the unit. Its repeats are averaged first, because they resemble each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from runs_app.stats.summary import mean, measured, standard_deviation

# All 2^n sign patterns up to here; above, this many random ones from a fixed seed, so that pages agree.
EXACT_PAIRS: Final = 13
RESAMPLES: Final = 9_999
SEED: Final = 20_270_515


@dataclass(frozen=True)
class PairedDifference:
    """B minus A over n paired scenarios; `difference` is null when n is 0.

    The interval [low, high] is t's at `level`; null below two pairs and when every difference is the same (sd 0).
    `p_value` is the paired t test's, `sign_flip_p` a second opinion that assumes no distribution.
    `identical`: both sides are equal in every scenario.
    """

    n: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    sd: float | None
    level: float
    low: float | None
    high: float | None
    p_value: float | None
    sign_flip_p: float | None
    identical: bool


def scenario_means(values: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Mean over the measured repeats of each scenario that has one."""
    centres = {scenario: mean(measured(repeats)) for scenario, repeats in values.items()}
    return {scenario: centre for scenario, centre in centres.items() if centre is not None}


def paired_difference(a: Mapping[str, float], b: Mapping[str, float], *, level: float = 0.95) -> PairedDifference:
    """From one value per scenario on each side; scenarios that one side lacks do not count."""
    shared = sorted(a.keys() & b.keys())
    differences = [b[scenario] - a[scenario] for scenario in shared]
    centre, sd = mean(differences), standard_deviation(differences)
    low, high = t_interval(differences, level)
    return PairedDifference(
        n=len(shared),
        mean_a=mean([a[scenario] for scenario in shared]),
        mean_b=mean([b[scenario] for scenario in shared]),
        difference=centre,
        sd=sd,
        level=level,
        low=low,
        high=high,
        p_value=t_test_p(differences),
        sign_flip_p=sign_flip_p(differences),
        identical=bool(differences) and not any(differences),
    )


def t_interval(differences: Sequence[float], level: float) -> tuple[float | None, float | None]:
    centre, sd = mean(differences), standard_deviation(differences)
    if centre is None or not sd:
        return None, None
    half = float(stdtrit(len(differences) - 1, 1 - (1 - level) / 2)) * sd / math.sqrt(len(differences))
    return centre - half, centre + half


def t_test_p(differences: Sequence[float]) -> float | None:
    """Two-sided, against no difference. 1 when every difference is 0; null where t says nothing (sd 0, n below 2)."""
    if differences and not any(differences):
        return 1.0
    centre, sd = mean(differences), standard_deviation(differences)
    if centre is None or not sd:
        return None
    t = centre / (sd / math.sqrt(len(differences)))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))


def deciding_p(difference: PairedDifference) -> float | None:
    """The p that a verdict rests on: t's, and the sign flips' where every scenario differs by the same (sd 0)."""
    return difference.sign_flip_p if difference.p_value is None else difference.p_value


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """How often chance alone, flipping each scenario's sides, gives a sum at least as far from 0. Null of no pairs.

    Exact up to 13 pairs; the observed pattern is counted among the random ones, so p is never 0.
    """
    if not differences:
        return None
    values = np.asarray(differences, dtype=np.float64)
    observed = abs(values.sum())
    # Sums that are equal on paper differ in the last bits: the edge counts as reached.
    edge = observed - 1e-9 * max(observed, float(np.abs(values).sum()), 1e-300)
    if len(values) <= EXACT_PAIRS:
        reached = np.abs(_all_signs(len(values)) @ values) >= edge
        return float(reached.mean())
    reached = np.abs(_random_signs(len(values)) @ values) >= edge
    return float((reached.sum() + 1) / (RESAMPLES + 1))


@lru_cache(maxsize=4)
def _all_signs(n: int) -> npt.NDArray[np.float64]:
    bits = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    return np.asarray(1.0 - 2.0 * bits)


@lru_cache(maxsize=4)  # 2 MB for 30 pairs, and most of the time that a comparison takes
def _random_signs(n: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(SEED).choice((-1.0, 1.0), size=(RESAMPLES, n))
