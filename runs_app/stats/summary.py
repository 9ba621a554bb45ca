"""Numbers about one set of values: mean, percentiles by nearest rank, and how many were counted of how many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# Below this many values the 95th percentile has no distribution-free upper bound: pages grey it.
ENOUGH_FOR_P95: Final = 59


@dataclass(frozen=True)
class Summary:
    """`n` values were measured of `of` trials; mean and percentiles are null when n is 0."""

    mean: float | None
    p50: float | None
    p95: float | None
    n: int
    of: int

    @property
    def p95_is_thin(self) -> bool:
        return self.n < ENOUGH_FOR_P95


def measured(values: Iterable[float | None]) -> list[float]:
    """The values that are there; NaN and the infinities were not measured."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def summarise(values: Sequence[float | None]) -> Summary:
    known = measured(values)
    return Summary(mean(known), nearest_rank(known, 50), nearest_rank(known, 95), len(known), len(values))


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def standard_deviation(values: Sequence[float]) -> float | None:
    """Of a sample (n - 1); null of fewer than two values, and exactly 0 when all are equal (to 12 digits)."""
    if len(values) < 2:
        return None
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit: that is no spread to divide by.
    if max(values) - min(values) <= 1e-12 * max(map(abs, values)):
        return 0.0
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def nearest_rank(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that at least `percent` of all do not exceed; null of no values."""
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be above 0 and at most 100, not {percent}")
    if not values:
        return None
    return sorted(values)[max(1, math.ceil(percent * len(values) / 100)) - 1]
