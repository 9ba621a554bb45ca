"""The verdict in words, by one rule, given only where it is honest.

Better and Worse need a difference that stands at Holm's level and that trials without a verdict could not turn.
Equivalent needs a margin set beforehand and an interval inside it. Everything else is "Can't tell", and the reason
says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.special import gammaln

from runs_app.stats.multiple import ALPHA
from runs_app.stats.rows import MetricRule

Word = Literal["Better", "Worse", "Equivalent", "Can't tell", "Not comparable"]
Code = Literal[
    "decided",  # Better, Worse or Equivalent by the rule
    "undecided",  # the interval holds 0
    "exploratory",  # not a primary metric
    "nothing",  # no scenario has a value on both sides
    "identical",
    "one_scenario",
    "missing",  # too many trials without a verdict, or unequally many
    "timeouts",
    "bounds",  # trials without a verdict could turn it
    "not_comparable",
]

MOST_CHANGED: Final = 0.20  # of the shared scenarios
MOST_MISSING: Final = 0.10  # of a side's trials; so the sides cannot differ by more than 10 points either
MOST_TIMEOUTS: Final = 0.10  # of a side's trials, for a metric of time


@dataclass(frozen=True)
class Verdict:
    """What B is against A. `small`: Better or Worse, by less than the margin. `code`: the reason for machines."""

    word: Word
    reason: str
    code: Code = "undecided"
    small: bool = False


TURNS: Final = Verdict("Can't tell", "trials without a verdict could turn it", "bounds")


@dataclass(frozen=True)
class Counted:
    """Of both sides, over the paired scenarios: all trials, those without a verdict, those that timed out."""

    trials: tuple[int, int]
    missing: tuple[int, int]
    timeouts: tuple[int, int]


@dataclass(frozen=True)
class Tested:
    """What the rule looks at, on the scale that the test was made on.

    `bounds`: the same test if every trial without a verdict had gone against B, and for it, as (difference, p).
    `equivalent`: whether the 90 % interval lies inside the margin; null without one. `equivalent_at_worst`: at those
    bounds too. `small`: the difference lies inside.
    """

    n: int
    difference: float | None
    identical: bool
    p_value: float | None
    alpha: float
    stands: bool
    bounds: Sequence[tuple[float | None, float | None]] = ()
    equivalent: bool | None = None
    equivalent_at_worst: bool = True
    small: bool = False


def comparability(shared: int, changed: int) -> str:
    """Why two configurations cannot be compared at all; empty when they can."""
    if not shared:
        return "no scenario was run by both"
    if changed > MOST_CHANGED * shared:
        return f"{changed} of {shared} shared scenarios differ in content"
    return ""


def decide(rule: MetricRule, tested: Tested, counted: Counted, *, not_comparable: str = "") -> Verdict:
    """The one rule of the house: whoever gives a verdict asks here."""
    if not_comparable:
        return Verdict("Not comparable", not_comparable, "not_comparable")
    doubt = _doubt(rule, tested, counted)
    if doubt is not None:
        return doubt
    if not rule.primary:
        return Verdict("Can't tell", _exploratory(rule, tested), "exploratory")
    word = _word(rule, tested.difference, stands=tested.stands)
    at_worst = {_word(rule, difference, stands=_stands(p, tested.alpha)) for difference, p in tested.bounds}
    if at_worst - {word}:
        return TURNS
    if word != "Can't tell":
        return Verdict(word, _reason(tested, "stands at"), "decided", small=tested.small)
    return _equivalent(tested) or Verdict("Can't tell", _reason(tested, "does not stand at"), "undecided")


def _stands(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha


def _doubt(rule: MetricRule, tested: Tested, counted: Counted) -> Verdict | None:
    if tested.n == 0:
        return Verdict("Can't tell", "no scenario has a value on both sides", "nothing")
    doubt = _missing_doubt(rule, counted)
    if tested.identical:
        where = f"identical in all {tested.n} scenarios" if tested.n > 1 else "identical, in one scenario"
        return (None if doubt or not rule.primary else _equivalent(tested)) or Verdict("Can't tell", where, "identical")
    if tested.n < 2:
        return Verdict("Can't tell", "one scenario alone has no interval", "one_scenario")
    return doubt


def _equivalent(tested: Tested) -> Verdict | None:
    if not tested.equivalent:
        return None
    if not tested.equivalent_at_worst:
        return TURNS
    return Verdict("Equivalent", f"the 90 % interval over {tested.n} scenarios lies inside the margin", "decided")


def _missing_doubt(rule: MetricRule, counted: Counted) -> Verdict | None:
    (all_a, all_b), (missing_a, missing_b) = counted.trials, counted.missing
    share = max(missing_a / all_a, missing_b / all_b)
    if share > MOST_MISSING:
        return Verdict("Can't tell", f"{share:.0%} of a side's trials have no verdict", "missing")
    if missing_a + missing_b and fisher_p(missing_a, all_a, missing_b, all_b) < ALPHA:
        return Verdict("Can't tell", "the sides differ in how many trials have no verdict", "missing")
    late = max(counted.timeouts[0] / all_a, counted.timeouts[1] / all_b)
    if rule.scale == "log" and late > MOST_TIMEOUTS:
        return Verdict("Can't tell", f"{late:.0%} of a side's trials timed out", "timeouts")
    return None


def fisher_p(hits_a: int, n_a: int, hits_b: int, n_b: int) -> float:
    """Fisher's exact test, two-sided: tables no more likely than the one seen."""
    hits = hits_a + hits_b
    k = np.arange(max(0, hits - n_b), min(n_a, hits) + 1)
    ways = np.exp(_log_ways(n_a, k) + _log_ways(n_b, hits - k) - _log_ways(n_a + n_b, np.array(hits)))
    seen = ways[hits_a - k[0]]
    return float(min(1.0, ways[ways <= seen * (1 + 1e-7)].sum()))


def _log_ways(n: int, k: np.ndarray) -> np.ndarray:
    """Logarithm of n over k."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _word(rule: MetricRule, difference: float | None, *, stands: bool) -> Word:
    if not stands or not difference:
        return "Can't tell"
    return "Better" if (difference > 0) == (rule.better == "higher") else "Worse"


def _reason(tested: Tested, judged: str) -> str:
    if tested.p_value is None:
        return f"no test for {tested.n} scenarios"
    return f"p {tested.p_value:.3g} over {tested.n} scenarios {judged} {tested.alpha:.3g} (Holm)"


def _exploratory(rule: MetricRule, tested: Tested) -> str:
    p = "no p" if tested.p_value is None else f"p {tested.p_value:.3g}, not corrected"
    return f"{rule.name} is not among the primary metrics chosen before the start, so it decides nothing ({p})"
