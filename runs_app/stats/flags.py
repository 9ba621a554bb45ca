"""Which scenarios are suspected to have changed: a hint where to look, never a verdict.

With the few repeats of one scenario even 3 of 3 against 0 of 3 is no proof (Fisher p .10), so rows are ranked by how
likely it is, after what was seen, that B truly passes less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import betainc, betaincinv

from runs_app.stats.multiple import benjamini_hochberg
from runs_app.stats.trials import Floats
from runs_app.stats.verdict import fisher_p

SUSPECTED: Final = 0.95
MIDDLES: Final = (np.arange(512) + 0.5) / 512  # told to four digits


@dataclass(frozen=True)
class RowFlag:
    """One scenario's pass counts on both sides. `posterior`: how likely B truly passes less often than A (Jeffreys);
    `suspected` from .95 on, in either direction. `q` is Fisher's p after Benjamini and Hochberg over all rows."""

    posterior: float
    q: float
    suspected: bool


def row_flags(counts: Mapping[str, tuple[int, int, int, int]]) -> dict[str, RowFlag]:
    """`counts`: scenario id -> passes and graded trials of A, passes and graded trials of B."""
    q = benjamini_hochberg([_fisher(*count) for count in counts.values()])
    found = {}
    for (scenario, count), one in zip(counts.items(), q, strict=True):
        likely = posterior(*count)
        found[scenario] = RowFlag(likely, one, likely >= SUSPECTED or likely <= 1 - SUSPECTED)
    return found


@lru_cache(maxsize=4096)  # few counts, many rows
def posterior(passed_a: int, n_a: int, passed_b: int, n_b: int) -> float:
    """P(B's true rate is below A's) under Jeffreys' prior, Beta(.5, .5), on each."""
    return float(betainc(passed_b + 0.5, n_b - passed_b + 0.5, _middles(passed_a, n_a)).mean())


@lru_cache(maxsize=256)  # the inverse takes longer than all else
def _middles(passed: int, n: int) -> Floats:
    """The true rate's quantiles after what was seen of it, equally likely each."""
    return np.asarray(betaincinv(passed + 0.5, n - passed + 0.5, MIDDLES))


@lru_cache(maxsize=4096)
def _fisher(passed_a: int, n_a: int, passed_b: int, n_b: int) -> float:
    return fisher_p(passed_a, n_a, passed_b, n_b)
