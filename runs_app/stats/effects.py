"""What each factor of a configuration does by itself, from a matrix of configurations over the same scenarios.

Only configurations that differ in one factor and agree in all others tell of it: their difference is taken scenario by
scenario, averaged over all such pairs, and the scenarios are the sample of a t interval. An interaction is the
difference of two such differences. Intervals are at 95 % each and carry no verdict: they are many, and nobody chose
them before the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from runs_app.stats.paired import t_interval
from runs_app.stats.summary import mean

LEVEL: Final = 0.95
Values = Mapping[str, Mapping[str, float]]  # configuration -> scenario -> mean over its repeats
Levels = Mapping[str, tuple[str, ...]]  # configuration -> level of each factor


@dataclass(frozen=True)
class Change:
    """A factor (its place among the factors) that goes from one level to another."""

    factor: int
    before: str
    after: str


@dataclass(frozen=True)
class Effect:
    """Of one change, or of two together beyond the sum of both. `value` and its interval are null where nothing tells
    it: `contrasts` counts the pairs (for two changes: squares) of configurations behind it, `scenarios` the sample."""

    changes: tuple[Change, ...]
    value: float | None
    low: float | None
    high: float | None
    contrasts: int
    scenarios: int


def factor_effects(values: Values, levels: Levels, baseline: str, *, fewest: int = 2) -> list[Effect]:
    """Main effects against the baseline's level of each factor, then the interactions of two of them.

    A change that no pair of configurations shows by itself is listed without a value; an interaction without a square
    is left out. Of fewer than `fewest` scenarios there is no interval.
    """
    changes = _changes(levels, baseline)
    mains = [_main(change, values, levels) for change in changes]
    pairs = [(one, other) for one, other in combinations(changes, 2) if one.factor != other.factor]
    both = [_interaction(one, other, values, levels) for one, other in pairs]
    found = [*mains, *(effect for effect in both if effect.contrasts)]
    return [effect if effect.scenarios >= fewest else replace(effect, low=None, high=None) for effect in found]


def _changes(levels: Levels, baseline: str) -> list[Change]:
    before = levels[baseline]
    return [
        Change(factor, before[factor], after)
        for factor in range(len(before))
        for after in dict.fromkeys(level[factor] for level in levels.values())
        if after != before[factor]
    ]


def _main(change: Change, values: Values, levels: Levels) -> Effect:
    pairs = [
        (key, other)
        for key, level in levels.items()
        if level[change.factor] == change.before
        for other in _at(levels, _moved(level, change))
    ]
    per_pair = [_difference(values[other], values[key]) for key, other in pairs]
    return _effect((change,), per_pair)


def _interaction(one: Change, other: Change, values: Values, levels: Levels) -> Effect:
    squares = []
    for key, level in levels.items():
        if level[one.factor] != one.before or level[other.factor] != other.before:
            continue
        corners = [
            _at(levels, _moved(level, one)),
            _at(levels, _moved(level, other)),
            _at(levels, _moved(_moved(level, one), other)),
        ]
        squares += [(key, a, b, both) for a in corners[0] for b in corners[1] for both in corners[2]]
    per_square = [
        _difference(_difference(values[both], values[b]), _difference(values[a], values[key]))
        for key, a, b, both in squares
    ]
    return _effect((one, other), per_square)


def _moved(level: tuple[str, ...], change: Change) -> tuple[str, ...]:
    return (*level[: change.factor], change.after, *level[change.factor + 1 :])


def _at(levels: Levels, wanted: tuple[str, ...]) -> list[str]:
    return [key for key, level in levels.items() if level == wanted]


def _difference(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The first minus the second, over the scenarios that both have."""
    return {scenario: one[scenario] - other[scenario] for scenario in one.keys() & other.keys()}


def _effect(changes: tuple[Change, ...], contrasts: Sequence[Mapping[str, float]]) -> Effect:
    scenarios = sorted({scenario for contrast in contrasts for scenario in contrast})
    each = [mean([contrast[scenario] for contrast in contrasts if scenario in contrast]) for scenario in scenarios]
    known = [value for value in each if value is not None]
    low, high = t_interval(known, LEVEL)
    return Effect(changes, mean(known), low, high, len(contrasts), len(known))
