"""Several comparisons at once: Holm's levels, which keep all false alarms together under 5 %, and Benjamini and
Hochberg's q, which keeps the share of false ones among those that are named."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

ALPHA: Final = 0.05

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class HolmStep:
    """`alpha` is the level at which this comparison is tested, `p_adjusted` Holm's p, `rejected` the decision."""

    alpha: float
    p_adjusted: float | None
    rejected: bool


def holm(p_values: Mapping[Key, float | None], alpha: float = ALPHA) -> dict[Key, HolmStep]:
    """Steps down from the smallest p; null p is not tested.

    From the first that is not rejected on, all are tested at its level: so an interval at 1 - alpha leaves out 0
    exactly where the comparison is rejected.
    """
    known = [(p, name) for name, p in p_values.items() if p is not None]
    tested = sorted(known, key=lambda pair: pair[0])
    steps = {name: HolmStep(alpha, None, False) for name, p in p_values.items() if p is None}
    highest, level, going = 0.0, alpha, True
    for place, (p, name) in enumerate(tested):
        left = len(tested) - place
        highest = max(highest, min(1.0, p * left))
        if going:
            level = alpha / left
            going = p <= level
        steps[name] = HolmStep(level, highest, going)
    return steps


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The q of each, in the given order."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[::-1]
    ranks = np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum.accumulate(np.minimum(1.0, p[order] * len(p) / ranks))
    return [float(q) for q in found]
