"""What certainty costs: which extra repeats would let a comparison see a difference that matters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExtraRepeats:
    """So many more repeats of the scenario, on each of the two sides."""

    scenario_id: str
    repeats: int


@dataclass(frozen=True)
class Plan:
    """The cheapest extra repeats after which a true difference of `target` is found 4 times in 5.

    `target` is the margin where one was set (`is_margin`), else the difference that was seen; for a log metric a
    share (0.1 is 10 %). `trials` counts both sides, `cost` is in the unit of the costs given (one per trial by
    default). With a `why` no number of repeats is enough, or it cannot be told: `extra` is then empty, and
    `scenarios_needed` (null where unknown) is how many scenarios would do at the present number of repeats.
    """

    target: float
    is_margin: bool
    extra: tuple[ExtraRepeats, ...] = ()
    trials: int = 0
    cost: float = 0.0
    why: str = ""
    scenarios_needed: int | None = None
