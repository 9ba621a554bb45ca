"""A share and how sure it is: Wilson's intervals, with an effective n, as repeats of a scenario resemble each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtri, stdtrit

from runs_app.stats.trials import Floats

# Of fewer scenarios these intervals miss what they promise by more than two points: docs/statistics.md has the table.
FEWEST_FOR_REPEATS: Final = 12  # of a pass rate with repeats
FEWEST_FOR_COUNTED: Final = 12  # of a difference of what is made of yes or no: pass rate, tool accuracy
FEWEST_FOR_PAIRS: Final = 40  # of a difference of pass rates with one repeat
FEWEST_FOR_MEAN: Final = 12  # of the mean of a share in a chart
FEWEST_FOR_MEAN_TIME: Final = 20  # times lean to the right


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def wilson(share: float, n: float, quantile: float) -> Interval:
    """Wilson's score interval of a share of n independent trials (n need not be whole)."""
    if n <= 0:
        raise ValueError("an interval needs at least one trial")
    square = quantile * quantile
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def intraclass_correlation(n: Floats, mean: Floats, squares: Floats) -> float:
    """One-way ICC, at least 0 and at most 1: how much alike repeats of one scenario are. 0 when it cannot be told.

    One entry per scenario: its repeats, their mean, and the sum of their squared deviations from it.
    """
    k, total = len(n), float(n.sum())
    if k < 2 or total == k:
        return 0.0
    grand = float(n @ mean) / total
    between = float(n @ (mean - grand) ** 2) / (k - 1)
    inside = float(squares.sum()) / (total - k)
    size = (total - float(n @ n) / total) / (k - 1)
    spread = between + (size - 1) * inside
    return min(1.0, max(0.0, (between - inside) / spread)) if spread > 0 else 0.0


def effective_n(n: Floats, mean: Floats, squares: Floats) -> float:
    """How many independent trials the repeats are worth: all of them divided by 1 + (mean repeats - 1) ICC."""
    total = float(n.sum())
    if not total:
        return 0.0
    return total / (1 + (total / len(n) - 1) * intraclass_correlation(n, mean, squares))


def rate_interval(n: Floats, mean: Floats, squares: Floats, level: float = 0.95) -> Interval | None:
    """Of a pass rate over all trials, from each scenario's graded repeats, share passed, and squared deviations.

    One repeat each: plain Wilson. Several: Wilson with the effective n and t on scenarios - 1 degrees of freedom, of
    12 scenarios or more. None when there is nothing to tell from.
    """
    there = n > 0
    n, mean, squares = n[there], mean[there], squares[there]
    total = float(n.sum())
    if not total:
        return None
    share = min(1.0, float(n @ mean) / total)
    tail = 1 - (1 - level) / 2
    if total == len(n):
        return wilson(share, total, float(ndtri(tail)))
    if len(n) < FEWEST_FOR_REPEATS:
        return None
    return wilson(share, effective_n(n, mean, squares), float(stdtrit(len(n) - 1, tail)))


def newcombe_paired(both: int, only_a: int, only_b: int, neither: int, quantile: float) -> Interval:
    """Newcombe's score interval of B's share minus A's over pairs that passed on both sides, on one, or on none.

    Two Wilson limits joined by the correlation phi with his continuity correction (Newcombe 1998, method 10).
    """
    n = both + only_a + only_b + neither
    share_a, share_b = (both + only_a) / n, (both + only_b) / n
    of_a, of_b = wilson(share_a, n, quantile), wilson(share_b, n, quantile)
    phi = _phi(both, only_a, only_b, neither)
    below = _joined(share_b - of_b.low, of_a.high - share_a, phi)
    above = _joined(of_b.high - share_b, share_a - of_a.low, phi)
    difference = share_b - share_a
    return Interval(max(-1.0, difference - below), min(1.0, difference + above))


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    sums = math.prod((both + only_a, only_b + neither, both + only_b, only_a + neither))
    if not sums:
        return 0.0
    n = both + only_a + only_b + neither
    top = float(both * neither - only_a * only_b)
    if top > 0:
        top = max(0.0, top - n / 2)
    return float(np.clip(top / math.sqrt(sums), -1, 1))


def mean_interval_of_shares(values: Floats, level: float = 0.95) -> Interval | None:
    """Of the mean of one value from 0 to 1 per scenario: Wilson with as many trials as would vary as these do.

    None of fewer than 12, and where all are alike. t's interval leaves the range and misses the truth near its ends.
    """
    if len(values) < FEWEST_FOR_MEAN:
        return None
    centre, variance = float(values.mean()), float(values.var(ddof=1))
    if variance <= 1e-24 or not 0 < centre < 1:
        return None
    worth = centre * (1 - centre) * len(values) / variance
    return wilson(centre, worth, float(stdtrit(len(values) - 1, 1 - (1 - level) / 2)))
