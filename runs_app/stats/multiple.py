"""Several comparisons at once: Holm's levels, which keep all false alarms together under 5 %."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ALPHA: Final = 0.05


@dataclass(frozen=True)
class HolmStep:
    """`alpha` is the level at which this comparison is tested, `p_adjusted` Holm's p, `rejected` the decision."""

    alpha: float
    p_adjusted: float | None
    rejected: bool


def holm(p_values: Mapping[str, float | None], alpha: float = ALPHA) -> dict[str, HolmStep]:
    """Steps down from the smallest p; null p is not tested.

    From the first that is not rejected on, all are tested at its level: so an interval at 1 - alpha leaves out 0
    exactly where the comparison is rejected.
    """
    tested = sorted((p, name) for name, p in p_values.items() if p is not None)
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
