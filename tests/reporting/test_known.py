"""Known failures in exports and gates: a build stops at what is new, and nothing is hidden."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest

from runs_app.models import KnownFailure, Run
from runs_app.models.known_failures import today
from runs_app.reporting.gates import Gate, as_text, judge
from runs_app.reporting.junit import junit_xml
from runs_app.reporting.results import run_results
from runs_app.reporting.trials_csv import trials_csv
from runs_app.services.known_failures import mark_known
from scenarios_app.services.scenarios import find_scenario
from tests.pages.comparing import Result, finished_run, key, versions
from tests.reporting.junit_schemas import ANT, JENKINS, problems

pytestmark = pytest.mark.django_db

EARLY = "tool_contract:create_reservation:date:one day early"


def half_failed() -> Run:
    """`case_1` and `case_2` fail, `case_3` and `case_4` pass, twice each."""
    run = finished_run(
        lambda trial: Result("failed" if key(trial) in ("case_1", "case_2") else "passed"),
        scenarios=4,
        configurations=versions(1),
        repeats=2,
    )
    run.trials.filter(outcome="failed").update(failure_kind=EARLY)
    return run


def mark(*names: str) -> list[KnownFailure]:

    return mark_known(
        scenarios=[find_scenario(name) for name in names], ticket="BUG-7", expires_on=today() + timedelta(days=3)
    )


def expire() -> None:
    KnownFailure.objects.update(expires_on=date(2020, 1, 1))


def test_a_gate_judges_only_what_is_new_and_the_rate_stays_as_it_is() -> None:
    run, gates = half_failed(), [Gate("pass_rate", 0.9)]
    below = judge(run_results(run), gates).below
    assert below == ("Front desk@1: pass_rate 0.500 is below 0.9 (8 of 8 trials)",)
    mark("case_1")
    assert judge(run_results(run), gates).below == (
        "Front desk@1: pass_rate 0.667 is below 0.9 (6 of 8 trials, 2 known left out)",
    )
    mark("case_2")
    results = run_results(run)
    assert judge(results, gates).below == ()
    rate = results["configurations"][0]["metrics"]["pass_rate"]
    assert rate == {"value": 0.5, "n": 8, "of": 8, "known": 4, "new_value": 1.0}
    expire()
    assert judge(run_results(run), gates).below == below


def test_known_failures_alone_give_a_gate_nothing_to_judge() -> None:
    run = finished_run(lambda trial: Result("failed"), scenarios=1, configurations=versions(1))
    mark("case_1")
    verdict = judge(run_results(run), [Gate("pass_rate", 0.5)])
    assert verdict.unknown == ("Front desk@1: pass_rate was not measured in any of 1 trials but 1 known failures",)


def test_json_tells_problems_what_is_known_of_them_and_what_passes_now() -> None:
    run = half_failed()
    mark("case_1")
    results = run_results(run)
    assert results["trials"]["known"] == 2
    [problem] = results["problems"]
    assert problem == {
        "kind": EARLY,
        "words": "create_reservation date: one day early",
        "trials": 4,
        "new": 2,
        "scenarios": ["case_1", "case_2"],
    }
    told = {(one["scenario"], bool(one["known"])) for one in results["results"] if one["outcome"] == "failed"}
    assert told == {("case_1", True), ("case_2", False)}
    assert "(2 of the failed are known)" in as_text(results)


def test_what_passes_in_spite_of_its_mark_is_told_everywhere() -> None:
    half_failed()
    mark("case_1")
    again = finished_run(lambda trial: Result("passed"), scenarios=1, configurations=versions(1))
    results = run_results(again)
    assert [(one["scenario"], one["ticket"], one["passed"]) for one in results["unexpected_passes"]] == [
        ("case_1", "BUG-7", 1)
    ]
    assert "passes now: case_1 (BUG-7)" in as_text(results)
    root = ElementTree.fromstring(junit_xml(again))
    assert problems(root, ANT) == problems(root, JENKINS) == []
    passes = root.find(".//property[@name='known_failures_that_pass']")
    assert passes is not None
    assert passes.get("value") == "case_1"


def test_junit_skips_what_is_known_and_fails_it_again_once_the_mark_expired() -> None:
    run = half_failed()
    mark("case_1")
    root = ElementTree.fromstring(junit_xml(run))
    assert problems(root, ANT) == problems(root, JENKINS) == []
    [suite] = root.findall("testsuite")
    assert suite.get("failures") == "2"
    skipped = [case.get("name") for case in suite.findall("testcase") if case.find("skipped") is not None]
    assert skipped == ["case_1, repeat 1", "case_1, repeat 2"]
    message = suite.find("testcase/skipped")
    assert message is not None
    assert "known (BUG-7, until " in str(message.get("message"))
    expire()
    assert ElementTree.fromstring(junit_xml(run)).findall("testsuite")[0].get("failures") == "4"


def test_csv_names_kind_and_mark_of_each_trial() -> None:
    run = half_failed()
    mark("case_1")
    rows = list(csv.DictReader(io.StringIO(trials_csv(run))))
    assert {(row["scenario"], row["failure_kind"], row["known"][:5]) for row in rows} == {
        ("case_1", "create_reservation date: one day early", "BUG-7"),
        ("case_2", "create_reservation date: one day early", ""),
        ("case_3", "", ""),
        ("case_4", "", ""),
    }
