"""The verdict in words, given only where it is honest.

Better and Worse need a difference that stands at Holm's level and that trials without a verdict could not turn.
Equivalent needs a margin set beforehand, which a comparison does not have here. Everything else is "Can't tell", and
the reason says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runs_app.stats.multiple import ALPHA, HolmStep
from runs_app.stats.paired import PairedDifference, deciding_p
from runs_app.stats.rows import WITHOUT_VERDICT, MetricRule, TrialRow

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
MOST_MISSING: Final = 0.10  # of a side's trials; also the most that the sides may differ by
MOST_TIMEOUTS: Final = 0.10  # of a side's trials, for a metric of time


@dataclass(frozen=True)
class Verdict:
    """What B is against A. `small`: Better or Worse, by less than the margin. `code`: the reason for machines."""

    word: Word
    reason: str
    code: Code = "undecided"
    small: bool = False


def comparability(shared: int, changed: int) -> str:
    """Why two configurations cannot be compared at all; empty when they can."""
    if not shared:
        return "no scenario was run by both"
    if changed > MOST_CHANGED * shared:
        return f"{changed} of {shared} shared scenarios differ in content"
    return ""


def decide(
    rule: MetricRule,
    tested: PairedDifference,
    step: HolmStep,
    rows_a: Sequence[TrialRow],
    rows_b: Sequence[TrialRow],
    *,
    bounds: Sequence[PairedDifference] = (),
    not_comparable: str = "",
) -> Verdict:
    if not_comparable:
        return Verdict("Not comparable", not_comparable)
    doubt = _doubt(rule, tested, rows_a, rows_b)
    if doubt:
        return Verdict("Can't tell", doubt)
    word = _word(rule, tested, stands=step.rejected)
    at_worst = {_word(rule, bound, stands=(deciding_p(bound) or 1.0) <= step.alpha) for bound in bounds}
    if at_worst - {word}:
        return Verdict("Can't tell", "trials without a verdict could turn it")
    return Verdict(word, _reason(tested, step, word))


def _doubt(rule: MetricRule, tested: PairedDifference, rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow]) -> str:
    if tested.n == 0:
        return "no scenario has a value on both sides"
    if tested.identical:
        return f"identical in all {tested.n} scenarios" if tested.n > 1 else "identical, in one scenario"
    if tested.n < 2:
        return "one scenario alone has no interval"
    return _missing_doubt(rows_a, rows_b) or _timeout_doubt(rule, rows_a, rows_b)


def _missing_doubt(rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow]) -> str:
    missing_a, missing_b = (sum(row.outcome in WITHOUT_VERDICT for row in rows) for rows in (rows_a, rows_b))
    share = max(missing_a / len(rows_a), missing_b / len(rows_b))
    if share > MOST_MISSING:
        return f"{share:.0%} of a side's trials have no verdict"
    if fisher_p(missing_a, len(rows_a), missing_b, len(rows_b)) < ALPHA:
        return "the sides differ in how many trials have no verdict"
    return ""


def _timeout_doubt(rule: MetricRule, rows_a: Sequence[TrialRow], rows_b: Sequence[TrialRow]) -> str:
    share = max(sum(row.timed_out for row in rows) / len(rows) for rows in (rows_a, rows_b))
    if rule.scale == "log" and share > MOST_TIMEOUTS:
        return f"{share:.0%} of a side's trials timed out"
    return ""


def fisher_p(hits_a: int, n_a: int, hits_b: int, n_b: int) -> float:
    """Fisher's exact test, two-sided: tables no more likely than the one seen."""
    hits, total = hits_a + hits_b, math.comb(n_a + n_b, hits_a + hits_b)
    ways = [math.comb(n_a, k) * math.comb(n_b, hits - k) for k in range(hits + 1)]
    seen = ways[hits_a]
    return min(1.0, sum(way for way in ways if way <= seen * (1 + 1e-9)) / total)


def _word(rule: MetricRule, difference: PairedDifference, *, stands: bool) -> Word:
    if not stands or not difference.difference:
        return "Can't tell"
    return "Better" if (difference.difference > 0) == (rule.better == "higher") else "Worse"


def _reason(difference: PairedDifference, step: HolmStep, word: Word) -> str:
    p = deciding_p(difference)
    if p is None:
        return f"no test for {difference.n} scenarios"
    judged = "stands at" if word != "Can't tell" else "does not stand at"
    return f"p {p:.3g} over {difference.n} scenarios {judged} {step.alpha:.3g} (Holm)"
