"""What each scenario of a suite is good for: it always passes, always fails, is flaky, or tells agents apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

import numpy as np

from runs_app.stats.flags import posterior
from runs_app.stats.trials import Floats

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
    """`sure`: how likely the two configurations that differ most truly differ in their pass rate, less what looking at
    so many pairs finds by luck (Bonferroni); null with fewer than two configurations."""

    scenario_id: str
    tag: Tag
    passed: int
    n: int
    sure: float | None


def item(scenario_id: str, counts: Mapping[str, Counts]) -> Item:
    """`counts` by configuration; those without a trial say nothing."""
    seen = [one for one in counts.values() if one.n]
    passed, n = sum(one.passed for one in seen), sum(one.n for one in seen)
    sure = _surest([_sureness(a, b) for a, b in combinations(seen, 2)])
    return Item(scenario_id, _tag(seen, sure), passed, n, sure)


def _surest(pairs: Sequence[float]) -> float | None:
    """Of ten configurations that are alike some two nearly always look as if they were not."""
    return max(0.0, 1 - len(pairs) * (1 - max(pairs))) if pairs else None


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
    open_ = sorted((one for one in candidates if 0 < one.seconds <= seconds), key=lambda one: one.scenario_id)
    keys = sorted({key for one in candidates for key in one.counts})
    pairs = list(combinations(range(len(keys)), 2))
    distances = _distances(open_, keys, pairs)
    parts = 1 - np.exp(-distances)
    worth = np.array([_bits(next(iter(one.counts.values()), Counts(0, 0)).rate) for one in open_])
    took = np.array([one.seconds for one in open_])
    told, left, chosen, is_open = np.zeros(len(pairs)), seconds, [], np.ones(len(open_), dtype=bool)
    while is_open.any():
        gains = parts @ np.exp(-told) if pairs else worth
        best = int(np.argmax(np.where(is_open, gains / took, -1.0)))
        chosen.append(Pick(open_[best].scenario_id, open_[best].seconds, float(gains[best])))
        told, left = told + distances[best], left - open_[best].seconds
        is_open[best] = False
        is_open &= took <= left
    return chosen


def _distances(candidates: Sequence[Candidate], keys: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Floats:
    """Candidates x pairs of configurations; 0 where one of the two never ran the scenario."""
    if not pairs:
        return np.zeros((len(candidates), 0))
    nothing = Counts(0, 0)
    listed = [[one.counts.get(key, nothing) for key in keys] for one in candidates]
    rates = np.array([[one.rate for one in row] for row in listed]).reshape(len(candidates), len(keys))
    known = np.array([[one.n > 0 for one in row] for row in listed], dtype=bool).reshape(rates.shape)
    first, second = np.array(pairs).T
    p, q = rates[:, first], rates[:, second]
    alike = np.sqrt(p * q) + np.sqrt((1 - p) * (1 - q))
    return np.where(known[:, first] & known[:, second], -np.log(np.minimum(1.0, alike)), 0.0)


def _bits(p: float) -> float:
    return -sum(share * math.log2(share) for share in (p, 1 - p))
