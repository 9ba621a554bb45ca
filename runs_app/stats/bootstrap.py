"""Studentised cluster bootstrap: scenarios are drawn with replacement and bring all their repeats, of both sides.

Each resample's distance from the estimate is divided by its own standard error; the quantiles of that, times the
standard error of the estimate, make the interval (Efron and Tibshirani 1993, chapter 12). A percentile's standard
error comes from the scenarios' shares below it and the slope of the distribution there (Woodruff 1952).
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

RESAMPLES: Final = 1_999
BLOCK: Final = 64  # resamples at a time: 64 x 5,000 weights stay in the cache
TAIL: Final = 0.025


@dataclass(frozen=True, eq=False)
class Weighted:
    """One side's values in ascending order, and the scenario, from 0, that each belongs to."""

    values: Floats
    at: Ints
    scenarios: int


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Per resample: the percentile, and each scenario's pull on it (resamples x scenarios)."""

    values: Floats
    pulls: Floats


def weights_of(scenario_ids: Sequence[str], resamples: int = RESAMPLES) -> Floats:
    """How often each scenario is drawn, resamples x scenarios; always the same for the same ids."""
    seed = int.from_bytes(hashlib.sha256("\0".join(scenario_ids).encode()).digest()[:8], "big")
    size = len(scenario_ids)
    drawn = np.random.default_rng(seed).integers(0, size, size=(resamples, size))
    flat = drawn + np.arange(resamples)[:, np.newaxis] * size
    return np.bincount(flat.ravel(), minlength=resamples * size).reshape(resamples, size).astype(np.float64)


def mean_interval(values: Floats, drawn: Floats) -> list[float] | None:
    """95 %, of the mean of one value per scenario; None where the values do not differ."""
    size = len(values)
    every = np.vstack([np.ones(size), drawn])
    centres = every @ values / size
    spread = np.maximum(every @ values**2 / size - centres**2, 0)
    errors = np.sqrt(spread / (size - 1))
    errors[spread <= 1e-12 * max(1e-300, float((values**2).max()))] = 0.0
    return _studentised(centres, errors)


def quantile_interval(sides: Sequence[Weighted], share: float, drawn: Floats) -> list[float] | None:
    """95 %, of a percentile, or of the second side's minus the first's; None where it cannot be told."""
    found = [_quantiles(side, share, drawn) for side in sides]
    values = found[-1].values - (found[0].values if len(found) == 2 else 0.0)
    pulls = found[-1].pulls - (found[0].pulls if len(found) == 2 else 0.0)
    size = sides[0].scenarios
    every = np.vstack([np.ones(size), drawn])
    errors = np.sqrt(size / (size - 1) * np.einsum("rs,rs->r", every, pulls**2))
    return _studentised(values, errors)


def _studentised(values: Floats, errors: Floats) -> list[float] | None:
    """The first entry is the estimate itself, the others are resamples. One without an error of its own stands
    infinitely far off, on its side: that widens the interval and never narrows it."""
    value, error = values[0], errors[0]
    if not error > 0:
        return None
    distance = values[1:] - value
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(distance == 0, 0.0, distance / errors[1:])
    low, high = np.quantile(far, [1 - TAIL, TAIL], method="inverted_cdf")
    found = [float(value - low * error), float(value - high * error)]
    return found if np.isfinite(found).all() else None


def _quantiles(side: Weighted, share: float, drawn: Floats) -> Quantiles:
    below: Counts = np.zeros((len(side.values) + 1, side.scenarios), dtype=np.int32)
    below[np.arange(1, len(side.values) + 1), side.at] = 1
    np.cumsum(below, axis=0, out=below)
    every = np.vstack([np.ones(side.scenarios), drawn])
    parts = [_block(side, share, below, every[at : at + BLOCK]) for at in range(0, len(every), BLOCK)]
    return Quantiles(np.concatenate([p.values for p in parts]), np.concatenate([p.pulls for p in parts]))


def _block(side: Weighted, share: float, below: Counts, weights: Floats) -> Quantiles:
    running = np.cumsum(weights[:, side.at], axis=1)
    total = running[:, -1]
    place = _rank(running, share * total)
    counts = below[-1]
    # of each scenario: how many of its values lie at or below the percentile, less how many should
    excess = below[place + 1] - share * counts
    size = side.scenarios
    error = np.sqrt(size / (size - 1) * np.einsum("rs,rs->r", weights, excess**2.0)) / total
    step = np.maximum(error, 1 / total)
    upper = side.values[_rank(running, np.minimum(share + step, 1.0) * total)]
    lower = side.values[_rank(running, np.maximum(share - step, 1e-9) * total)]
    span = np.minimum(share + step, 1.0) - np.maximum(share - step, 0.0)
    slope = (upper - lower) / span
    pulls = -excess * (slope / total)[:, np.newaxis]
    return Quantiles(side.values[place], pulls)


def _rank(running: Floats, wanted: Floats) -> Ints:
    """The first place where the running weight reaches what is wanted, per row."""
    found = (running < (wanted - 1e-9)[:, np.newaxis]).sum(axis=1)
    return np.asarray(np.minimum(found, running.shape[1] - 1))
