"""Percentiles by nearest rank: the smallest value that at least p percent of the values do not exceed."""

from __future__ import annotations

import math
from collections.abc import Sequence


def nearest_rank(values: Sequence[float], percent: float) -> float | None:
    """The value at rank ceil(percent / 100 * n), counted from 1 in ascending order; None of no values."""
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be above 0 and at most 100, not {percent}")
    if not values:
        return None
    rank = max(1, math.ceil(percent * len(values) / 100))
    return sorted(values)[rank - 1]


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def rounded(value: float | None, digits: int) -> float | None:
    """As CRAWL rounds: 3 places for milliseconds, 4 for shares. What is not finite was not measured."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), digits)
