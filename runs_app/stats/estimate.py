"""One number with its interval, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TOO_FEW: Final = "too few scenarios for an interval"
CENSORED: Final = "it lies among the time-outs, at or above the limit"
ALL_ALIKE: Final = "the scenarios do not differ enough for an interval"
BEING_COMPUTED: Final = "the interval is being computed"
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True)
class Estimate:
    """`value` is null when nothing was measured. Without an interval `low` and `high` are null and `why` says why.

    `at_least`: the value is a limit that was reached, so the truth is not below it ("> 30 s"). `scenarios` stand
    behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    scenarios: int = 0
    at_least: bool = False
    why: str = ""


@dataclass(frozen=True)
class Tails:
    """What is no mean: percentiles of the latency in ms, and pass^k for k from 2 to the fewest repeats of a scenario.

    Of a configuration its values; of a pair B minus A over its paired scenarios. Every interval is at 95 %, by
    studentised cluster bootstrap; none carries a verdict. `key` is of the numbers that they are made of: their
    intervals are stored under it, and are "being computed" until they are.
    """

    p50: Estimate
    p95: Estimate
    pass_k: dict[int, Estimate]
    key: str = ""

    @property
    def waits(self) -> bool:
        return any(one.why == BEING_COMPUTED for one in (self.p50, self.p95, *self.pass_k.values()))
