"""What certainty costs: which extra repeats would let a comparison see a difference that matters."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from runs_app.stats.logs import change
from runs_app.stats.margins import reach, scaled_margin
from runs_app.stats.moments import Moments
from runs_app.stats.pair import Measured, MetricComparison
from runs_app.stats.pairing import Pairing
from runs_app.stats.rows import MetricRule
from runs_app.stats.trials import Flags, Floats

MOST_TRIALS: Final = 5_000  # a longer plan is no plan
MOST_REPEATS: Final = 100  # of one scenario; more of the same tell ever less, and other scenarios more
MOST_SCENARIOS: Final = 10_000
# Three repeats that agree do not prove that a fourth will: each scenario's spread leans on that of all by so many.
LEANING: Final = 2.0


@dataclass(frozen=True)
class ExtraRepeats:
    """So many more repeats of the scenario, on each of the two sides."""

    scenario_id: str
    repeats: int


@dataclass(frozen=True)
class Plan:
    """The cheapest extra repeats after which a true difference of `target` is found 4 times in 5.

    `target` is the margin where one was set (`is_margin`), else the difference that was seen; for a log metric a
    share (0.1 is 10 %), null when there is neither. `trials` counts both sides, `cost` is in the unit of the costs
    given (one per trial by default). With a `why` no number of repeats is enough, or it cannot be told: `extra` is
    then a first step or empty, and `scenarios_needed` (null where unknown) is how many scenarios would do at the
    present number of repeats.
    """

    target: float | None
    is_margin: bool
    extra: tuple[ExtraRepeats, ...] = ()
    trials: int = 0
    cost: float = 0.0
    why: str = ""
    scenarios_needed: int | None = None


@dataclass(frozen=True, eq=False)
class Spread:
    """Of the scenarios that count: repeats on both sides, the variance inside each, and the variance between their
    true differences, which no repeat makes smaller. `known`: something was repeated."""

    ids: tuple[str, ...]
    n_a: Floats
    n_b: Floats
    inside: Floats
    between: float
    known: bool

    @property
    def size(self) -> int:
        return len(self.ids)

    def variance(self) -> float:
        """Of the mean difference."""
        return (self.between + float((self.inside * (1 / self.n_a + 1 / self.n_b)).mean())) / self.size


def plan_repeats(
    rule: MetricRule, measured: Measured, pairing: Pairing, compared: MetricComparison, cost: Mapping[str, float]
) -> Plan:
    target, is_margin = _target(rule, measured, pairing, compared)
    spread = _spread(measured.tested[rule.name], measured.trials.scenario_ids, pairing)
    shown = change(target) if target is not None and rule.scale == "log" else target
    if not target:
        return Plan(shown, is_margin, why="no difference was seen, and no margin says what would matter")
    if spread.size < 2:
        return Plan(shown, is_margin, why="too few scenarios have a value on both sides")
    if not spread.known:
        extra = tuple(ExtraRepeats(scenario, 1) for scenario in spread.ids)
        why = "with one repeat nobody knows how much a scenario varies by itself: run each once more to learn it"
        return Plan(shown, is_margin, extra, 2 * spread.size, _cost(extra, cost), why)
    allowed = (target / reach(spread.size, compared.alpha)) ** 2
    needed = _scenarios_needed(spread, target, compared.alpha)
    if spread.between / spread.size >= allowed:
        why = "the scenarios themselves differ more than that: repeats cannot settle it, more scenarios can"
        return Plan(shown, is_margin, why=why, scenarios_needed=needed)
    chosen = _cheapest(spread, allowed, cost)
    if chosen is None:
        why = f"it would take more than {MOST_TRIALS} trials, or {MOST_REPEATS} more repeats of a scenario"
        return Plan(shown, is_margin, why=why, scenarios_needed=needed)
    trials = 2 * sum(one.repeats for one in chosen)
    return Plan(shown, is_margin, chosen, trials, _cost(chosen, cost), scenarios_needed=needed)


def _target(
    rule: MetricRule, measured: Measured, pairing: Pairing, compared: MetricComparison
) -> tuple[float | None, bool]:
    """On the scale of the test."""
    seen = compared.paired.difference
    if rule.scale == "log":
        seen = math.log(compared.ratio.value) if compared.ratio else None
    if rule.margin is None:
        return (None if seen is None else abs(seen)), False
    typical = measured.tested[rule.name].mean[pairing.a][pairing.paired]
    return scaled_margin(rule, typical[~np.isnan(typical)]), True


def _spread(found: Moments, ids: tuple[str, ...], pairing: Pairing) -> Spread:
    a, b = pairing.a, pairing.b
    both: Flags = pairing.paired & (found.n[a] > 0) & (found.n[b] > 0)
    n_a, n_b = found.n[a, both], found.n[b, both]
    squares, freedom = found.squares[a, both] + found.squares[b, both], n_a + n_b - 2
    pooled = float(squares.sum()) / max(1.0, float(freedom.sum()))
    inside = (squares + LEANING * pooled) / (freedom + LEANING)
    differences = found.mean[b, both] - found.mean[a, both]
    seen = float(differences.var(ddof=1)) if len(differences) > 1 else 0.0
    between = max(0.0, seen - float((inside * (1 / n_a + 1 / n_b)).mean())) if len(differences) else 0.0
    names = tuple(np.array(ids, dtype=object)[both])
    return Spread(names, n_a, n_b, inside, between, known=bool(freedom.sum() > 0))


def _cheapest(spread: Spread, allowed: float, cost: Mapping[str, float]) -> tuple[ExtraRepeats, ...] | None:
    """Always the repeat that takes most variance away for its cost; as the gains only shrink, no other choice of as
    much money takes more. None when it takes too many."""
    variance = spread.variance()
    extra, gain = [0] * spread.size, _gains(spread)
    queue = [(-gain(s, 0) / _each(spread, s, cost), s) for s in range(spread.size)]
    heapq.heapify(queue)
    for _ in range(MOST_TRIALS // 2 + 1):
        if variance <= allowed:
            return tuple(ExtraRepeats(spread.ids[s], count) for s, count in enumerate(extra) if count)
        if not queue:
            return None
        _, best = heapq.heappop(queue)
        variance -= gain(best, extra[best])
        extra[best] += 1
        if extra[best] < MOST_REPEATS:
            heapq.heappush(queue, (-gain(best, extra[best]) / _each(spread, best, cost), best))
    return None


def _gains(spread: Spread) -> Callable[[int, int], float]:
    """Of a scenario's place, and how many repeats it has been given: what one more on each side takes off the variance
    of the mean difference."""
    of_a, of_b, inside = spread.n_a.tolist(), spread.n_b.tolist(), (spread.inside / spread.size**2).tolist()

    def gain(s: int, extra: int) -> float:
        n_a, n_b = of_a[s] + extra, of_b[s] + extra
        return float(inside[s] * (1 / (n_a * (n_a + 1)) + 1 / (n_b * (n_b + 1))))

    return gain


def _each(spread: Spread, s: int, cost: Mapping[str, float]) -> float:
    return max(1e-9, cost.get(spread.ids[s], 1.0))


def _cost(extra: tuple[ExtraRepeats, ...], cost: Mapping[str, float]) -> float:
    return 2 * math.fsum(one.repeats * cost.get(one.scenario_id, 1.0) for one in extra)


def _scenarios_needed(spread: Spread, target: float, alpha: float) -> int | None:
    return scenarios_needed(math.sqrt(spread.variance() * spread.size), target, alpha)


def scenarios_needed(sd: float, target: float, alpha: float) -> int | None:
    """How many scenarios of this spread of differences let a paired t test find `target` 4 times in 5; None beyond
    10,000."""
    low, high = 2, MOST_SCENARIOS
    if reach(high, alpha) * sd / math.sqrt(high) > target:
        return None
    while low < high:
        middle = (low + high) // 2
        if reach(middle, alpha) * sd / math.sqrt(middle) <= target:
            high = middle
        else:
            low = middle + 1
    return low
