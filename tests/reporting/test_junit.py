"""A run as JUnit XML, against the rules of the two common schemas."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from django.test import Client

from runs_app.models import Run, Trial
from runs_app.realtime.record import Ending
from runs_app.reporting.junit import junit_xml
from tests.grading import builders as evidence
from tests.pages.comparing import Result, finished_run, key, versions
from tests.pages.trials import record_trial
from tests.reporting.junit_schemas import ANT, JENKINS, problems
from tests.runs.builders import make_run, scenario

pytestmark = pytest.mark.django_db


def parsed(run: Run) -> Element:
    root = ElementTree.fromstring(junit_xml(run))
    assert problems(root, ANT) == []
    assert problems(root, JENKINS) == []
    return root


OUTCOMES = {
    "case_1": Result("passed"),
    "case_2": Result("failed"),
    "case_3": Result("invalid", "connect"),
    "case_4": Result("ungraded", "judge_error"),
    "case_5": Result("cancelled"),
}


def test_each_configuration_is_a_suite_and_each_trial_a_case() -> None:
    run = finished_run(lambda trial: OUTCOMES[key(trial)], scenarios=5, configurations=versions(2), repeats=2)
    suites = parsed(run).findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["Front desk@1", "Front desk@2"]
    for suite in suites:
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("10", "2", "2")
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases[:2]] == ["case_1, repeat 1", "case_2, repeat 1"]
        told = {case.get("name"): [child.tag for child in case] for case in cases}
        assert told["case_1, repeat 2"] == []
        assert told["case_2, repeat 2"] == ["failure"]
        assert told["case_3, repeat 1"] == ["error"]
        assert told["case_4, repeat 1"] == told["case_5, repeat 1"] == ["skipped"]


def test_findings_say_outcome_stage_and_reason() -> None:
    run = finished_run(lambda trial: OUTCOMES[key(trial)], scenarios=5, configurations=versions(1))
    root = parsed(run)
    error, skipped = root.find(".//error"), root.findall(".//skipped")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("connect", "invalid (connect): connect")
    assert [item.get("message") for item in skipped] == ["ungraded (judge_error): judge_error", "cancelled"]


def test_a_failure_names_the_check_that_decided_and_lists_all() -> None:
    trial = record_trial(make_run(), evidence.record(evidence.call()))
    assert trial.outcome == "failed"
    failure = parsed(trial.run).find(".//failure")
    assert failure is not None
    assert failure.get("type") == "application_state"
    assert trial.reason in (failure.get("message") or "")
    assert f"/trials/{trial.pk}/" in (failure.text or "")
    assert "failed  application_state: " in (failure.text or "")
    assert "failed  final_state (decides nothing): " in (failure.text or "")


def test_what_passed_is_told_in_the_suite() -> None:
    said = {"answer": "Booked.", "state": {"reservation_created": True}}
    run = make_run([scenario(expected=said, assertions=[{"tool_called": {"name": "create_reservation"}}])])
    trial = record_trial(run, evidence.record(evidence.call()))
    assert trial.outcome == "passed", trial.reason
    output = parsed(run).findtext(".//system-out") or ""
    assert "passed  assertion:1: create_reservation was called 1 time" in output


def test_control_characters_and_half_characters_are_left_out() -> None:
    run = make_run()
    message = "tab\tbell\x07 null\x00 escape\x1b[31m \ufffe <b>&\"' café 😀"
    record_trial(run, evidence.record(turns=(), ending=Ending("invalid", stage="connect", message=message)))
    Trial.objects.filter(run=run).update(reason=message.replace("\x00", ""))
    error = parsed(run).find(".//error")
    assert error is not None
    assert error.get("message", "").endswith("bell null escape[31m  <b>&\"' café 😀")


def test_a_run_under_way_is_told_as_far_as_it_is() -> None:
    root = parsed(make_run(2))
    assert [item.get("message") for item in root.findall(".//skipped")] == ["queued", "queued"]


def test_the_page_serves_it_as_a_download(signed_in: Client) -> None:
    run = finished_run(lambda trial: Result(), scenarios=1, configurations=versions(1))
    answer = signed_in.get(f"/runs/{run.pk}/junit.xml")
    assert answer["Content-Type"] == "application/xml"
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-junit.xml"'
    assert answer.content == junit_xml(run)
    assert b"Not redacted" in answer.content
    assert signed_in.post(f"/runs/{run.pk}/junit.xml").status_code == 405
