"""Two configurations over the same scenarios: the difference per scenario, its mean, and what it is worth.

The scenario is the unit. Its repeats are averaged first, because they resemble each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit

from runs_app.stats.summary import mean, standard_deviation
from runs_app.stats.trials import Flags, Floats

# All 2^n sign patterns up to here; above, this many random ones from a fixed seed, so that pages agree.
EXACT_PAIRS: Final = 13
RESAMPLES: Final = 9_999
SEED: Final = 20_270_515
# What differs by less than this share of itself differs by rounding: 0.3 - 0.2 is not 0.2 - 0.1 in the last bit.
ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class PairedDifference:
    """B minus A over n paired scenarios; `difference` is null when n is 0.

    The interval [low, high] is at `level`, of the method that decides; null below two pairs and when every difference
    is the same (sd 0). `p_value` is that method's, null where it says nothing; `sign_flip_p` is a second opinion that
    assumes no distribution. `identical`: both sides are equal in every scenario.
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


@dataclass(frozen=True, eq=False)
class Sides:
    """Scenario means of both sides where both have one, and their differences, without those that are rounding."""

    a: Floats
    b: Floats
    differences: Floats

    @property
    def identical(self) -> bool:
        return len(self.differences) > 0 and not self.differences.any()


def sides(a: Floats, b: Floats, paired: Flags) -> Sides:
    """`a` and `b`: one mean per scenario, NaN where there is none."""
    both = paired & ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    differences = b - a
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return Sides(a, b, differences)


def paired_difference(
    found: Sides,
    *,
    level: float = 0.95,
    interval: tuple[float | None, float | None] | None = None,
    p_value: float | None = None,
    flips: float | None = None,
) -> PairedDifference:
    """Of the paired t test, unless another method's `interval` and `p_value` are given."""
    values = found.differences
    low, high = interval if interval is not None else t_interval(values, level)
    return PairedDifference(
        n=len(values),
        mean_a=mean(found.a),
        mean_b=mean(found.b),
        difference=mean(values),
        sd=standard_deviation(values),
        level=level,
        low=low,
        high=high,
        p_value=p_value if interval is not None else t_test_p(values),
        sign_flip_p=flips,
        identical=found.identical,
    )


def t_interval(differences: Sequence[float] | Floats, level: float) -> tuple[float | None, float | None]:
    centre, sd = mean(differences), standard_deviation(differences)
    if centre is None or not sd:
        return None, None
    half = float(stdtrit(len(differences) - 1, 1 - (1 - level) / 2)) * sd / math.sqrt(len(differences))
    return centre - half, centre + half


def t_test_p(differences: Floats) -> float | None:
    """Two-sided, against no difference. 1 when every difference is 0; null where t says nothing (sd 0, n below 2)."""
    if len(differences) and not np.any(differences):
        return 1.0
    centre, sd = mean(differences), standard_deviation(differences)
    if centre is None or not sd:
        return None
    t = centre / (sd / math.sqrt(len(differences)))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Exact, two-sided: whether pairs that passed on one side alone lean to one side."""
    n = only_a + only_b
    return min(1.0, 2 * float(bdtr(min(only_a, only_b), n, 0.5))) if n else 1.0


def sign_flip_ps(vectors: Sequence[Floats]) -> list[float | None]:
    """For each vector of differences: how often chance alone, flipping each scenario's sides, gives a sum at least as
    far from 0. Null of an empty one.

    Exact up to 13 pairs; the observed pattern is counted among the random ones, so p is never 0. Longer vectors of
    one length share one matrix product.
    """
    found: list[float | None] = [None] * len(vectors)
    by_length: dict[int, list[int]] = {}
    for place, vector in enumerate(vectors):
        if len(vector):
            by_length.setdefault(len(vector), []).append(place)
    for length, places in by_length.items():
        for place, p in zip(places, _flipped(length, np.array([vectors[place] for place in places])), strict=True):
            found[place] = float(p)
    return found


def _flipped(length: int, values: Floats) -> Floats:
    """`values`: vectors x scenarios. Sums that are equal on paper differ in the last bits: the edge is reached."""
    observed = np.abs(values.sum(axis=1))
    edge = observed - 1e-9 * np.maximum(np.maximum(observed, np.abs(values).sum(axis=1)), 1e-300)
    if length <= EXACT_PAIRS:
        return np.asarray((np.abs(_all_signs(length) @ values.T) >= edge).mean(axis=0))
    reached = (np.abs(_random_signs(length) @ values.T) >= edge).sum(axis=0)
    return np.asarray((reached + 1) / (RESAMPLES + 1))


@lru_cache(maxsize=4)
def _all_signs(n: int) -> Floats:
    bits = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    return np.asarray(1.0 - 2.0 * bits)


@lru_cache(maxsize=4)  # 40 MB for 500 pairs, and most of the time that a comparison takes
def _random_signs(n: int) -> Floats:
    coins = np.unpackbits(np.random.default_rng(SEED).integers(0, 256, size=-(-RESAMPLES * n // 8), dtype=np.uint8))
    return np.take([1.0, -1.0], coins[: RESAMPLES * n]).reshape(RESAMPLES, n)
