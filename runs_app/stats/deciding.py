"""Every metric of every pair: the test first, then Holm's levels over all that decide, then interval and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from runs_app.stats.logs import change, factor
from runs_app.stats.margins import Equivalence, Noise, detectable, noise_half, scaled_margin, two_one_sided
from runs_app.stats.moments import Moments, moments
from runs_app.stats.multiple import ALPHA, HolmStep, holm
from runs_app.stats.pair import Bounds, Measured, MetricComparison, Ratio
from runs_app.stats.paired import PairedDifference, paired_difference, sides, sign_flip_ps, t_interval
from runs_app.stats.pairing import Pairing
from runs_app.stats.rows import PASS_RATE, MetricRule
from runs_app.stats.summary import mean, standard_deviation
from runs_app.stats.testing import PairTest, deciding_p, pair_test
from runs_app.stats.trials import Ints, Trials
from runs_app.stats.verdict import Counted, Tested, decide

SAME: Final = 1e-9  # differences below it are rounding

Reasons = Mapping[str, str]  # metric -> why it says nothing about these two


@dataclass(frozen=True, eq=False)
class Counts:
    """Configurations x scenarios: all trials, those without a verdict, those that timed out."""

    trials: Ints
    missing: Ints
    timeouts: Ints

    def over(self, pairing: Pairing) -> Counted:
        both = [pairing.a, pairing.b]
        sums = [table[both][:, pairing.paired].sum(axis=1).tolist() for table in self.tables]
        (trials, missing, timeouts) = ((a, b) for a, b in sums)
        return Counted(trials, missing, timeouts)

    @property
    def tables(self) -> tuple[Ints, Ints, Ints]:
        return self.trials, self.missing, self.timeouts


@dataclass(frozen=True, eq=False)
class Worked:
    """One metric of one pair as far as it can be worked out alone. `flips` is filled in for all at once."""

    rule: MetricRule
    pairing: Pairing
    test: PairTest
    bounds: tuple[PairTest, ...]
    reason: str
    flips: float | None = None

    @property
    def p_value(self) -> float | None:
        return deciding_p(self.test, self.flips)

    @property
    def decides(self) -> bool:
        return self.rule.primary and not self.reason


@dataclass(frozen=True, eq=False)
class Judged:
    """Per pairing that is told: metric -> comparison. `family`: how many tests shared Holm's correction."""

    metrics: list[dict[str, MetricComparison]]
    family: int


def counts_of(trials: Trials) -> Counts:
    every = np.ones(len(trials.outcome), dtype=bool)
    return Counts(trials.count(every), trials.count(trials.missing), trials.count(trials.timed_out))


def measured_of(trials: Trials, rules: Sequence[MetricRule]) -> Measured:
    plain = {rule.name: moments(trials, trials.value(rule.name)) for rule in rules}
    logs = {rule.name: moments(trials, trials.tested(rule)) for rule in rules if rule.scale == "log"}
    return Measured(trials, plain, {**plain, **logs})


def judged(
    measured: Measured,
    rules: Sequence[MetricRule],
    pairings: Sequence[Pairing],
    reasons: Sequence[Reasons],
    told: Sequence[Pairing],
) -> Judged:
    """`reasons` has one entry per pairing. All pairings share Holm's correction; those to be told are worked out."""
    extremes = _extremes(measured.trials) if any(rule.name == PASS_RATE for rule in rules) else None
    worked = [
        _worked(measured, extremes, rule, pairing, why.get(rule.name, ""))
        for pairing, why in zip(pairings, reasons, strict=True)
        for rule in rules
    ]
    worked = _flipped(worked, told)
    steps = holm({place: one.p_value for place, one in enumerate(worked) if one.decides})
    counts = counts_of(measured.trials)
    found: dict[int, dict[str, MetricComparison]] = {id(pairing): {} for pairing in told}
    for place, one in enumerate(worked):
        if id(one.pairing) in found:
            step = steps.get(place, HolmStep(ALPHA, None, False))
            compared = _compared(measured, counts.over(one.pairing), one, step)
            found[id(one.pairing)][one.rule.name] = compared
    tested = sum(step.p_adjusted is not None for step in steps.values())
    return Judged([found[id(pairing)] for pairing in told], tested)


def _flipped(worked: Sequence[Worked], told: Sequence[Pairing]) -> list[Worked]:
    """With the sign flips of those that are told, and of those that rest on them."""
    wanted = {id(pairing) for pairing in told}
    asking = [one for one in worked if id(one.pairing) in wanted or one.test.method == "sign flips"]
    flips = dict(zip(map(id, asking), sign_flip_ps([one.test.differences for one in asking]), strict=True))
    return [replace(one, flips=flips.get(id(one))) for one in worked]


def _extremes(trials: Trials) -> tuple[Moments, Moments] | None:
    """The pass rates if every trial without a verdict had failed, and passed; None when all have one."""
    if not trials.missing.any():
        return None
    rates = trials.value(PASS_RATE)
    low, high = (moments(trials, np.where(trials.missing, rate, rates)) for rate in (0.0, 1.0))
    return low, high


def _worked(
    measured: Measured, extremes: tuple[Moments, Moments] | None, rule: MetricRule, pairing: Pairing, reason: str
) -> Worked:
    found, a, b, paired = measured.tested[rule.name], pairing.a, pairing.b, pairing.paired
    test = pair_test(rule, found, a, found, b, paired)
    bounds: tuple[PairTest, ...] = ()
    if rule.name == PASS_RATE and extremes is not None and _misses(measured.trials, pairing):
        low, high = extremes
        bounds = (pair_test(rule, high, a, low, b, paired), pair_test(rule, low, a, high, b, paired))
    return Worked(rule, pairing, test, bounds, reason)


def _misses(trials: Trials, pairing: Pairing) -> bool:
    own = np.concatenate([trials.own[pairing.a], trials.own[pairing.b]])
    return bool((trials.missing[own] & pairing.paired[trials.scenario[own]]).any())


def _compared(measured: Measured, counted: Counted, one: Worked, step: HolmStep) -> MetricComparison:
    rule, test = one.rule, one.test
    level = 1 - step.alpha
    centre = mean(test.differences)
    equivalence = _equivalence(rule, test)
    bounded = [(mean(bound.differences), _p_of(bound)) for bound in one.bounds]
    tested = Tested(
        n=len(test.differences),
        difference=centre,
        identical=test.sides.identical,
        p_value=one.p_value,
        alpha=step.alpha,
        stands=step.rejected,
        bounds=bounded,
        equivalent=equivalence.holds if equivalence else None,
        equivalent_at_worst=all(_within(rule, bound) for bound in one.bounds),
        small=_is_small(rule, test, centre),
    )
    better, worse, same = _directions(measured, one)
    return MetricComparison(
        metric=rule.name,
        paired=_in_its_unit(measured, one, level),
        ratio=_ratio(test, level) if rule.scale == "log" else None,
        p_adjusted=step.p_adjusted,
        verdict=decide(rule, tested, counted, not_comparable=one.reason),
        primary=rule.primary,
        method=test.method,
        fewest=test.fewest,
        alpha=step.alpha,
        p_value=one.p_value,
        equivalence=equivalence,
        bounds=_bounds(bounded),
        noise=_noise(measured, one),
        mde=_mde(rule, test, step.alpha),
        better=better,
        worse=worse,
        same=same,
    )


def _p_of(test: PairTest) -> float | None:
    return sign_flip_ps([test.differences])[0] if test.method == "sign flips" else test.p_value


def _bounds(bounded: Sequence[tuple[float | None, float | None]]) -> Bounds | None:
    if not bounded:
        return None
    (worst, _), (best, _) = bounded
    return None if worst is None or best is None else Bounds(worst, best)


def _in_its_unit(measured: Measured, one: Worked, level: float) -> PairedDifference:
    """In milliseconds too the verdict is the one of the logarithms; only the interval is their own."""
    own, interval = one.test.sides, one.test.interval(level)
    if one.rule.scale == "log":
        plain, pairing = measured.plain[one.rule.name], one.pairing
        own = sides(plain.mean[pairing.a], plain.mean[pairing.b], pairing.paired)
        interval = t_interval(own.differences, level)
    return paired_difference(own, level=level, interval=interval, p_value=one.test.p_value, flips=one.flips)


def _ratio(test: PairTest, level: float) -> Ratio | None:
    centre = mean(test.differences)
    if centre is None:
        return None
    low, high = test.interval(level)
    return Ratio(factor(centre), None if low is None else factor(low), None if high is None else factor(high))


def _margin(rule: MetricRule, test: PairTest) -> float | None:
    return scaled_margin(rule, test.sides.a) if len(test.differences) else None


def _is_small(rule: MetricRule, test: PairTest, centre: float | None) -> bool:
    margin = _margin(rule, test)
    return margin is not None and centre is not None and abs(centre) < margin


def _equivalence(rule: MetricRule, test: PairTest) -> Equivalence | None:
    margin = _margin(rule, test)
    if rule.margin is None or margin is None:
        return None
    found = _of_pairs(test) if test.table else two_one_sided(test.differences, margin)
    if found is None:
        return None
    low, high, p = found
    holds = -margin < low and high < margin
    least, most, low, high = (factor(end) if rule.scale == "log" else end for end in (-margin, margin, low, high))
    return Equivalence(rule.margin, least, most, low, high, p, holds)


def _of_pairs(test: PairTest) -> tuple[float, float, None] | None:
    """The 90 % interval with one repeat, which has no p of its own."""
    low, high = test.interval(0.90)
    return None if low is None or high is None else (low, high, None)


def _within(rule: MetricRule, bound: PairTest) -> bool:
    """Whether the margin still holds if the trials without a verdict had gone this way."""
    found = _equivalence(rule, bound)
    return bound.sides.identical or (found is not None and found.holds)


def _noise(measured: Measured, one: Worked) -> Noise | None:
    found, pairing = measured.tested[one.rule.name], one.pairing
    half = noise_half(found, pairing.a, found.n[pairing.b], pairing.paired)
    if half is None:
        return None
    return Noise(factor(-half), factor(half)) if one.rule.scale == "log" else Noise(-half, half)


def _mde(rule: MetricRule, test: PairTest, alpha: float) -> float | None:
    found = detectable(standard_deviation(test.differences), len(test.differences), alpha)
    return change(found) if found is not None and rule.scale == "log" else found


def _directions(measured: Measured, one: Worked) -> tuple[int, int, int]:
    """Paired scenarios that are better, worse and the same, in the metric's own unit."""
    means, pairing = measured.plain[one.rule.name].mean, one.pairing
    values = (means[pairing.b] - means[pairing.a])[pairing.paired]
    values = values[~np.isnan(values)]
    same = np.abs(values) < SAME
    higher = int((~same & (values > 0)).sum())
    lower = len(values) - int(same.sum()) - higher
    return (higher, lower, int(same.sum())) if one.rule.better == "higher" else (lower, higher, int(same.sum()))
