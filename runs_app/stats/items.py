"""What each scenario of a suite is good for: it always passes, always fails, is flaky, or tells agents apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from runs_app.stats.flags import posterior

Tag = Literal["discriminating", "flaky", "always fails", "always passes", "too few to tell", "no verdict"]

SURE: Final = 0.95  # that one configuration passes it less often than another


@dataclass(frozen=True)
class Counts:
    """Trials with a verdict of one scenario under one configuration."""

    passed: int
    n: int

    @property
    def rate(self) -> float:
        """Jeffreys' estimate: never 0 and never 1, however few trials there are."""
        return (self.passed + 0.5) / (self.n + 1)


@dataclass(frozen=True)
class Item:
    """`sure`: how likely the two configurations that differ most truly differ in their pass rate; null with fewer than
    two of them."""

    scenario_id: str
    tag: Tag
    passed: int
    n: int
    sure: float | None


def item(scenario_id: str, counts: Mapping[str, Counts]) -> Item:
    """`counts` by configuration; those without a trial say nothing."""
    seen = [one for one in counts.values() if one.n]
    passed, n = sum(one.passed for one in seen), sum(one.n for one in seen)
    sure = max((_sureness(a, b) for a, b in combinations(seen, 2)), default=None)
    return Item(scenario_id, _tag(seen, sure), passed, n, sure)


def _tag(seen: Sequence[Counts], sure: float | None) -> Tag:
    if not seen:
        return "no verdict"
    if all(one.passed == one.n for one in seen):
        return "always passes"
    if not any(one.passed for one in seen):
        return "always fails"
    if sure is not None and sure >= SURE:
        return "discriminating"
    return "flaky" if any(0 < one.passed < one.n for one in seen) else "too few to tell"


def _sureness(a: Counts, b: Counts) -> float:
    below = posterior(a.passed, a.n, b.passed, b.n)
    return max(below, 1 - below)


@dataclass(frozen=True)
class Candidate:
    """A scenario that may go into a smoke subset: its counts by configuration, and how long one trial takes."""

    scenario_id: str
    counts: Mapping[str, Counts]
    seconds: float


@dataclass(frozen=True)
class Pick:
    """`gain`: by how much the chance to mix up two configurations falls, summed over all pairs of them; with one
    configuration, the bits that its outcome says."""

    scenario_id: str
    seconds: float
    gain: float


def smoke_subset(candidates: Sequence[Candidate], *, seconds: float) -> list[Pick]:
    """Greedy: again and again the scenario that tells most per second of what still fits.

    Two configurations are told apart by a set of outcomes at least so well that mixing them up has a chance below
    exp(-D), where D sums -ln(sqrt(p q) + sqrt((1-p)(1-q))) over the set (Bhattacharyya). What the set tells already
    is told once: a second scenario that separates the same pair gains less.
    """
    keys = sorted({key for one in candidates for key in one.counts})
    pairs = list(combinations(keys, 2))
    distances = {one.scenario_id: _distances(one, pairs) for one in candidates}
    told, left, chosen = [0.0] * len(pairs), seconds, []
    open_ = {one.scenario_id: one for one in candidates if 0 < one.seconds <= seconds}
    while open_:
        gains = {name: _gain(one, told, distances[name]) for name, one in open_.items()}
        best = min(open_.values(), key=lambda one: (-gains[one.scenario_id] / one.seconds, one.scenario_id))
        chosen.append(Pick(best.scenario_id, best.seconds, gains[best.scenario_id]))
        told = [known + more for known, more in zip(told, distances[best.scenario_id], strict=True)]
        left -= best.seconds
        del open_[best.scenario_id]
        open_ = {name: one for name, one in open_.items() if one.seconds <= left}
    return chosen


def _distances(one: Candidate, pairs: Sequence[tuple[str, str]]) -> list[float]:
    nothing = Counts(0, 0)
    rates = [(one.counts.get(a, nothing).rate, one.counts.get(b, nothing).rate) for a, b in pairs]
    known = [one.counts.get(a, nothing).n and one.counts.get(b, nothing).n for a, b in pairs]
    return [
        -math.log(min(1.0, math.sqrt(p * q) + math.sqrt((1 - p) * (1 - q)))) if both else 0.0
        for (p, q), both in zip(rates, known, strict=True)
    ]


def _gain(one: Candidate, told: Sequence[float], distances: Sequence[float]) -> float:
    if told:
        return sum(math.exp(-known) * (1 - math.exp(-more)) for known, more in zip(told, distances, strict=True))
    return _bits(next(iter(one.counts.values()), Counts(0, 0)).rate)


def _bits(p: float) -> float:
    return -sum(share * math.log2(share) for share in (p, 1 - p))
