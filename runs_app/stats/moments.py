"""One metric by scenario: how many repeats were measured, their mean, and how much they differ among themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runs_app.stats.trials import Flags, Floats, Trials


@dataclass(frozen=True, eq=False)
class Moments:
    """Configurations x scenarios. `mean` is NaN where `n` is 0; `squares` sums the squared deviations from it."""

    n: Floats
    mean: Floats
    squares: Floats

    def within(self, place: int, of: Flags) -> tuple[float, float]:
        """Variance of one configuration's repeats inside a scenario, pooled over these scenarios, and its degrees of
        freedom; (0, 0) where nothing was repeated."""
        n, squares = self.n[place, of], self.squares[place, of]
        freedom = float((n[n > 0] - 1).sum())
        return (float(squares.sum()) / freedom, freedom) if freedom > 0 else (0.0, 0.0)


def moments(trials: Trials, values: Floats) -> Moments:
    """`values`: one per trial, NaN where there is none."""
    known = ~np.isnan(values)
    cell, numbers = trials.cell[known], values[known]
    size = trials.shape[0] * trials.shape[1]
    n = np.bincount(cell, minlength=size).astype(np.float64)
    total = np.bincount(cell, weights=numbers, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = total / n
    squares = np.bincount(cell, weights=(numbers - mean[cell]) ** 2, minlength=size).astype(np.float64)
    return Moments(n.reshape(trials.shape), mean.reshape(trials.shape), squares.reshape(trials.shape))
