"""One comparison object: rates with what they leave out, pairs by scenario id, honest verdicts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.stats.comparison import Comparison, compare
from runs_app.stats.configuration import PassRate, rate_in_words, summarise_configuration
from runs_app.stats.rows import PRIMARY, MetricRule, TrialRow
from runs_app.stats.trials import trials_of


def trial(
    key: str,
    scenario: str,
    repeat: int = 1,
    outcome: str = "passed",
    *,
    stage: str = "",
    run_hash: str = "",
    timeout_ms: float | None = None,
    **metrics: float | None,
) -> TrialRow:
    return TrialRow(scenario, run_hash or scenario, key, repeat, outcome, stage, metrics, timeout_ms)


def outcomes(key: str, *names: str) -> list[TrialRow]:
    return [trial(key, f"s{index}", outcome=name) for index, name in enumerate(names)]


def two(rows: Sequence[TrialRow], configurations: Sequence[str] = ("A", "B"), **options: Any) -> Comparison:
    return compare(trials_of(rows, configurations=configurations), **options)


def pass_rate(rows: Sequence[TrialRow]) -> PassRate:
    return summarise_configuration("A", rows, ()).pass_rate


def quality(values: Mapping[str, Sequence[Sequence[float | None]]]) -> list[TrialRow]:
    """values: configuration -> scenario -> repeats of semantic_quality."""
    return [
        trial(key, f"s{index:02}", repeat + 1, semantic_quality=value)
        for key, scenarios in values.items()
        for index, repeats in enumerate(scenarios)
        for repeat, value in enumerate(repeats)
    ]


@pytest.mark.case("B12")
def test_provider_limits_are_left_out_and_time_outs_count_as_fails() -> None:
    """B12: 6 pass, 2 fail, 2 ended in a 429 or a refused connection; then 2 that never answered."""
    graded = ["passed"] * 6 + ["failed"] * 2
    first = outcomes("A", *graded)
    limits = [
        trial("A", "s8", outcome="invalid", stage="provider_limit"),
        trial("A", "s9", outcome="invalid", stage="connect"),
    ]
    rate = pass_rate(first + limits)
    assert (rate.value, rate.passed, rate.n, rate.of) == (0.75, 6, 8, 10)
    assert rate.excluded == {"invalid": 2}
    assert rate.invalid_stages == {"connect": 1, "provider_limit": 1}
    assert (rate.best, rate.worst) == (0.8, 0.6)
    assert rate_in_words(rate) == "75.0 % (6/8), 2 of 10 invalid"
    silent = [trial("A", f"s{n}", outcome="failed", stage="response_timeout") for n in (8, 9)]
    rate = pass_rate(first + silent)
    assert (rate.value, rate.n, rate.timeouts) == (0.6, 10, 2)
    assert rate_in_words(rate) == "60.0 % (6/10), 2 of 10 timed out"


def test_a_rate_of_nothing_is_null() -> None:
    rate = pass_rate(outcomes("A", "invalid", "cancelled", "ungraded"))
    assert (rate.value, rate.n, rate.low, rate.high) == (None, 0, None, None)
    assert (rate.best, rate.worst) == (1.0, 0.0)
    assert rate_in_words(rate) == "– (0/0), 1 of 3 cancelled, 1 of 3 invalid, 1 of 3 ungraded"
    assert pass_rate([]).best is None


@pytest.mark.case("F03")
def test_rows_join_on_scenario_id_and_repeats_are_averaged_first() -> None:
    """F03: A 5 scenarios x 3, B the same 5 x 1 and one that A never ran; given in any order."""
    a = [trial("A", f"s{i}", r, semantic_quality=q) for i in range(5) for r, q in ((1, 0.5), (2, 0.75), (3, 1.0))]
    b = [trial("B", f"s{i}", 1, semantic_quality=1.0 if i else 0.25) for i in reversed(range(6))]
    comparison = two([*reversed(a), *b])
    pair = comparison.pair("A", "B")
    assert (pair.paired, pair.only_a, pair.only_b) == (("s0", "s1", "s2", "s3", "s4"), (), ("s5",))
    measured = pair.metrics["semantic_quality"].paired
    assert (measured.n, measured.mean_a) == (5, 0.75)
    assert measured.mean_b == pytest.approx(0.85)
    row = comparison.scenarios[5]
    assert (row.scenario_id, row.cells[0]) == ("s5", None)
    first = comparison.scenarios[0].cells
    assert first[0] is not None
    assert first[1] is not None
    assert (first[0].n, first[1].n) == (3, 1)
    assert pair.differences["s0"]["semantic_quality"] == pytest.approx(-0.5)
    assert "s5" not in pair.differences


@pytest.mark.case("F03")
def test_another_content_under_the_same_id_is_named_and_kept_out() -> None:
    """F03, decided: over 20 % of changed scenarios is Not comparable."""
    a = [trial("A", f"s{i}") for i in range(10)]
    b = [trial("B", f"s{i}", run_hash="edited" if i == 0 else "") for i in range(10)]
    pair = two(a + b).pair("A", "B")
    assert (pair.changed, len(pair.paired)) == (("s0",), 9)
    assert pair.metrics["pass_rate"].verdict.word != "Not comparable"
    many = [trial("B", f"s{i}", run_hash="edited" if i < 3 else "") for i in range(10)]
    verdict = two(a + many).pair("A", "B").metrics["pass_rate"].verdict
    assert (verdict.word, verdict.reason) == ("Not comparable", "3 of 10 shared scenarios differ in content")


def test_without_a_shared_scenario_nothing_is_comparable() -> None:
    pair = two([trial("A", "s1"), trial("B", "s2")]).pair("A", "B")
    assert {m.verdict.word for m in pair.metrics.values()} == {"Not comparable"}
    assert (pair.only_a, pair.only_b) == (("s1",), ("s2",))


def test_a_clear_difference_is_better_and_its_mirror_worse() -> None:
    rows = quality({"A": [[0.25], [0.5], [0.5], [0.25], [0.5], [0.5]], "B": [[1], [1], [0.75], [1], [1], [1]]})
    there = two(rows).pair("A", "B").metrics["semantic_quality"]
    assert there.verdict.word == "Better"
    assert there.paired.low is not None
    assert there.paired.low > 0
    back = two(rows, ("B", "A")).pair("B", "A").metrics["semantic_quality"]
    assert back.verdict.word == "Worse"
    assert back.paired.difference == pytest.approx(-(there.paired.difference or 0))


def test_identical_sides_say_so() -> None:
    pair = two(quality({"A": [[1.0], [0.5]], "B": [[1.0], [0.5]]})).pair("A", "B")
    found = pair.metrics["semantic_quality"]
    assert found.paired.identical
    assert (found.verdict.word, found.verdict.reason) == ("Can't tell", "identical in all 2 scenarios")


def test_few_scenarios_that_differ_by_the_same_are_no_proof() -> None:
    few = two(quality({"A": [[0.5]] * 3, "B": [[1.0]] * 3})).pair("A", "B").metrics["semantic_quality"]
    assert (few.verdict.word, few.paired.low) == ("Can't tell", None)
    many = two(quality({"A": [[0.5]] * 9, "B": [[1.0]] * 9})).pair("A", "B").metrics["semantic_quality"]
    assert many.verdict.word == "Better"


def test_one_scenario_has_a_difference_and_no_verdict() -> None:
    found = two(quality({"A": [[0.5, 0.25]], "B": [[1.0, 1.0]]})).pair("A", "B").metrics["semantic_quality"]
    assert (found.paired.difference, found.verdict.word) == (0.625, "Can't tell")
    assert found.verdict.reason == "one scenario alone has no interval"


def test_a_metric_that_was_never_measured_has_no_verdict() -> None:
    found = two(quality({"A": [[None]], "B": [[None]]})).pair("A", "B").metrics["semantic_quality"]
    assert (found.paired.n, found.paired.difference) == (0, None)
    assert found.verdict.reason == "no scenario has a value on both sides"


def test_many_trials_without_a_verdict_withhold_it() -> None:
    a = [trial("A", f"s{i}", outcome="failed", semantic_quality=0.25 + 0.02 * i) for i in range(10)]
    b = [trial("B", f"s{i}", semantic_quality=1.0) for i in range(8)]
    lost = [trial("B", f"s{i}", outcome="invalid", stage="connect") for i in (8, 9)]
    pair = two(a + b + lost).pair("A", "B")
    for name in ("pass_rate", "semantic_quality"):
        assert pair.metrics[name].verdict.word == "Can't tell"
        assert pair.metrics[name].verdict.reason == "20% of a side's trials have no verdict"


def test_a_verdict_that_the_missing_trials_could_turn_is_withheld() -> None:
    a = [trial("A", f"s{i:02}", outcome="failed" if i < 7 else "passed") for i in range(20)]
    b = [trial("B", f"s{i:02}") for i in range(20)]
    assert two(a + b, rules=PRIMARY[:1]).pair("A", "B").metrics["pass_rate"].verdict.word == "Better"
    # Without the two the difference would stand; had B failed them it would not.
    lost = [*b[:10], *(trial("B", f"s{i}", outcome="invalid") for i in (10, 11)), *b[12:]]
    assert two(a + b[:10] + b[12:], rules=PRIMARY[:1]).pair("A", "B").metrics["pass_rate"].verdict.word == "Better"
    verdict = two(a + lost, rules=PRIMARY[:1]).pair("A", "B").metrics["pass_rate"].verdict
    assert (verdict.word, verdict.reason) == ("Can't tell", "trials without a verdict could turn it")


LATENCY = (MetricRule("response_latency_ms", "lower", "log"),)


def latencies(key: str, values: Sequence[float | None]) -> list[TrialRow]:
    return [trial(key, f"s{i}", response_latency_ms=value) for i, value in enumerate(values)]


def test_latency_is_compared_as_a_ratio_and_lower_is_better() -> None:
    base = [400.0, 800.0, 520.0, 610.0, 450.0, 900.0]
    faster = [value * factor for value, factor in zip(base, (0.5, 0.52, 0.48, 0.5, 0.55, 0.45), strict=True)]
    found = (
        two(latencies("A", base) + latencies("B", faster), rules=LATENCY).pair("A", "B").metrics["response_latency_ms"]
    )
    assert found.verdict.word == "Better"
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(0.5, abs=0.02)
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 0.5 < found.ratio.high < 1
    assert found.paired.difference is not None
    assert found.paired.difference < 0


def test_a_time_out_stands_at_its_limit() -> None:
    a = latencies("A", [400.0, 410.0, 395.0, 405.0, 400.0, 390.0, 402.0, 398.0, 401.0, 399.0])
    b = latencies("B", [400.0, 410.0, 395.0, 405.0, 400.0, 390.0, 402.0, 398.0, 401.0])
    late = [trial("B", "s9", outcome="failed", stage="response_timeout", timeout_ms=30_000.0)]
    found = two(a + b + late, rules=LATENCY).pair("A", "B").metrics["response_latency_ms"]
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx((30_000 / 399) ** (1 / 10))
    assert found.paired.n == 9  # in ms only what was measured
    more = [trial("B", f"s{i}", outcome="failed", stage="response_timeout", timeout_ms=3e4) for i in (8, 9)]
    verdict = two(a + b[:8] + more, rules=LATENCY).pair("A", "B").metrics["response_latency_ms"].verdict
    assert (verdict.word, verdict.reason) == ("Can't tell", "20% of a side's trials timed out")


def test_several_metrics_share_the_chance_of_a_false_alarm() -> None:
    a, b = [0.5, 0.75, 0.5, 0.75, 0.5, 0.25, 0.5, 0.75], [0.75, 0.75, 0.75, 1.0, 0.5, 0.5, 0.5, 0.75]
    rows = quality({"A": [[x] for x in a], "B": [[x] for x in b]})
    alone = two(rows, rules=PRIMARY[1:2]).pair("A", "B").metrics["semantic_quality"]
    assert (alone.verdict.word, alone.paired.level) == ("Better", 0.95)
    noisy = [
        TrialRow(r.scenario_id, r.run_hash, r.configuration_key, r.repeat, r.outcome, "", {
            **r.metrics, "tool_accuracy": float(int(r.scenario_id[1:]) % 2 == (r.configuration_key == "A")),
        })
        for r in rows
    ]  # fmt: skip
    among = two(noisy, rules=PRIMARY[1:3]).pair("A", "B").metrics["semantic_quality"]
    assert (among.verdict.word, among.paired.level) == ("Can't tell", 0.975)
    assert among.paired.low is not None
    assert among.paired.low <= 0


def test_every_metric_is_summarised_with_its_denominator() -> None:
    invalid = trial("A", "s9", outcome="invalid", response_latency_ms=9_999.0)
    rows = [*latencies("A", [400, None, 520, 610]), invalid]
    summary = summarise_configuration("A", rows, ("response_latency_ms", "turns"))
    latency = summary.metrics["response_latency_ms"]
    assert (latency.mean, latency.p50, latency.p95, latency.n, latency.of) == (510, 520, 610, 3, 5)
    assert (summary.metrics["turns"].mean, summary.metrics["turns"].of) == (None, 5)
    assert (summary.trials, summary.scenarios, summary.outcomes) == (5, 5, {"invalid": 1, "passed": 4})


def test_more_than_two_configurations_are_compared_in_pairs() -> None:
    rows = [trial(key, "s1") for key in "ABC"]
    comparison = two(rows, ("A", "B", "C"))
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    with pytest.raises(KeyError):
        comparison.pair("C", "A")


def test_a_configuration_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="configuration given twice: A"):
        trials_of([], configurations=("A", "A"))


def test_nothing_at_all_is_a_comparison_too() -> None:
    comparison = two([])
    assert [c.pass_rate.value for c in comparison.configurations] == [None, None]
    assert comparison.scenarios == ()


rows_of_any_kind = st.lists(
    st.builds(
        TrialRow,
        scenario_id=st.sampled_from(["s1", "s2", "s3", "s4"]),
        run_hash=st.sampled_from(["h", "h", "h", "other"]),
        configuration_key=st.sampled_from(["A", "B"]),
        repeat=st.integers(1, 3),
        outcome=st.sampled_from(["passed", "failed", "ungraded", "invalid", "cancelled", ""]),
        stage=st.sampled_from(["", "response_timeout", "connect"]),
        metrics=st.dictionaries(
            st.sampled_from(["semantic_quality", "tool_accuracy", "response_latency_ms"]), st.none() | st.floats()
        ),
        timeout_ms=st.none() | st.floats(1, 1e5),
    ),
    max_size=30,
)


@given(rows_of_any_kind)
def test_any_rows_compare_without_infinity_and_swap_by_signs(rows: list[TrialRow]) -> None:
    there = two(rows)
    json.dumps(there.to_json(), allow_nan=False)
    back = two(rows, ("B", "A"))
    one, other = there.pair("A", "B"), back.pair("B", "A")
    assert (one.paired, one.changed, one.only_a, one.only_b) == (
        other.paired,
        other.changed,
        other.only_b,
        other.only_a,
    )
    mirrored = {"Better": "Worse", "Worse": "Better"}
    for name, metric in one.metrics.items():
        mirror = other.metrics[name]
        assert metric.paired.difference == (None if mirror.paired.difference is None else -mirror.paired.difference)
        assert mirrored.get(metric.verdict.word, metric.verdict.word) == mirror.verdict.word


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_any_measurement_count_as_not_measured() -> None:
    sides = {"A": (1e308, 1e308, 0.5), "B": (1e200, -1e308, 0.75)}
    rows = [
        trial(key, f"s{scenario}", repeat, semantic_quality=value)
        for key, values in sides.items()
        for scenario in range(3)
        for repeat, value in enumerate(values)
    ]
    found = two(rows)
    json.dumps(found.to_json(), allow_nan=False)
    metric = found.pair("A", "B").metrics["semantic_quality"]
    assert (metric.paired.mean_a, metric.paired.mean_b) == (0.5, 0.75)
    assert [one.metrics["semantic_quality"].n for one in found.configurations] == [3, 3]


@pytest.mark.filterwarnings("error")
def test_an_interval_of_two_scenarios_that_reaches_beyond_all_numbers_is_cut_off() -> None:
    """Of 25 candidates Holm's level asks 950 standard errors of two scenarios: e to that is no number."""
    keys = [f"c{n}" for n in range(26)]
    rows = [
        trial(key, f"s{scenario}", response_latency_ms=(800.0, 700.0)[scenario] * (1 + scenario * place))
        for place, key in enumerate(keys)
        for scenario in range(2)
    ]
    found = two(rows, keys, against_first=True)
    json.dumps(found.to_json(), allow_nan=False)
    ratio = found.pair("c0", "c25").metrics["response_latency_ms"].ratio
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.high is not None
    assert (ratio.low, ratio.high) == pytest.approx((math.exp(-60), math.exp(60)))
