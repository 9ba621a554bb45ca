"""Numbers about one set of values: mean, percentiles by nearest rank, and how many were counted of how many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from runs_app.stats.trials import Floats

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


def summarise(values: Floats) -> Summary:
    """NaN was not measured."""
    known = np.sort(values[np.isfinite(values)])
    return Summary(mean(known), nearest_rank(known, 50), nearest_rank(known, 95), len(known), len(values))


def mean(values: Sequence[float] | Floats) -> float | None:
    if isinstance(values, np.ndarray):
        return float(values.mean()) if len(values) else None
    return math.fsum(values) / len(values) if values else None


def standard_deviation(values: Sequence[float] | Floats) -> float | None:
    """Of a sample (n - 1); null of fewer than two values, and exactly 0 when all are equal (to 12 digits)."""
    if len(values) < 2:
        return None
    numbers = np.asarray(values, dtype=np.float64)
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit: that is no spread to divide by.
    if np.ptp(numbers) <= 1e-12 * np.abs(numbers).max():
        return 0.0
    return float(numbers.std(ddof=1))


def nearest_rank(ordered: Floats, percent: float) -> float | None:
    """The smallest value that at least `percent` of all do not exceed; null of no values."""
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be above 0 and at most 100, not {percent}")
    if not len(ordered):
        return None
    return float(ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1])
