"""A run that stops by itself after so many invalid trials, and a run that is graded again."""

from __future__ import annotations

import pytest

from runs_app.models import Run
from runs_app.realtime.record import Ending
from runs_app.services import claims, grading, results
from runs_app.services.results import finish_claimed
from runs_app.services.runs import NotPossible, cancel_run, regrade_run, retry_invalid
from scenarios_app.spec.errors import SpecError
from tests.grading import builders as evidence
from tests.pages.comparing import Result, finished_run, key, versions
from tests.pages.trials import record_trial
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db


def end_next(run: Run, outcome: str, stage: str = "") -> None:
    claim = claims.claim_trial(run_id=run.pk)
    assert claim is not None
    assert finish_claimed(claim=claim, outcome=outcome, stage=stage)


def came_to(run: Run) -> list[tuple[str, str]]:
    return list(run.trials.order_by("position").values_list("outcome", "reason"))


def test_the_rest_is_cancelled_with_the_reason_and_running_trials_are_asked_to_end() -> None:
    run = make_run(6, stop_after_invalid=2, concurrency=3)
    last = claims.claim_trial(run_id=run.pk)
    assert last is not None
    end_next(run, "passed")
    end_next(run, "invalid", "connect")
    run.refresh_from_db()
    assert run.stop_reason == ""
    end_next(run, "invalid", "connect")
    run.refresh_from_db()
    reason = "the endpoint is down: stopped after 2, 3 trials not spent"
    assert run.stop_reason == reason
    assert claims.renew_lease(claim=last) is False  # a person, or the run itself, wants it to stop
    assert finish_claimed(claim=last, outcome="cancelled", reason="stopped on request")
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert came_to(run) == [
        ("cancelled", reason),
        ("passed", ""),
        ("invalid", ""),
        ("invalid", ""),
        ("cancelled", reason),
        ("cancelled", reason),
    ]


def test_an_invalid_conversation_counts_before_it_is_graded() -> None:
    run = make_run(3, stop_after_invalid=1)
    away = evidence.record(turns=(), ending=Ending("invalid", stage="connect", message="nobody listens"))
    trial = record_trial(run, away, grade=False)
    run.refresh_from_db()
    assert run.stop_reason == "the endpoint is down: stopped after 1, 2 trials not spent"
    work = claims.claim_grading(trial_id=trial.pk)
    assert work is not None
    grading.grade_claimed(work)
    assert [outcome for outcome, _ in came_to(run)] == ["invalid", "cancelled", "cancelled"]


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("session", "the endpoint is down"),
        ("speech", "the speech service is down"),
        ("authorisation", "the endpoint refuses us"),
        ("pacing", "this machine is too busy"),
    ],
)
def test_the_reason_names_what_is_wrong(stage: str, said: str) -> None:
    run = make_run(2, stop_after_invalid=1)
    end_next(run, "invalid", stage)
    run.refresh_from_db()
    assert run.stop_reason == f"{said}: stopped after 1, 1 trial not spent"


def test_failed_trials_never_stop_a_run_and_without_a_limit_nothing_does() -> None:
    for limit, outcome in ((1, "failed"), (None, "invalid")):
        run = make_run(3, stop_after_invalid=limit)
        for _ in range(3):
            end_next(run, outcome)
        run.refresh_from_db()
        assert (run.status, run.stop_reason) == ("done", "")


def test_the_last_trials_of_all_leave_nothing_to_stop() -> None:
    run = make_run(2, stop_after_invalid=2)
    end_next(run, "invalid", "connect")
    end_next(run, "invalid", "connect")
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == ("done", "")
    assert retry_invalid(run=run) == 2


def test_a_person_who_cancels_is_no_endpoint_that_is_down() -> None:
    run = make_run(2, stop_after_invalid=1)
    cancel_run(run=run)
    assert {reason for _, reason in came_to(run)} == {"cancelled before it began"}


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(SpecError, match="stop_after_invalid: must be 1 or more"):
        make_run(1, stop_after_invalid=0)


def test_a_whole_run_is_graded_again_from_what_is_stored() -> None:
    run = make_run(4)
    first = record_trial(run, evidence.record())
    record_trial(run, evidence.record())
    record_trial(run, evidence.record(ending=Ending("cancelled", message="stopped on request")))
    end_next(run, "invalid", "speech")
    run.refresh_from_db()
    assert run.status == "done"
    assert regrade_run(run=run) == 2  # not what was cancelled, and not what never spoke
    run.refresh_from_db()
    assert (run.status, run.finished_at) == ("running", None)
    assert [outcome for outcome, _ in came_to(run)] == ["", "", "cancelled", "invalid"]
    with pytest.raises(NotPossible, match="is not over yet"):
        regrade_run(run=run)
    for trial in run.trials.filter(status="recorded"):
        work = claims.claim_grading(trial_id=trial.pk)
        assert work is not None
        grading.grade_claimed(work)
    run.refresh_from_db()
    assert run.status == "done"
    assert list(first.gradings.order_by("number").values_list("number", "current")) == [(1, False), (2, True)]


def test_a_cancelled_run_stays_cancelled_when_it_is_graded_again() -> None:
    run = make_run(2)
    record_trial(run, evidence.record())
    cancel_run(run=run)
    assert regrade_run(run=run) == 1
    work = claims.claim_grading(trial_id=run.trials.get(status="recorded").pk)
    assert work is not None
    grading.grade_claimed(work)
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_a_run_without_conversations_has_nothing_to_grade() -> None:
    run = finished_run(lambda trial: Result("invalid" if key(trial) else ""), scenarios=1, configurations=versions(1))
    results.close_run(run_id=run.pk)
    with pytest.raises(NotPossible, match="no recorded conversation"):
        regrade_run(run=run)
