"""Examples whose answers are worked out by hand, from the trials to the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats

from runs_app.stats.comparison import Comparison, compare
from runs_app.stats.estimate import BEING_COMPUTED, CENSORED, TOO_FEW
from runs_app.stats.flags import posterior, row_flags
from runs_app.stats.margins import detectable, two_one_sided
from runs_app.stats.multiple import benjamini_hochberg
from runs_app.stats.paired import mcnemar_p
from runs_app.stats.planning import scenarios_needed
from runs_app.stats.rates import newcombe_paired
from runs_app.stats.rows import LATENCY, PASS_RATE, PRIMARY, TrialRow
from runs_app.stats.survival import Rank, quantile
from runs_app.stats.tails import TailInputs, bootstrap_tails, tails_with
from runs_app.stats.trials import trials_of

QUALITY = "semantic_quality"
A = [0.50, 0.75, 0.50, 1.00, 0.25, 0.75, 0.50, 0.75]
B = [0.75, 0.75, 0.75, 1.00, 0.50, 1.00, 0.75, 0.75]  # B - A: .25 0 .25 0 .25 .25 .25 0


def rows(key: str, values: Sequence[Sequence[float]], **more: Any) -> list[TrialRow]:
    """One list of repeats per scenario."""
    return [
        TrialRow(f"s{n:02}", more.get("run_hash", "h"), key, r + 1, "passed", metrics={QUALITY: value})
        for n, repeats in enumerate(values)
        for r, value in enumerate(repeats)
    ]


def passes(key: str, text: str) -> list[TrialRow]:
    """`"pfi pp"`: a word per scenario, a letter per repeat: passed, failed, invalid."""
    names = {"p": "passed", "f": "failed", "i": "invalid"}
    return [
        TrialRow(f"s{n:02}", "h", key, r + 1, names[letter])
        for n, word in enumerate(text.split())
        for r, letter in enumerate(word)
    ]


def of(found: list[TrialRow], **options: Any) -> Comparison:
    return compare(trials_of(found, configurations=("A", "B")), **options)


def test_invalid_trials_that_could_leave_the_margin_withhold_equivalent() -> None:
    """19 of 20 scenarios have a verdict, D = .25 / 19; with the invalid one against B and for it -.0375 and .0625."""
    a, b = "iiii " + "pppp " * 18 + "pppf", "iiii " + "pppp " * 19

    def verdict(a: str, b: str) -> tuple[str, str]:
        found = of(passes("A", a) + passes("B", b), rules=PRIMARY[:1], margins={PASS_RATE: 0.05})
        one = found.pair("A", "B").metrics[PASS_RATE]
        assert one.equivalence is not None
        assert one.equivalence.holds
        return one.verdict.word, one.verdict.code

    assert verdict(a, b) == ("Can't tell", "bounds")
    assert verdict(a.replace("i", "p"), b.replace("i", "p")) == ("Equivalent", "decided")


def test_a_difference_and_its_interval() -> None:
    """D = 1.25 / 8; the squared deviations sum to 8 x .0234375 - ... = .1171875, so sd = .12938, SE = .045744;
    t(.975, 7) = 2.36462: .15625 -+ .10817."""
    found = of(rows("A", [[x] for x in A]) + rows("B", [[x] for x in B]), rules=PRIMARY[1:2]).pair("A", "B")
    metric = found.metrics[QUALITY]
    paired = metric.paired
    assert (paired.n, paired.difference) == (8, 0.15625)
    assert paired.sd == pytest.approx(0.129387, abs=1e-6)
    assert (paired.low, paired.high) == (pytest.approx(0.04808, abs=1e-5), pytest.approx(0.26442, abs=1e-5))
    assert paired.p_value == pytest.approx(0.01116, abs=1e-4)
    # of the 2^5 sign patterns of the five that differ, two reach the sum
    assert paired.sign_flip_p == 2 / 32
    assert (metric.verdict.word, metric.method) == ("Better", "paired t")
    assert (metric.better, metric.worse, metric.same) == (5, 0, 3)
    assert metric.mde == pytest.approx((2.36462 + 0.89603) * 0.129387 / math.sqrt(8), abs=1e-5)


def test_a_margin_makes_better_small_or_the_two_equivalent() -> None:
    found = rows("A", [[x] for x in A]) + rows("B", [[x] for x in B])
    wide = of(found, rules=PRIMARY[1:2], margins={QUALITY: 0.3}).pair("A", "B").metrics[QUALITY]
    assert (wide.verdict.word, wide.verdict.small) == ("Better", True)
    nearly = rows("B", [[x + d] for x, d in zip(A, [0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0, 0.01], strict=True)])
    close = of(rows("A", [[x] for x in A]) + nearly, rules=PRIMARY[1:2], margins={QUALITY: 0.03}).pair("A", "B")
    assert close.metrics[QUALITY].verdict.word == "Equivalent"
    assert close.metrics[QUALITY].equivalence is not None
    # 90 %: .00125 -+ 1.8946 x .013562 / sqrt(8)
    assert close.metrics[QUALITY].equivalence.high == pytest.approx(0.01034, abs=1e-5)
    strict = of(rows("A", [[x] for x in A]) + nearly, rules=PRIMARY[1:2], margins={QUALITY: 0.01}).pair("A", "B")
    assert strict.metrics[QUALITY].verdict.word == "Can't tell"


def test_unequal_repeats_are_averaged_first() -> None:
    found = of(rows("A", [[0.5, 1.0], [0.25]]) + rows("B", [[1.0], [0.5, 0.5, 0.5]])).pair("A", "B").metrics[QUALITY]
    assert (found.paired.mean_a, found.paired.mean_b, found.paired.difference) == (0.5, 0.75, 0.25)
    assert found.paired.n == 2


def test_one_repeat_is_mcnemars_with_newcombes_interval() -> None:
    """Of 40 pass 8 on A alone, 1 on B alone: p = 2 (C(9,0) + C(9,1)) / 2^9 = 20 / 512."""
    a, b = "p " * 8 + "f " + "p " * 29 + "f " * 2, "f " * 8 + "p " + "p " * 29 + "f " * 2
    metric = of(passes("A", a) + passes("B", b), rules=PRIMARY[:1]).pair("A", "B").metrics[PASS_RATE]
    assert (metric.method, metric.p_value) == ("exact McNemar", 20 / 512)
    assert metric.verdict.word == "Worse"
    assert metric.paired.difference == pytest.approx(-7 / 40)
    table = newcombe_paired(29, 8, 1, 2, 1.959964)
    assert (metric.paired.low, metric.paired.high) == (pytest.approx(table.low), pytest.approx(table.high))


def test_with_one_repeat_an_interval_and_equivalent_need_forty_scenarios() -> None:
    for scenarios, has_one in ((39, False), (40, True)):
        a, b = "p " * (scenarios - 1) + "f", "p " * scenarios
        found = of(passes("A", a) + passes("B", b), rules=PRIMARY[:1], margins={PASS_RATE: 0.9}).pair("A", "B")
        metric = found.metrics[PASS_RATE]
        assert metric.p_value == 1.0
        assert (metric.paired.low is not None) is has_one
        assert (metric.equivalence is not None) is has_one
        assert metric.verdict.word == ("Equivalent" if has_one else "Can't tell")


@pytest.mark.parametrize(("scenarios", "has_one"), [(11, False), (12, True)])
def test_what_is_counted_has_an_interval_of_twelve_scenarios_and_a_verdict_of_fewer(
    scenarios: int, has_one: bool
) -> None:
    """Nine of the scenarios pass half as often on A: the verdict goes by p. A score that is not counted has its
    interval, however few they are."""
    a, b = "pf " * 9 + "pp " * (scenarios - 9), "pp " * scenarios
    counted = of(passes("A", a) + passes("B", b), rules=PRIMARY[:1]).pair("A", "B").metrics[PASS_RATE]
    assert (counted.fewest, counted.method, counted.verdict.word) == (12, "paired t", "Better")
    assert (counted.paired.low is not None) is (counted.paired.high is not None) is has_one
    if has_one:
        by_scipy = scipy.stats.ttest_1samp([0.5] * 9 + [0.0] * 3, 0).confidence_interval(0.95)
        assert (counted.paired.low, counted.paired.high) == pytest.approx(tuple(by_scipy))
    graded = of(rows("A", [[x] for x in A]) + rows("B", [[x] for x in B])).pair("A", "B").metrics[QUALITY]
    assert graded.paired.low is not None


def test_mcnemar_is_scipys_binomial_test() -> None:
    for one, other in ((0, 5), (8, 1), (10, 10), (3, 4)):
        assert mcnemar_p(one, other) == pytest.approx(scipy.stats.binomtest(one, one + other).pvalue)


def test_newcombes_interval_by_hand() -> None:
    """n = 20: A passes 17, B 10. Wilson: A .63962 to .94758 of .85, B .29929 to .70071 of .5. phi: 9 x 2 - 8 x 1 = 10,
    less n / 2 is 0. Below: sqrt(.20071^2 + .09758^2), above: sqrt(.20071^2 + .21038^2)."""
    found = newcombe_paired(9, 8, 1, 2, 1.959964)
    assert found.low == pytest.approx(-0.35 - math.hypot(0.20071, 0.09758), abs=1e-4)
    assert found.high == pytest.approx(-0.35 + math.hypot(0.20071, 0.21038), abs=1e-4)


def test_a_better_mean_with_a_critical_scenario_that_newly_always_fails() -> None:
    a, b = "pp fp fp fp fp fp fp ff", "ff pp pp pp pp pp pp pf"
    found = of(passes("A", a) + passes("B", b), rules=PRIMARY[:1], critical={"s00", "s07"}).pair("A", "B")
    assert found.metrics[PASS_RATE].paired.difference == pytest.approx(3 / 16 * 2 - 1 / 8 + 1 / 16)
    assert found.critical == ("s00",)  # s07 failed always before and no longer does


def test_invalid_trials_that_could_flip_the_verdict_withhold_it() -> None:
    """B lost one of its twenty: passed in all others that A failed. Had it failed, p would be .07 instead of .03."""
    a = passes("A", "f " * 6 + "p " * 14)
    whole = of(a + passes("B", "p " * 20), rules=PRIMARY[:1]).pair("A", "B").metrics[PASS_RATE]
    assert (whole.verdict.word, whole.p_value, whole.bounds) == ("Better", 2 / 64, None)
    lost = of(a + passes("B", "p " * 19 + "i"), rules=PRIMARY[:1]).pair("A", "B").metrics[PASS_RATE]
    assert (lost.verdict.word, lost.verdict.code) == ("Can't tell", "bounds")
    assert lost.bounds is not None
    assert (lost.bounds.worst, lost.bounds.best) == (pytest.approx(5 / 20), pytest.approx(6 / 20))


def test_the_noise_band_is_what_splitting_the_repeats_in_two_shows() -> None:
    rng = np.random.default_rng(5)
    values = [list(0.5 + 0.1 * n / 20 + rng.normal(0, 0.1, 6)) for n in range(20)]
    noise = of(rows("A", values) + rows("B", values), rules=PRIMARY[1:2]).pair("A", "B").metrics[QUALITY].noise
    assert noise is not None
    split = []
    for _ in range(4000):
        halves = np.array([rng.permutation(repeats) for repeats in values])
        split.append((halves[:, :3].mean(axis=1) - halves[:, 3:].mean(axis=1)).mean())
    # halves have half the repeats that the comparison has: their differences are sqrt(2) wider
    assert np.quantile(np.abs(split), 0.95) / math.sqrt(2) == pytest.approx(noise.high, rel=0.06)


def test_what_a_design_sees_and_needs() -> None:
    """Differences with sd .2, 20 scenarios: (2.09302 + .86095) x .2 / sqrt(20)."""
    assert detectable(0.2, 20, 0.05) == pytest.approx(0.13210, abs=1e-4)
    assert scenarios_needed(0.2, 0.1322, 0.05) == 20
    assert scenarios_needed(0.2, 0.1320, 0.05) == 21
    assert scenarios_needed(0.2, 1e-6, 0.05) is None


def test_extra_repeats_go_where_the_noise_is_until_the_margin_can_be_seen() -> None:
    steady, shaky = [0.5, 0.5, 0.5, 0.5], [0.1, 0.9, 0.2, 0.8]
    a = rows("A", [steady] * 10 + [shaky] * 2)
    b = rows("B", [[0.52] * 4] * 10 + [[0.9, 0.1, 0.9, 0.2]] * 2)
    found = of(a + b, rules=PRIMARY[1:2], margins={QUALITY: 0.06})
    plan = found.plan("A", "B", QUALITY)
    assert (plan.target, plan.is_margin, plan.why) == (0.06, True, "")
    most = sorted(plan.extra, key=lambda one: -one.repeats)
    assert {one.scenario_id for one in most[:2]} == {"s10", "s11"}
    assert plan.trials == 2 * sum(one.repeats for one in plan.extra)
    dear = found.plan("A", "B", QUALITY, {"s10": 100.0})
    assert max(dear.extra, key=lambda one: one.repeats).scenario_id == "s11"
    hopeless = of(rows("A", [[0.2, 0.2], [0.8, 0.8], [0.5, 0.5]]) + rows("B", [[0.8, 0.8], [0.3, 0.3], [0.5, 0.5]]))
    assert "more scenarios can" in hopeless.plan("A", "B", QUALITY).why
    once = of(rows("A", [[x] for x in A]) + rows("B", [[x] for x in B])).plan("A", "B", QUALITY)
    assert "with one repeat" in once.why
    assert (len(once.extra), once.trials) == (8, 16)


def test_two_one_sided_tests_are_scipys() -> None:
    values = np.array(B) - np.array(A)
    found = two_one_sided(values, 0.2)
    assert found is not None
    above = scipy.stats.ttest_1samp(values, -0.2, alternative="greater").pvalue
    below = scipy.stats.ttest_1samp(values, 0.2, alternative="less").pvalue
    assert found[2] == pytest.approx(max(above, below))


def test_benjamini_and_hochberg_are_scipys() -> None:
    p = [0.01, 0.04, 0.03, 0.5, 0.001]
    assert benjamini_hochberg(p) == pytest.approx(scipy.stats.false_discovery_control(p))
    assert benjamini_hochberg([]) == []


@pytest.mark.parametrize(
    ("counts", "likely"), [((5, 5, 3, 5), 0.95), ((5, 5, 4, 5), 0.84), ((3, 3, 2, 3), 0.85), ((2, 4, 2, 4), 0.5)]
)
def test_how_likely_a_scenario_fares_worse(counts: tuple[int, int, int, int], likely: float) -> None:
    assert posterior(*counts) == pytest.approx(likely, abs=0.006)
    flag = row_flags({"s": counts})["s"]
    assert flag.suspected == (posterior(*counts) >= 0.95)


def test_percentiles_with_time_outs_are_kaplan_and_meiers() -> None:
    times, late = np.array([100.0, 200.0, 300.0, 300.0, 400.0]), np.array([False, False, False, True, False])
    # survival: .8, .6, .4, then of one alone at risk 0
    assert quantile(times, late, 0.5) == Rank(300.0)
    assert quantile(times, late, 0.95) == Rank(400.0)
    cut = np.array([False, False, False, True, True])
    assert quantile(np.array([1.0, 2.0, 3.0, 9.0, 9.0]), cut, 0.95) == Rank(9.0, at_least=True)
    assert quantile(np.array([]), np.array([], dtype=bool), 0.5) is None


def latencies(key: str, scenarios: int, late: int = 0) -> list[TrialRow]:
    rng = np.random.default_rng(len(key) + ord(key))
    found = []
    for n in range(scenarios):
        for r in range(3):
            over = n < late
            stage, value = ("response_timeout", None) if over else ("", float(rng.lognormal(6.5, 0.3)))
            outcome = "failed" if over or (n + r + ord(key)) % 5 == 0 else "passed"
            found.append(TrialRow(f"s{n:02}", "h", key, r, outcome, stage, {LATENCY: value}, 30_000.0))
    return found


def test_percentiles_and_pass_k_wait_for_their_intervals_and_have_none_of_few_scenarios() -> None:
    few = of(latencies("A", 19) + latencies("B", 19)).pair("A", "B").tails
    assert (few.p50.why, few.pass_k[3].why, few.p50.low) == (TOO_FEW, TOO_FEW, None)
    between = of(latencies("A", 29) + latencies("B", 29))
    difference, alone = between.pair("A", "B").tails, between.configurations[0].tails
    assert (difference.p50.why, alone.p50.why) == (TOO_FEW, BEING_COMPUTED)  # from 30 and from 20
    assert (difference.pass_k[3].why, alone.pass_k[3].why) == (BEING_COMPUTED, TOO_FEW)  # from 20 and from 40
    enough = of(latencies("A", 30) + latencies("B", 30))
    tails = enough.pair("A", "B").tails
    assert (tails.p50.why, tails.p95.why, sorted(tails.pass_k)) == (BEING_COMPUTED, TOO_FEW, [2, 3])
    measured, pairing = enough.pair("A", "B").source
    found = TailInputs(measured.trials).pair(pairing)
    assert found.key == tails.key
    made = dict(bootstrap_tails([found]))
    assert made == dict(bootstrap_tails([found]))  # pages agree
    laid = tails_with(tails, made[tails.key])
    assert laid.p50.low is not None
    assert laid.p50.low < (laid.p50.value or 0) < (laid.p50.high or 0)
    assert not laid.waits
    other = of(latencies("A", 30) + latencies("B", 30, late=1)).pair("A", "B").tails
    assert other.key != tails.key  # other numbers, another key


def test_a_percentile_among_the_time_outs_is_no_less_than_the_limit() -> None:
    found = of(latencies("A", 24) + latencies("B", 24, late=3))
    late = found.configurations[1].tails.p95
    assert (late.value, late.at_least, late.why) == (30_000.0, True, CENSORED)
    assert found.pair("A", "B").tails.p95.value is None
