"""What the sweeper mends, and that doing it twice or at once changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis
from django.db import connections
from django.utils import timezone

from runs_app.models import Run, RunStatus, Trial, TrialStatus
from runs_app.services.claims import claim_grading, claim_trial
from runs_app.services.results import close_run
from runs_app.services.sweeping import sweep
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def expire(trial_id: int) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Trial.objects.filter(pk=trial_id).update(lease_expires_at=past, grading_lease_expires_at=past)


def lost_once(run: Run) -> Trial:
    claim = claim_trial(run_id=run.pk)
    assert claim
    expire(claim.trial_id)
    return Trial.objects.get(pk=claim.trial_id)


def test_a_lease_that_ran_out_returns_the_trial_to_the_queue():
    run = make_run()
    trial = lost_once(run)
    assert sweep().requeued == 1
    trial.refresh_from_db()
    assert (trial.status, trial.expiries, trial.lease_expires_at) == (TrialStatus.QUEUED, 1, None)
    assert sweep().requeued == 0


def test_a_lease_that_runs_is_left_alone():
    run = make_run()
    claim_trial(run_id=run.pk)
    assert sweep().requeued == 0
    assert run.trials.get().status == TrialStatus.RUNNING


def test_the_third_loss_makes_a_trial_invalid_and_closes_the_run():
    run = make_run()
    for _ in range(3):
        trial = lost_once(run)
        sweep()
    trial.refresh_from_db()
    assert (trial.outcome, trial.stage, trial.attempt) == ("invalid", "worker_lost", 3)
    run.refresh_from_db()
    assert run.status == RunStatus.DONE


def test_a_lost_trial_that_a_person_cancelled_ends_cancelled():
    run = make_run()
    trial = lost_once(run)
    Trial.objects.update(cancel_requested_at=timezone.now())
    Run.objects.update(cancel_requested_at=timezone.now())
    sweep()
    trial.refresh_from_db()
    assert trial.outcome == "cancelled"
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED


def test_a_lost_grading_is_graded_again_and_given_up_after_the_third_loss():
    run = make_run()
    trial = run.trials.get()
    Trial.objects.update(status=TrialStatus.RECORDED, recorded_at=timezone.now())
    for _ in range(2):
        assert claim_grading(trial_id=trial.pk)
        expire(trial.pk)
        assert sweep().regraded == 1
        trial.refresh_from_db()
        assert trial.status == TrialStatus.RECORDED
    assert claim_grading(trial_id=trial.pk)
    expire(trial.pk)
    assert sweep().regraded == 0
    trial.refresh_from_db()
    assert (trial.status, trial.outcome) == (TrialStatus.DONE, "ungraded")
    assert "grade it again" in trial.reason


def test_sweepers_at_once_count_a_loss_once():
    run = make_run()
    trial = lost_once(run)

    def one(_: int) -> int:
        try:
            return sweep().requeued
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(one, range(6))) == 1
    trial.refresh_from_db()
    assert trial.expiries == 1


def test_a_run_that_nobody_closed_is_closed():
    run = make_run()
    Trial.objects.update(status=TrialStatus.DONE, outcome="passed")
    sweep()
    run.refresh_from_db()
    assert run.status == RunStatus.DONE


def test_a_done_run_with_an_open_trial_opens_again():
    run = make_run()
    Run.objects.update(status=RunStatus.DONE, finished_at=timezone.now())
    close_run(run_id=run.pk)
    run.refresh_from_db()
    assert (run.status, run.finished_at) == (RunStatus.RUNNING, None)


def test_lanes_are_sent_again_only_while_no_message_waits(on_redis):
    make_run(5, concurrency=3)
    client = redis.Redis.from_url(on_redis)
    assert client.llen("conversations") == 3  # from the start of the run
    assert sweep().lanes == 0
    client.delete("conversations")
    assert sweep().lanes == 3
    assert client.llen("conversations") == 3


def test_a_recorded_trial_whose_message_was_lost_is_sent_again(on_redis):
    run = make_run()
    client = redis.Redis.from_url(on_redis)
    Trial.objects.update(status=TrialStatus.RECORDED, recorded_at=timezone.now())
    sweep()
    assert client.llen("grading") == 0  # its own message may still come
    Trial.objects.update(recorded_at=timezone.now() - timedelta(seconds=30))
    sweep()
    assert client.llen("grading") == 1
    sweep()
    assert client.llen("grading") == 1
    assert run.trials.get().status == TrialStatus.RECORDED
