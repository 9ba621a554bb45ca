"""Percentiles of times of which some are only known to be no shorter than a limit (Kaplan and Meier 1958)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runs_app.stats.trials import Flags, Floats


@dataclass(frozen=True)
class Rank:
    """`at_least`: so many were cut off that the percentile was not reached; `value` is then the highest limit."""

    value: float
    at_least: bool = False


def survival(censored: Flags) -> Floats:
    """After each of these times, which ascend: the share of all that had not ended yet."""
    at_risk = len(censored) - np.arange(len(censored))
    return np.asarray(np.cumprod(np.where(censored, 1.0, 1 - 1 / at_risk)))


def quantile(ordered: Floats, censored: Flags, share: float) -> Rank | None:
    """The smallest time by which at least `share` of all have ended; without a censored one the nearest rank.

    `ordered` ascends, and of equal times the censored come last. None of no times.
    """
    if not len(ordered):
        return None
    # products of fractions: what is reached on paper is a hair off here
    reached = np.flatnonzero(~censored & (survival(censored) <= 1 - share + 1e-9))
    if len(reached):
        return Rank(float(ordered[reached[0]]))
    return Rank(float(ordered[censored][-1]), at_least=True)
