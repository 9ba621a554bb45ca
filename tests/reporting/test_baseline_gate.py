"""A run against a baseline: who fails, who cannot be judged, and what the JSON says of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest

from runs_app.models import KnownFailure, Run, RunPlan
from runs_app.models.known_failures import today
from runs_app.reporting.baseline_gate import Judged, judge_against
from runs_app.reporting.gates import as_text
from runs_app.reporting.results import run_results
from runs_app.services.known_failures import mark_known
from runs_app.services.runs import start_run
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.scenarios import find_scenario
from tests.pages.comparing import Result, Results, finish, finished_run, key, side, versions
from tests.runs.builders import make_configuration, scenario

pytestmark = pytest.mark.django_db


def scored(*means: float, outcome: str = "passed") -> Results:
    """By version: semantic_quality, a little different in each scenario so that there is something to test."""

    def result(trial: Any) -> Result:
        place = int(key(trial).rsplit("_", 1)[1])
        return Result(outcome, metrics={"semantic_quality": means[side(trial) - 1] + 0.01 * (place % 3)})

    return result


def judged(baseline: ConfigurationVersion, run: Run, *fail_if: str) -> Judged:
    return judge_against(baseline, run, run_results(run), fail_if or ("worse",))


def again(run: Run, results: Results, configurations: Sequence[ConfigurationVersion]) -> Run:
    """Another run of the same suite."""
    new = start_run(suite=run.suite, configuration_versions=configurations, repeats=1, concurrency=1, seed=8)
    return finish(new, results)


def test_a_worse_configuration_fails_and_a_better_one_does_not() -> None:
    first, second = versions()
    run = finished_run(scored(0.9, 0.5), scenarios=8, configurations=[first, second])
    found = judged(first, run)
    assert found.unknown == ()
    assert len(found.failed) == 1
    assert found.failed[0].startswith("Front desk@2: semantic_quality -0.400: Worse (p ")
    assert judged(second, run).failed == ()
    told = found.document
    assert (told["name"], told["version"], told["run"], told["fail_if"]) == ("Front desk", 1, run.pk, ["worse"])
    assert told["pairs"][0]["metrics"]["semantic_quality"]["verdict"]["word"] == "Worse"
    assert told["failed"] == list(found.failed)
    text = as_text({**run_results(run), "baseline": told})
    assert f"against Front desk@1 of run {run.pk}:" in text
    assert "Front desk@2: semantic_quality: Worse" in text


def test_the_baselines_trials_come_from_its_newest_finished_run_of_the_suite() -> None:
    first, second = versions()
    oldest = finished_run(scored(0.1, 0.1), scenarios=8, configurations=[first])
    newest = again(oldest, scored(0.9, 0.9), [first, second])
    run = again(oldest, scored(0.5, 0.5), [second])
    found = judged(first, run)
    assert found.document["run"] == newest.pk
    # the candidate of that other run, which was as good, is not mixed in
    assert found.document["pairs"][0]["metrics"]["semantic_quality"]["paired"]["mean_b"] == pytest.approx(
        0.51, abs=0.01
    )
    assert "Worse" in found.failed[0]


def test_a_critical_scenario_that_newly_always_fails_fails_the_gate_whatever_the_average() -> None:
    first, second = versions()
    scenarios = [scenario("case_0", critical=True), *(scenario(f"case_{n}") for n in range(1, 9))]

    def better_but(trial: Any) -> Result:
        broken = key(trial) == "case_0" and side(trial) == 2
        base = {1: 0.5, 2: 0.9}[side(trial)] + 0.01 * (int(key(trial)[-1]) % 3)
        return Result("failed" if broken else "passed", metrics={"semantic_quality": base})

    run = finished_run(better_but, scenarios=scenarios, configurations=[first, second])
    for asked in ("worse", "critical"):
        assert judged(first, run, asked).failed == ("Front desk@2: the critical scenario case_0 now always fails",)
    assert judged(second, run, "critical").failed == ()


def test_cant_tell_fails_only_when_asked_and_what_is_identical_is_no_doubt() -> None:
    first, second = versions()

    def noisy(trial: Any) -> Result:
        place = int(key(trial).rsplit("_", 1)[1])
        return Result(metrics={"semantic_quality": 0.5 + 0.1 * ((place + side(trial)) % 2)})

    run = finished_run(noisy, scenarios=4, configurations=[first, second])
    assert judged(first, run).failed == ()
    (reason,) = judged(first, run, "cant-tell").failed
    assert reason.startswith("Front desk@2: semantic_quality +0.000: Can't tell")


def test_known_failures_count_against_neither_side() -> None:
    """Two of eight scenarios fail under the second version: whoever has a ticket for both is told of nothing new."""
    first, second = versions()

    def two_fail(trial: Any) -> Result:
        place = int(key(trial).rsplit("_", 1)[1])
        fails = side(trial) == 2 and place <= 6
        return Result("failed" if fails else "passed", metrics={"semantic_quality": (0.2 if fails else 0.9)})

    run = finished_run(two_fail, scenarios=8, configurations=[first, second], repeats=3)
    assert {reason.split(":")[1].split()[0] for reason in judged(first, run).failed} == {
        "semantic_quality",
        "pass_rate",
    }
    mark_known(
        scenarios=[find_scenario(f"case_{n}") for n in range(1, 7)],
        ticket="BUG-7",
        expires_on=today() + timedelta(days=3),
        configuration=second.configuration,
    )
    found = judged(first, run)
    assert (found.failed, found.unknown) == ((), ())
    [pair] = found.document["pairs"]
    assert pair["known"] == {"baseline": 0, "configuration": 18}
    assert pair["metrics"]["pass_rate"]["paired"]["n"] == 2
    text = as_text({**run_results(run), "baseline": found.document})
    assert "Front desk@2: 18 known failures left out, 0 of the baseline" in text
    KnownFailure.objects.update(expires_on=date(2020, 1, 1))
    assert len(judged(first, run).failed) == 2


def test_known_failures_alone_cannot_be_judged() -> None:
    first, second = versions()
    run = finished_run(lambda trial: Result("failed"), scenarios=1, configurations=[first, second])
    mark_known(scenarios=[find_scenario("case_1")], ticket="BUG-7", expires_on=today() + timedelta(days=3))
    found = judged(first, run)
    assert found.failed == ()
    assert found.unknown == ("Front desk@2: no scenario has a value on both sides but 2 known failures",)


def test_a_critical_scenario_whose_failures_are_known_is_told_and_does_not_fail() -> None:
    first, second = versions()
    scenarios = [scenario("case_0", critical=True), *(scenario(f"case_{n}") for n in range(1, 5))]
    run = finished_run(
        lambda trial: Result("failed" if key(trial) == "case_0" and side(trial) == 2 else "passed"),
        scenarios=scenarios,
        configurations=[first, second],
    )
    assert judged(first, run, "critical").failed == ("Front desk@2: the critical scenario case_0 now always fails",)
    mark_known(scenarios=[find_scenario("case_0")], ticket="BUG-7", expires_on=today() + timedelta(days=3))
    found = judged(first, run, "critical")
    assert found.failed == ()
    assert (found.document["pairs"][0]["critical"], found.document["pairs"][0]["critical_known"]) == ([], ["case_0"])


def test_what_was_never_measured_is_said_and_fails_where_it_was_chosen() -> None:
    first, second = versions()
    run = finished_run(scored(0.9, 0.9), scenarios=4, configurations=[first, second])
    found = judged(first, run, "cant-tell")
    assert found.failed == ()
    assert found.document["pairs"][0]["unmeasured"] == ["tool_accuracy", "response_latency_ms"]
    said = "Front desk@2: tool_accuracy: not measured on either side, so nothing is judged by it"
    assert said in as_text({**run_results(run), "baseline": found.document})
    RunPlan.objects.create(run=run, primaries=["tool_accuracy"])
    assert judged(first, run, "cant-tell").failed == (
        "Front desk@2: tool_accuracy: Can't tell (no scenario has a value on both sides)",
    )


def test_what_was_measured_on_one_side_alone_is_a_doubt() -> None:
    first, second = versions()
    run = finished_run(
        lambda trial: Result(metrics={"tool_accuracy": 1.0} if side(trial) == 1 else {}),
        scenarios=4,
        configurations=[first, second],
    )
    assert judged(first, run, "cant-tell").failed == (
        "Front desk@2: tool_accuracy: Can't tell (no scenario has a value on both sides)",
    )


def test_what_cannot_be_compared_is_never_green() -> None:
    first, second = versions()
    old = finished_run(scored(0.9, 0.9), scenarios=4, configurations=[first])
    other = start_run(
        suite=old.suite,
        configuration_versions=[second],
        repeats=1,
        concurrency=1,
        seed=1,
        tool_faults={"*": {"mode": "timeout"}},
    )
    run = finish(other, scored(0.9, 0.9))
    found = judged(first, run)
    assert found.failed == ()
    assert found.unknown == (
        "Front desk@2: not comparable with the baseline: "
        "the tools were made to fail in some runs and not in others, or differently",
    )


def test_more_configurations_than_a_comparison_holds_cannot_be_judged() -> None:
    first, *others = [make_configuration(name=f"Desk {n:02}") for n in range(27)]
    run = finished_run(scored(0.9), scenarios=1, configurations=[first, *others])
    problem = "26 configurations against one baseline: at most 25 are compared"
    assert judged(first, run).unknown == (problem,)


@pytest.mark.parametrize(
    ("configurations", "outcome", "words"),
    [
        ([0], "passed", "nothing but the baseline Front desk@1"),
        ([1], "passed", "Front desk@1 is not in this run, and there is no finished run of the suite with it"),
        ([0, 1], "invalid", "no trial was graded"),
    ],
)
def test_a_run_without_two_sides_cannot_be_judged(configurations: list[int], outcome: str, words: str) -> None:
    known = versions()
    run = finished_run(scored(0.9, 0.9, outcome=outcome), configurations=[known[n] for n in configurations])
    found = judged(known[0], run)
    assert found.failed == ()
    assert words in found.unknown[0]
    assert found.document["pairs"] == []
