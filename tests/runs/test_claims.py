"""Claims and leases. The same tests run on SQLite and, started by test_postgres.py, on PostgreSQL."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from runs_app.models import Run, RunStatus, Trial, TrialStatus
from runs_app.services import claims
from runs_app.services.claims import LeaseLost, claim_grading, claim_trial, release_trial, renew_lease
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def leased(run: Run) -> int:
    return Trial.objects.leased(timezone.now()).filter(run=run).count()


def expire(trial_id: int) -> None:
    Trial.objects.filter(pk=trial_id).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_a_claim_takes_queued_trials_in_order_and_starts_the_run():
    run = make_run(3, concurrency=3)
    taken = [claim_trial(run_id=run.pk) for _ in range(3)]
    in_order = list(run.trials.order_by("position").values_list("pk", flat=True))
    assert [claim.trial_id for claim in taken if claim] == in_order
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    assert run.started_at is not None
    assert set(run.trials.values_list("status", "attempt")) == {(TrialStatus.RUNNING, 1)}


def test_no_claim_is_given_beyond_the_concurrency():
    run = make_run(5, concurrency=2)
    assert [claim_trial(run_id=run.pk) is not None for _ in range(4)] == [True, True, False, False]


def test_another_run_does_not_count_against_the_limit():
    first, second = make_run(2, concurrency=1), make_run(2, concurrency=1)
    assert claim_trial(run_id=first.pk)
    assert claim_trial(run_id=second.pk)
    assert claim_trial(run_id=first.pk) is None


def test_a_place_is_free_again_when_its_lease_has_run_out():
    run = make_run(2, concurrency=1)
    first = claim_trial(run_id=run.pk)
    assert first
    assert claim_trial(run_id=run.pk) is None
    expire(first.trial_id)
    second = claim_trial(run_id=run.pk)
    assert second
    assert second.trial_id != first.trial_id


def test_threads_that_claim_at_once_never_exceed_the_limit_and_never_share_a_trial():
    run = make_run(40, concurrency=6)
    taken: list[int] = []
    most = 0
    together = threading.Barrier(12)
    lock = threading.Lock()

    def lane() -> None:
        nonlocal most
        together.wait(20)
        try:
            while claim := claim_trial(run_id=run.pk):
                with lock:
                    taken.append(claim.trial_id)
                    most = max(most, leased(run))
                Trial.objects.filter(pk=claim.trial_id).update(status=TrialStatus.DONE, lease_expires_at=None)
        finally:
            connections.close_all()

    # A lane that finds the limit reached ends, as in the product; so lanes are sent again until nothing is queued.
    for _ in range(40):
        if not Trial.objects.queued().filter(run=run).exists():
            break
        together.reset()
        with ThreadPoolExecutor(12) as pool:
            for lane_done in [pool.submit(lane) for _ in range(12)]:
                lane_done.result(60)
    assert sorted(taken) == sorted(run.trials.values_list("pk", flat=True))
    assert most <= 6


def test_a_renewal_moves_the_end_of_the_lease():
    run = make_run()
    claim = claim_trial(run_id=run.pk)
    assert claim
    soon = timezone.now() + timedelta(seconds=1)
    Trial.objects.update(lease_expires_at=soon)
    assert renew_lease(claim=claim) is True
    assert Trial.objects.get().lease_expires_at > soon


def test_a_lease_that_ran_out_cannot_be_renewed_even_if_nobody_took_the_trial():
    run = make_run()
    claim = claim_trial(run_id=run.pk)
    assert claim
    expire(claim.trial_id)
    with pytest.raises(LeaseLost):
        renew_lease(claim=claim)


def test_an_old_attempt_can_neither_renew_nor_release():
    run = make_run()
    old = claim_trial(run_id=run.pk)
    assert old
    assert release_trial(claim=old)
    new = claim_trial(run_id=run.pk)
    assert new
    assert new.attempt == old.attempt + 1
    with pytest.raises(LeaseLost):
        renew_lease(claim=old)
    assert not release_trial(claim=old)
    assert renew_lease(claim=new)


def test_the_holder_learns_that_a_person_wants_it_to_stop():
    run = make_run()
    claim = claim_trial(run_id=run.pk)
    assert claim
    Trial.objects.update(cancel_requested_at=timezone.now())
    assert renew_lease(claim=claim) is False


def test_a_cancelled_run_gives_no_claims():
    run = make_run(2)
    Run.objects.update(cancel_requested_at=timezone.now())
    assert claim_trial(run_id=run.pk) is None


def test_only_one_of_many_graders_gets_a_recorded_trial():
    run = make_run()
    trial = run.trials.get()
    Trial.objects.update(status=TrialStatus.RECORDED)

    def grader(_: int) -> bool:
        try:
            return claim_grading(trial_id=trial.pk) is not None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(grader, range(8))) == 1
    trial.refresh_from_db()
    assert (trial.status, trial.grading_attempt) == (TrialStatus.GRADING, 1)


def test_releasing_everything_puts_trials_under_way_back_but_not_those_that_shall_end():
    run = make_run(4, concurrency=4)
    for _ in range(3):
        claim_trial(run_id=run.pk)
    first, second, third, fourth = run.trials.all()
    Trial.objects.filter(pk=second.pk).update(status=TrialStatus.GRADING)
    Trial.objects.filter(pk=third.pk).update(cancel_requested_at=timezone.now())
    assert claims.release_all() == 1
    statuses = [Trial.objects.get(pk=trial.pk).status for trial in (first, second, third, fourth)]
    assert statuses == [TrialStatus.QUEUED, TrialStatus.RECORDED, TrialStatus.RUNNING, TrialStatus.QUEUED]
