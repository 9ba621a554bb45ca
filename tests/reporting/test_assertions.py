"""A scenario's own assertions, as people and programs meet them: on the trial's page, in JSON and in JUnit."""

from __future__ import annotations

import json
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client

from runs_app.models import Trial
from runs_app.reporting.junit import junit_xml
from runs_app.reporting.results import run_results
from runs_app.services import claims, grading
from runs_app.services.runs import regrade_trial
from tests.grading import builders as evidence
from tests.grading.judge_server import says
from tests.pages.trials import record_trial
from tests.reporting.junit_schemas import ANT, JENKINS, problems
from tests.runs.builders import make_configuration, make_run, scenario
from tests.speech_server import Answer, SpeechServer, speech_server

pytestmark = pytest.mark.django_db

# each kind: one that holds for the conversation below, one that does not, and what is said of both
KINDS: dict[str, tuple[dict[str, Any], str, dict[str, Any], str]] = {
    "tool_called": (
        {"tool_called": {"name": "create_reservation", "args": {"party_size": 3}, "times": 1}},
        "create_reservation with these arguments was called 1 time",
        {"tool_called": {"name": "create_reservation", "args": {"party_size": 4}}},
        "create_reservation with these arguments was called 0 times",
    ),
    "tool_not_called": (
        {"tool_not_called": "cancel_reservation"},
        "cancel_reservation was not called",
        {"tool_not_called": "create_reservation"},
        "create_reservation was called 1 time",
    ),
    "metric": (
        {"metric": {"name": "turn_latency_ms", "lt": 2_000, "gt": 0}},
        "turn_latency_ms is 1200; it must be below 2000 and above 0",
        {"metric": {"name": "turn_latency_ms", "lte": 1_000}},
        "turn_latency_ms is 1200; it must be at most 1000",
    ),
    "metric that was not measured": (
        {"metric": {"name": "tool_calls", "eq": 1}},
        "tool_calls is 1; it must be exactly 1",
        {"metric": {"name": "response_latency_ms", "lt": 9_000}},
        "response_latency_ms was not measured; it must be below 9000",
    ),
    "turns": (
        {"turns": {"lte": 1}},
        "turns is 1; it must be at most 1",
        {"turns": {"gte": 2}},
        "turns is 1; it must be at least 2",
    ),
}


def held(assertions: list[dict[str, Any]], judge: SpeechServer | None = None) -> Trial:
    """A conversation in text mode with one call, of a scenario that expects nothing but these."""
    asked = {"judge": {"endpoint": judge.url, "model": "judge-1"}} if judge else {}
    wanted = scenario(expected={}, assertions=assertions)
    run = make_run([wanted], configurations=[make_configuration(**asked)])
    return record_trial(run, evidence.record(evidence.call()))


def shown(client: Client, trial: Trial) -> str:
    return unescape(client.get(f"/trials/{trial.pk}/").content.decode())


def in_json(trial: Trial, id: str) -> dict[str, Any]:
    (result,) = json.loads(json.dumps(run_results(trial.run), allow_nan=False))["results"]
    found: dict[str, Any] = next(check for check in result["checks"] if check["id"] == id)
    return found


def in_junit(trial: Trial) -> ElementTree.Element:
    root = ElementTree.fromstring(junit_xml(trial.run))
    assert problems(root, ANT) == problems(root, JENKINS) == []
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_holds_is_told_everywhere(signed_in: Client, kind: str) -> None:
    assertion, reason, _, _ = KINDS[kind]
    trial = held([assertion])
    assert (trial.outcome, trial.stage) == ("passed", "")
    assert in_json(trial, "assertion:1") == {
        "id": "assertion:1",
        "status": "passed",
        "required": True,
        "reason": reason if kind != "tool_called" else f"{reason}, expected 1 time",
    }
    page = shown(signed_in, trial)
    assert "assertion:1" in page
    assert reason in page
    root = in_junit(trial)
    assert root.find(".//failure") is None
    assert f"passed  assertion:1: {reason}" in (root.findtext(".//system-out") or "")


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_does_not_hold_fails_the_trial_everywhere(signed_in: Client, kind: str) -> None:
    _, _, assertion, reason = KINDS[kind]
    trial = held([{"turns": {"lte": 5}}, assertion])
    assert (trial.outcome, trial.reason) == ("failed", reason)
    assert in_json(trial, "assertion:2") == {
        "id": "assertion:2",
        "status": "failed",
        "required": True,
        "reason": reason,
    }
    page = shown(signed_in, trial)
    assert page.index("assertion:2") < page.index("assertion:1")  # failures first
    assert reason in page
    failure = in_junit(trial).find(".//failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("assertion:2", f"failed: {reason}")
    assert f"failed  assertion:2: {reason}" in (failure.text or "")


SENTENCE = "The agent repeats the date."


@pytest.mark.parametrize(("score", "outcome"), [(1, "passed"), (0.25, "failed")])
def test_a_judge_decides_with_one_call(signed_in: Client, score: float, outcome: str) -> None:
    verdict = {"passed": score == 1, "score": score, "rationale": "It says 15 May.", "evidence": ["15 May"]}
    with speech_server([says(verdict)]) as judge:
        trial = held([{"judge": SENTENCE}], judge)
    assert len(judge.asked) == 1
    assert json.loads(judge.asked[0]["json"]["input"][8:-4])["criterion"] == SENTENCE
    assert trial.outcome == outcome
    assert in_json(trial, "assertion:1")["status"] == outcome
    page = shown(signed_in, trial)
    assert SENTENCE in page
    assert "It says 15 May." in page
    assert "assertion:1: It says 15 May." in ElementTree.tostring(in_junit(trial), encoding="unicode")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (says("of the 4 points I checked, 3 hold"), "of the 4 points"),
        (
            Answer(b'{"error": {"message": "no such model"}}', 404, {"Content-Type": "application/json"}),
            "no such model",
        ),
    ],
)
def test_a_judge_error_leaves_it_ungraded_until_it_is_graded_again(
    signed_in: Client, answer: Answer, said: str
) -> None:
    fine = says({"passed": True, "score": 1, "rationale": "It says 15 May.", "evidence": []})
    with speech_server([answer, fine]) as judge:
        trial = held([{"judge": SENTENCE}, {"turns": {"lte": 1}}], judge)
        assert (trial.outcome, trial.stage) == ("ungraded", "judge_error")
        assert in_json(trial, "assertion:1")["status"] == "not_assessed"
        assert in_json(trial, "assertion:2")["status"] == "passed"
        page = shown(signed_in, trial)
        assert said in page
        assert "No verdict" in page
        skipped = in_junit(trial).find(".//skipped")
        assert skipped is not None
        assert (skipped.get("message") or "").startswith("ungraded (judge_error): judge error: ")
        regrade_trial(trial=trial)
        work = claims.claim_grading(trial_id=trial.pk)
        assert work is not None
        grading.grade_claimed(work)
    trial.refresh_from_db()
    assert trial.outcome == "passed"


def test_what_fails_without_a_judge_fails_whatever_the_judge_does() -> None:
    with speech_server([says("no")]) as judge:
        trial = held([{"judge": SENTENCE}, {"turns": {"gte": 2}}], judge)
    assert (trial.outcome, trial.reason) == ("failed", "turns is 1; it must be at least 2")
