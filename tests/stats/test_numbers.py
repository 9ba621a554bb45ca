"""Every statistic against another implementation of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading import percentiles
from runs_app.stats.change import describe_change
from runs_app.stats.moments import moments
from runs_app.stats.multiple import holm
from runs_app.stats.paired import PairedDifference, paired_difference, sides, sign_flip_ps
from runs_app.stats.rates import Interval, effective_n, intraclass_correlation, rate_interval, wilson
from runs_app.stats.rows import TrialRow
from runs_app.stats.summary import nearest_rank, standard_deviation, summarise
from runs_app.stats.trials import trials_of
from runs_app.stats.verdict import fisher_p

finite = st.floats(-1e6, 1e6)
REPEATS = (("a", 1, 1.0), ("a", 2, None), ("a", 3, 0.0), ("b", 1, None))


def differing(a: list[float], b: list[float]) -> PairedDifference:
    """NaN is a scenario without a value."""
    both = sides(np.array(a), np.array(b), np.ones(len(a), dtype=bool))
    return paired_difference(both, flips=sign_flip_ps([both.differences])[0])


def flip_p(values: list[float]) -> float | None:
    return sign_flip_ps([np.array(values)])[0]


def by_scenario(groups: list[list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Repeats, mean and squared deviations of each group."""
    arrays = [np.array(group) for group in groups]
    n = np.array([float(len(array)) for array in arrays])
    means = np.array([array.mean() if len(array) else np.nan for array in arrays])
    return n, means, np.array([((array - array.mean()) ** 2).sum() if len(array) else 0.0 for array in arrays])


def interval_of(groups: list[list[float]]) -> Interval | None:
    return rate_interval(*by_scenario(groups))


@given(st.lists(finite, min_size=1, max_size=60), st.integers(1, 100))
def test_nearest_rank_is_numpys_inverted_distribution(values: list[float], percent: int) -> None:
    found = nearest_rank(np.sort(values), percent)
    assert found in values
    assert found == np.percentile(values, percent, method="inverted_cdf")
    assert found == percentiles.nearest_rank(values, percent)  # grading's own, which may not import this one


def test_a_summary_counts_what_was_measured_of_all() -> None:
    summary = summarise(np.array([400, np.nan, 520, np.inf, 610]))
    assert (summary.mean, summary.p50, summary.p95, summary.n, summary.of) == (510, 520, 610, 3, 5)
    assert summary.p95_is_thin
    empty = summarise(np.array([np.nan, np.nan]))
    assert (empty.mean, empty.p50, empty.p95, empty.n, empty.of) == (None, None, None, 0, 2)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (6, 8), (10, 10), (48, 60)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    theirs = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
    ours = interval_of([[float(i < k)] for i in range(n)])
    assert ours is not None
    assert (ours.low, ours.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_repeats_that_agree_count_as_one_and_independent_ones_as_many() -> None:
    agreeing = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert intraclass_correlation(*by_scenario(agreeing)) == 1.0
    assert effective_n(*by_scenario(agreeing)) == pytest.approx(4)
    mixed = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert (intraclass_correlation(*by_scenario(mixed)), effective_n(*by_scenario(mixed))) == (0.0, 6.0)


def test_the_icc_is_that_of_a_one_way_analysis_of_variance() -> None:
    groups = [[1.0, 1, 0], [0.0, 0, 1], [1.0, 1, 1], [0.0, 0, 0], [1.0, 1, 1]]
    f = scipy.stats.f_oneway(*groups).statistic
    assert intraclass_correlation(*by_scenario(groups)) == pytest.approx((f - 1) / (f + 3 - 1))


def test_a_rate_with_repeats_is_wider_than_one_that_counts_every_repeat() -> None:
    groups = [[1.0, 1, 1], [0.0, 0, 0], [1.0, 1, 0], [1.0, 1, 1], [0.0, 0, 1], [1.0, 1, 1]] * 2
    honest, naive = interval_of(groups), wilson(24 / 36, 36, 1.96)
    assert honest is not None
    assert honest.high - honest.low > naive.high - naive.low
    by_hand = wilson(24 / 36, effective_n(*by_scenario(groups)), float(scipy.stats.t.ppf(0.975, 11)))
    assert (honest.low, honest.high) == (pytest.approx(by_hand.low), pytest.approx(by_hand.high))


def test_there_is_no_interval_where_nothing_can_be_told() -> None:
    assert interval_of([]) is None
    assert interval_of([[]]) is None
    assert interval_of([[1.0, 0.0, 1.0]]) is None  # repeats of one scenario
    assert interval_of([[1.0, 0.0]] * 11) is None  # too few scenarios: it held the truth too often for what it says
    assert interval_of([[1.0, 0.0]] * 12) is not None
    with pytest.raises(ValueError, match="at least one"):
        wilson(0.5, 0, 1.96)


@given(st.lists(st.tuples(finite, finite), min_size=2, max_size=30))
def test_the_paired_difference_is_scipys_paired_t(pairs: list[tuple[float, float]]) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    ours = differing(a, b)
    differences = np.array(b) - np.array(a)
    assert ours.difference == pytest.approx(differences.mean(), abs=1e-6)
    if not ours.sd or ours.sd < 1e-6 * np.abs(differences).max():
        return
    theirs = scipy.stats.ttest_rel(b, a)
    interval = theirs.confidence_interval(0.95)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert ours.low == pytest.approx(interval.low, rel=1e-6, abs=1e-6)
    assert ours.high == pytest.approx(interval.high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_sign_flips_are_scipys_permutation_test(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(0.3, 1.0, size=9)
    theirs = scipy.stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert flip_p(list(values)) == pytest.approx(theirs.pvalue, abs=1e-12)
    many = random.normal(0.3, 1.0, size=30)
    sampled = scipy.stats.permutation_test(
        (many,), np.sum, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )
    assert flip_p(list(many)) == pytest.approx(sampled.pvalue, abs=0.02)


def test_sign_flips_count_ties_and_never_say_zero() -> None:
    assert flip_p([0.1, 0.2, 0.3]) == 0.25  # of eight patterns two reach the sum
    assert flip_p([0.0, 0.0]) == 1.0
    assert flip_p([]) is None
    steady = flip_p([1.0] * 40)
    assert steady is not None
    assert 0 < steady < 0.001
    assert flip_p([1.0, 2.0] * 20) == flip_p([1.0, 2.0] * 20)


def test_equal_sides_are_identical_and_nothing_is_divided() -> None:
    same = differing([1.0, 0.5, 0.0], [1.0, 0.5, 0.0])
    assert same.identical
    assert (same.difference, same.sd, same.low, same.high, same.p_value) == (0.0, 0.0, None, None, 1.0)
    shifted = differing([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])
    assert not shifted.identical
    assert (shifted.low, shifted.p_value, shifted.sign_flip_p) == (None, None, 0.25)


def test_too_few_pairs_have_a_difference_and_no_interval() -> None:
    one = differing([1.0, math.nan], [0.0, 1.0])
    assert (one.n, one.difference, one.low, one.p_value) == (1, -1.0, None, None)
    none = differing([1.0, math.nan], [math.nan, 1.0])
    assert (none.n, none.difference, none.mean_a, none.p_value) == (0, None, None, None)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=12))
def test_swapping_the_sides_only_flips_signs(pairs: list[tuple[float, float]]) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    there, back = differing(a, b), differing(b, a)
    assert there.difference == -(back.difference or 0.0)
    assert (there.p_value, there.sign_flip_p, there.sd) == (back.p_value, back.sign_flip_p, back.sd)
    assert there.low == (None if back.high is None else -back.high)


def test_repeats_are_averaged_over_what_was_measured() -> None:
    rows = [TrialRow(s, "h", "A", n, "passed", metrics={"m": v}) for s, n, v in REPEATS]
    trials = trials_of(rows, configurations=["A"])
    found = moments(trials, trials.value("m"))
    assert found.n.tolist() == [[2, 0]]
    assert found.mean[0, 0] == 0.5
    assert math.isnan(found.mean[0, 1])
    assert found.squares.tolist() == [[0.5, 0.0]]


@given(st.lists(finite, min_size=2, max_size=20))
def test_the_deviation_is_numpys_or_nothing(values: list[float]) -> None:
    assert standard_deviation(values) == pytest.approx(np.std(values, ddof=1), rel=1e-6, abs=1e-6)


def test_holm_is_what_its_paper_says() -> None:
    steps = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None})
    assert {name: step.p_adjusted for name, step in steps.items()} == {
        "a": pytest.approx(0.03),
        "c": pytest.approx(0.06),
        "b": pytest.approx(0.06),
        "d": None,
    }
    assert {name: step.rejected for name, step in steps.items()} == {"a": True, "b": False, "c": False, "d": False}
    # c was refused at 0.05 / 2, so b is looked at from there too.
    assert (steps["a"].alpha, steps["c"].alpha, steps["b"].alpha) == (
        pytest.approx(0.05 / 3),
        pytest.approx(0.025),
        pytest.approx(0.025),
    )


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_rejects_exactly_where_the_adjusted_p_says_so(p_values: dict[str, float]) -> None:
    for name, step in holm(p_values).items():
        assert step.rejected == ((step.p_adjusted or 0.0) <= 0.05) or math.isclose(step.p_adjusted or 0.0, 0.05)
        assert step.rejected == (p_values[name] <= step.alpha)


@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_fisher_is_scipys(hits_a: int, n_a: int, hits_b: int, n_b: int) -> None:
    hits_a, hits_b = min(hits_a, n_a), min(hits_b, n_b)
    theirs = scipy.stats.fisher_exact([[hits_a, n_a - hits_a], [hits_b, n_b - hits_b]]).pvalue
    assert fisher_p(hits_a, n_a, hits_b, n_b) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.case("F05")
@pytest.mark.parametrize(
    ("baseline", "new", "words"),
    [
        (0, 3, "+3 (no percentage)"),
        (0, 0, "0"),
        (None, 3, "no baseline"),
        (400, 0, "-100%"),
        (400, 520, "+30%"),
        (400, 402, "+0.5%"),
        (-2, -1, "+50%"),
        (3, None, "no value"),
        (0, -0.5, "-0.5 (no percentage)"),
        (1e9, 1e9 + 1, "less than 0.1% more"),
        (float("nan"), 3, "no baseline"),
    ],
)
def test_a_change_is_told_in_true_words(baseline: float | None, new: float | None, words: str) -> None:
    """F05: change from zero."""
    assert describe_change(baseline, new) == words


@given(st.none() | st.floats(), st.none() | st.floats())
def test_no_change_ever_reads_as_infinity_or_none(baseline: float | None, new: float | None) -> None:
    words = describe_change(baseline, new)
    assert not any(bad in words for bad in ("nan", "inf", "NaN", "+0%", "-0%"))


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Graded scores, 12 scenarios with 3 repeats each; the true difference is 0.05 in 19 of 20 intervals."""
    random = np.random.default_rng(11)
    covered = 0
    for _ in range(600):
        ease = random.normal(0, 0.15, size=12)
        means = [
            [float(np.mean(0.6 + shift + ease[i] + random.normal(0, 0.2, size=3))) for i in range(12)]
            for shift in (0.0, 0.05)
        ]
        found = differing(*means)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.05 <= found.high
    assert 0.92 <= covered / 600 <= 0.98


def test_a_pass_rates_interval_covers_the_truth_where_plain_wilson_does_not() -> None:
    random = np.random.default_rng(12)
    honest = naive = 0
    for _ in range(400):
        ease = 1 / (1 + np.exp(-random.normal(0.8, 1.5, size=20)))
        groups = [[float(x) for x in random.random(5) < p] for p in ease]
        truth = 0.6383  # of this generator, over five million scenarios
        interval = interval_of(groups)
        assert interval is not None
        honest += interval.low <= truth <= interval.high
        flat = sum(map(sum, groups)) / 100
        plain = wilson(flat, 100, 1.96)
        naive += plain.low <= truth <= plain.high
    assert honest / 400 >= 0.92
    assert naive / 400 < 0.88
