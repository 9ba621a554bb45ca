"""A share and how sure it is: Wilson's interval, with an effective n, as repeats of a scenario resemble each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri, stdtrit


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


def intraclass_correlation(groups: Sequence[Sequence[float]]) -> float:
    """One-way ICC, at least 0 and at most 1: how much alike repeats of one scenario are. 0 when it cannot be told."""
    groups = [group for group in groups if group]
    total = sum(map(len, groups))
    k = len(groups)
    if k < 2 or total == k:
        return 0.0
    grand = math.fsum(math.fsum(group) for group in groups) / total
    centres = [math.fsum(group) / len(group) for group in groups]
    between = math.fsum(len(g) * (c - grand) ** 2 for g, c in zip(groups, centres, strict=True)) / (k - 1)
    inside = math.fsum((x - c) ** 2 for g, c in zip(groups, centres, strict=True) for x in g) / (total - k)
    size = (total - sum(len(g) ** 2 for g in groups) / total) / (k - 1)
    spread = between + (size - 1) * inside
    return min(1.0, max(0.0, (between - inside) / spread)) if spread > 0 else 0.0


def effective_n(groups: Sequence[Sequence[float]]) -> float:
    """How many independent trials the repeats are worth: all of them divided by 1 + (mean repeats - 1) ICC."""
    groups = [group for group in groups if group]
    total = sum(map(len, groups))
    if not total:
        return 0.0
    return total / (1 + (total / len(groups) - 1) * intraclass_correlation(groups))


def rate_interval(groups: Sequence[Sequence[float]], level: float = 0.95) -> Interval | None:
    """Of a pass rate: `groups` holds the 0s and 1s of each scenario.

    One repeat each: plain Wilson. Several: Wilson with the effective n and t on scenarios - 1 degrees of freedom.
    None when there is nothing to tell from: no trial, or repeats of a single scenario.
    """
    groups = [group for group in groups if group]
    total = sum(map(len, groups))
    if not total:
        return None
    share = math.fsum(math.fsum(group) for group in groups) / total
    tail = 1 - (1 - level) / 2
    if total == len(groups):
        return wilson(share, total, float(ndtri(tail)))
    if len(groups) < 2:
        return None
    return wilson(share, effective_n(groups), float(stdtrit(len(groups) - 1, tail)))
