"""Public cases of part B on the whole road: a real socket, a real judge's endpoint, and what is stored and shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from runs_app.models import Grading, Trial
from runs_app.services import conversing, grading
from runs_app.services.claims import claim_grading, claim_trial
from runs_app.services.runs import regrade_trial
from scenarios_app.spec.lint import lint
from scenarios_app.spec.scenario import parse_scenario
from tests.grading import builders as evidence
from tests.grading.judge_server import says
from tests.pages.trials import record_trial
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.scripted_events import call_item, call_reply, text_reply
from tests.scripted_server import Hang, ScriptedServer, Step, serving_in_thread
from tests.speech_server import speech_server
from tests.support import make_user

pytestmark = pytest.mark.django_db(transaction=True)

ALL_IS_WELL = says({"passed": True, "score": 1, "rationale": "All is well.", "evidence": []})
TOMORROW = "A table for Nora tomorrow, and another one next Monday, please."


def play(scenario_: dict[str, Any], agent: ScriptedServer, **more: Any) -> Trial:
    run = make_run([scenario_], configurations=[make_configuration(endpoint=agent.url, **more)])
    claim = claim_trial(run_id=run.pk)
    assert claim is not None
    conversing.hold_conversation(claim)
    return graded(claim.trial_id)


def graded(trial_id: int) -> Trial:
    work = claim_grading(trial_id=trial_id)
    assert work is not None
    grading.grade_claimed(work)
    return Trial.objects.get(pk=trial_id)


def again(trial: Trial) -> Trial:
    regrade_trial(trial=trial)
    return graded(trial.pk)


def verdict(one: Grading) -> tuple[Any, ...]:
    return one.outcome, one.stage, one.reason, one.metrics, list(one.checks.values("check_id", "status", "evidence"))


def shown(trial: Trial) -> str:
    client = Client()
    client.force_login(make_user(f"viewer {trial.pk}"))
    return client.get(f"/trials/{trial.pk}/").content.decode()


def booking(*dates: str) -> list[Step]:
    """An agent that books these days in one answer."""
    arguments = [json.dumps({"guest_name": "Nora", "date": day}) for day in dates]
    calls = [call_item("create_reservation", text, call_id=f"call_{n}") for n, text in enumerate(arguments)]
    after = [*agents.ASKED[:1], *agents.ASKED, *text_reply("Both tables are booked.", "resp_2")]
    return [*agents.UP, *agents.ASKED, *call_reply(calls, "resp_1"), *after, Hang()]


def relative(reference: str, *dates: str) -> dict[str, Any]:
    required = [{"name": "create_reservation", "arguments": {"date": {"$date": day}}} for day in dates]
    expected = {"answer": "Both are booked.", "tools": {"required": required}}
    return scenario("relative", reference_date=reference, input={"text": TOMORROW}, expected=expected)


@pytest.mark.case("B05")
@pytest.mark.parametrize(
    ("reference", "tomorrow", "monday"),
    [("2027-03-05", "2027-03-06", "2027-03-08"), ("2027-12-31", "2028-01-01", "2028-01-03")],
)
def test_tomorrow_is_counted_from_the_reference_date_whatever_today_is(reference, tomorrow, monday) -> None:
    """B05: both dates pass, the agent is told the reference date, and grading later says the same."""
    with (
        speech_server([ALL_IS_WELL]) as judge,
        serving_in_thread(booking(tomorrow, monday)) as agent,
    ):
        judged = {"judge": {"endpoint": judge.url, "model": "judge-1"}}
        with time_machine.travel(datetime(2026, 11, 30, 12, tzinfo=UTC)):
            trial = play(relative(reference, tomorrow, monday), agent, **judged)
        for today in (datetime(2027, 3, 4, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)):
            with time_machine.travel(today):
                trial = again(trial)
    assert trial.outcome == "passed", trial.reason
    first, *later = trial.gradings.order_by("number")
    assert len(later) == 2
    assert [verdict(one) for one in later] == [verdict(first)] * 2
    told = agent.sessions[0].events("session.update")[0]["session"]["instructions"]
    assert reference in told
    assert trial.record["reference_date"] == reference
    assert f"<dt>reference date</dt><dd>{reference}" in shown(trial)


@pytest.mark.case("B05")
def test_the_day_after_is_not_tomorrow_and_words_without_a_reference_date_are_warned_of() -> None:
    """B05: a wrong day fails; relative words alone get an import warning."""
    wrong = relative("2027-03-05", "2027-03-06", "2027-03-08")
    with serving_in_thread(booking("2027-03-07", "2027-03-08")) as agent:
        trial = play(wrong, agent)
    assert trial.outcome == "failed"
    assert "date" in trial.reason
    assert not [remark for remark in lint(parse_scenario(wrong)) if "reference_date" in remark.message]
    without = {name: value for name, value in wrong.items() if name != "reference_date"}
    (remark,) = [remark for remark in lint(parse_scenario(without)) if "reference_date" in remark.message]
    assert remark.path == "input.text"


ROWS = [
    ("O'Neil", "O’Neil", True, True, False),
    ("Zoë", "Zoe\u0308", True, True, False),
    ("Room 12", "Room １２", False, True, False),
    ("Nora", "Nora ", True, True, False),
    ("nora", "NORA", True, True, False),
    ("$8.540", "$9.540", False, False, False),
]


@pytest.mark.case("B07")
@pytest.mark.parametrize(("wanted", "said", "default", "nfkc", "exact"), ROWS)
def test_names_are_compared_as_people_read_them(wanted: str, said: str, default: bool, nfkc: bool, exact: bool) -> None:
    """B07: by default, with NFKC and exactly, from stored evidence to the verdict on the arguments."""
    options = [(wanted, default), ({"$text": wanted, "nfkc": True}, nfkc), ({"$exact": wanted}, exact)]
    calls = [{"name": "create_reservation", "arguments": {"guest_name": value}} for value, _ in options]
    for expected, (_, ok) in zip(calls, options, strict=True):
        run = make_run([scenario(expected={"answer": "Booked.", "tools": {"required": [expected]}})])
        trial = record_trial(run, evidence.record(evidence.call(arguments={"guest_name": said})))
        check = trial.gradings.get().checks.get(check_id="parameter_accuracy")
        assert (check.status, trial.outcome) == (("passed",) * 2 if ok else ("failed",) * 2), check.reason


@pytest.mark.case("B10")
def test_a_promise_to_transfer_is_no_transfer() -> None:
    """B10, first: the required call is missing; state and judge like the reply."""
    expected = {
        "answer": "Transfers the caller.",
        "tools": {"required": [{"name": "transfer_to_person"}]},
        "state": {"unchanged": True},
    }
    with speech_server([ALL_IS_WELL]) as judge, serving_in_thread(agents.answering("I'll put you through.")) as agent:
        asked = {"judge": {"endpoint": judge.url, "model": "judge-1"}}
        trial = play(scenario("transfer", expected=expected), agent, **asked)
    assert (trial.outcome, trial.metrics["task_completed"]) == ("failed", False)
    checks = dict(trial.gradings.get().checks.values_list("check_id", "status"))
    assert (checks["tool_selection"], checks["final_state"]) == ("failed", "passed")
    assert trial.semantic_quality == 1.0  # shown as diagnostic, it decides nothing
    page = shown(trial)
    assert "task_understanding" in page
    assert "tool_selection" in page


@pytest.mark.case("B10")
@pytest.mark.parametrize("expected", [None, {}, {"tools": {"required": [], "prohibited": []}, "state": {}}])
def test_nothing_expected_is_ungraded_and_warned_of(expected: dict[str, Any] | None) -> None:
    """B10, second and third: no expectations (schema 1.1), or a block of them that is empty."""
    given = scenario("nothing", mode="text")
    del given["expected"]
    if expected is not None:
        given["expected"] = expected
    assert "nothing is expected, so this scenario stays ungraded" in [r.message for r in lint(parse_scenario(given))]
    with speech_server([ALL_IS_WELL]) as judge, serving_in_thread(agents.answering()) as agent:
        trial = play(given, agent, judge={"endpoint": judge.url, "model": "judge-1"})
    assert (trial.outcome, trial.stage) == ("ungraded", "nothing_expected")
    assert judge.asked == []
    assert (trial.semantic_quality, trial.tool_accuracy, trial.metrics["task_completed"]) == (None, None, None)
    checks = dict(trial.gradings.get().checks.values_list("check_id", "status"))
    assert {checks[name] for name in ("tool_selection", "parameter_accuracy", "final_state")} == {"not_applicable"}
    assert "ungraded" in shown(trial)
