"""Studentised cluster bootstrap: scenarios are drawn with replacement and bring all their repeats, of both sides.

Each resample's distance from the estimate is divided by its own standard error; the quantiles of that, times the
standard error of the estimate, make the interval (Efron and Tibshirani 1993, chapter 12), by default of the distance
to either side alike (Hall 1988): with few scenarios that holds the truth more nearly as often as it says. The standard
error of a percentile comes from the scenarios' shares below it and the slope of the distribution (Woodruff 1952).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from runs_app.stats.trials import Floats, Ints

Counts = npt.NDArray[np.int32]
Pulls = npt.NDArray[np.float32]

RESAMPLES: Final = 999
BLOCK: Final = 64  # resamples at a time: 64 x 5,000 weights stay in the cache
TAIL: Final = 0.025


@dataclass(frozen=True, eq=False)
class Quantiles:
    """A percentile of one side: first the estimate, then one per resample. `pulls`: each scenario's pull on it."""

    values: Floats
    pulls: Pulls


def draws_of(scenario_ids: Sequence[str], resamples: int = RESAMPLES) -> Counts:
    """How often each scenario is drawn: first once each, then one row per resample. The same for the same ids."""
    seed = int.from_bytes(hashlib.sha256("\0".join(scenario_ids).encode()).digest()[:8], "big")
    size = len(scenario_ids)
    drawn = np.random.default_rng(seed).integers(0, size, size=(resamples, size))
    flat = drawn + np.arange(resamples)[:, np.newaxis] * size
    counted = np.bincount(flat.ravel(), minlength=resamples * size).reshape(resamples, size)
    return np.vstack([np.ones(size, dtype=np.int64), counted]).astype(np.int32)


def mean_interval(values: Floats, draws: Counts) -> list[float] | None:
    """95 %, of the mean of one value per scenario; None where the values do not differ."""
    size = len(values)
    centres = draws @ values / size
    spread = np.maximum(draws @ values**2 / size - centres**2, 0)
    errors = np.sqrt(spread / (size - 1))
    # what is left of a spread after rounding is no spread
    errors[spread <= 1e-12 * max(1e-300, float((values**2).max()))] = 0.0
    return _studentised(centres, errors)


def quantile_interval(sides: Sequence[Quantiles], draws: Counts, *, symmetric: bool = True) -> list[float] | None:
    """95 %, of a percentile, or of the second side's minus the first's; None where it cannot be told."""
    values, pulls = sides[-1].values, sides[-1].pulls
    if len(sides) == 2:
        values, pulls = values - sides[0].values, pulls - sides[0].pulls
    size = draws.shape[1]
    errors = np.sqrt(size / (size - 1) * (draws * pulls**2).sum(axis=1, dtype=np.float64))
    return _studentised(values, errors, symmetric)


def _studentised(values: Floats, errors: Floats, symmetric: bool = True) -> list[float] | None:
    """A resample without an error of its own stands infinitely far off, on its side: that widens the interval and
    never narrows it."""
    value, error = values[0], errors[0]
    if not error > 0:
        return None
    distance = values[1:] - value
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(distance == 0, 0.0, distance / errors[1:])
    if symmetric:
        low = np.quantile(np.abs(far), 1 - 2 * TAIL, method="inverted_cdf")
        high = -low
    else:
        low, high = np.quantile(far, [1 - TAIL, TAIL], method="inverted_cdf")
    found = [float(value - low * error), float(value - high * error)]
    return found if np.isfinite(found).all() else None


def quantiles(values: Floats, at: Ints, shares: Sequence[float], draws: Counts) -> list[Quantiles]:
    """Of one side's values in ascending order, for each share; `at` is the scenario, from 0, of each value."""
    below: Counts = np.zeros((len(values) + 1, draws.shape[1]), dtype=np.int32)
    below[np.arange(1, len(values) + 1), at] = 1
    np.cumsum(below, axis=0, out=below)
    parts: list[list[Quantiles]] = [[] for _ in shares]
    for start in range(0, len(draws), BLOCK):
        block = draws[start : start + BLOCK]
        running = np.cumsum(np.take(block, at, axis=1), axis=1, dtype=np.int32)
        for share, found in zip(shares, parts, strict=True):
            found.append(_block(values, share, below, block, running))
    return [
        Quantiles(np.concatenate([part.values for part in found]), np.concatenate([part.pulls for part in found]))
        for found in parts
    ]


def _block(values: Floats, share: float, below: Counts, draws: Counts, running: Counts) -> Quantiles:
    total = running[:, -1]
    place = _rank(running, share * total)
    # of each scenario: how many of its values lie at or below the percentile, less how many should
    excess = below[place + 1] - share * below[-1]
    size = draws.shape[1]
    error = np.sqrt(size / (size - 1) * (draws * excess**2).sum(axis=1)) / total
    step = np.maximum(error, 1 / total)
    highest, lowest = np.minimum(share + step, 1.0), np.maximum(share - step, 0.0)
    slope = (values[_rank(running, highest * total)] - values[_rank(running, lowest * total)]) / (highest - lowest)
    pulls = (-excess * (slope / total)[:, np.newaxis]).astype(np.float32)
    return Quantiles(values[place], pulls)


def _rank(running: Counts, wanted: np.ndarray) -> Ints:
    """Per row: the first place where the running weight reaches what is wanted."""
    found = [np.searchsorted(row, want - 1e-9) for row, want in zip(running, wanted, strict=True)]
    return np.asarray(np.minimum(found, running.shape[1] - 1))
