"""Percentiles as every page prints them: nearest rank."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil


def nearest_rank(values: Iterable[float], percent: float) -> float | None:
    """The smallest value that at least `percent` of all values do not exceed; None without values."""
    ordered = sorted(float(value) for value in values)
    if not ordered:
        return None
    rank = max(1, ceil(percent / 100 * len(ordered)))
    return ordered[rank - 1]
