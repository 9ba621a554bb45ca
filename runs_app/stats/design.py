"""What a design can see before it is run: the smallest difference, by how much earlier trials differed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from runs_app.stats.logs import change
from runs_app.stats.margins import detectable, scaled_margin
from runs_app.stats.moments import Moments
from runs_app.stats.multiple import ALPHA
from runs_app.stats.planning import scenarios_needed
from runs_app.stats.rows import MetricRule

Bound = Literal["", "at least", "at most"]


@dataclass(frozen=True)
class Variances:
    """`inside`: of repeats within a scenario on one side, null where nothing was repeated; `between`: of the true
    differences of two configurations, null where no two met in two scenarios. Without `inside`, `between` still holds
    the luck of single repeats."""

    inside: float | None
    between: float | None


@dataclass(frozen=True)
class Design:
    """`tests` share the level: the metrics that decide, times the configurations beside the baseline."""

    scenarios: int
    repeats: int
    tests: int = 1


@dataclass(frozen=True)
class Foreseen:
    """`smallest` true difference that is found 4 times in 5, in the unit of the metric; of a log metric as a share.

    `bound`: it is at least or at most that, as a variance is not known. Null with a `why`. `needed`: how many
    scenarios would see the margin, where this design does not (null: it does, none was set, or beyond 10,000);
    `sees_margin` is null without a margin.
    """

    metric: str
    smallest: float | None
    bound: Bound = ""
    why: str = ""
    sees_margin: bool | None = None
    needed: int | None = None


def variances(found: Moments) -> Variances:
    """Pooled over all configurations, and over all their pairs."""
    freedom = float((found.n[found.n > 0] - 1).sum())
    inside = float(found.squares.sum()) / freedom if freedom else None
    total, weights = 0.0, 0
    for a, b in combinations(range(len(found.n)), 2):
        both = (found.n[a] > 0) & (found.n[b] > 0)
        if (scenarios := int(both.sum())) < 2:
            continue
        differences = found.mean[b, both] - found.mean[a, both]
        luck = (inside or 0.0) * float((1 / found.n[a, both] + 1 / found.n[b, both]).mean())
        total += (scenarios - 1) * (float(differences.var(ddof=1)) - luck)
        weights += scenarios - 1
    return Variances(inside, max(0.0, total / weights) if weights else None)


def foresee(rule: MetricRule, found: Moments, design: Design) -> Foreseen:
    """`found`: of earlier trials, on the scale that the rule is tested on."""
    if design.scenarios < 2:
        return Foreseen(rule.name, None, why="one scenario alone cannot tell")
    if not found.n.any():
        return Foreseen(rule.name, None, why="not known yet: no earlier trial has a value")
    known = variances(found)
    if known.inside is None and known.between is None:
        return Foreseen(rule.name, None, why="not known yet: nothing was run twice so far")
    sd = math.sqrt((known.between or 0.0) + 2 * (known.inside or 0.0) / design.repeats)
    level = ALPHA / design.tests  # Bonferroni, the first step of Holm
    smallest = detectable(sd, design.scenarios, level)
    if smallest is None:
        return Foreseen(rule.name, None, why="not known yet: earlier trials did not differ")
    shown = change(smallest) if rule.scale == "log" else smallest
    margin = scaled_margin(rule, found.mean[found.n > 0])
    sees = None if margin is None else smallest <= margin
    needed = scenarios_needed(sd, margin, level) if margin is not None and not sees else None
    return Foreseen(rule.name, shown, _bound(known), sees_margin=sees, needed=needed)


def _bound(known: Variances) -> Bound:
    if known.between is None:
        return "at least"
    return "at most" if known.inside is None else ""
