"""What the workers do. Tasks carry ids, may come twice and may be lost: services decide, these only call them."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from evalsite import logs
from runs_app.models import Trial
from runs_app.services import claims, conversing, grading, intervals, queues

log = logging.getLogger(__name__)


@shared_task(name="runs_app.tasks.run_lane")
def run_lane(run_id: int) -> None:
    """One place of the run: plays a trial and sends itself again while any is queued."""
    with logs.ids(run=run_id):
        claim = None if conversing.leaving.is_set() else claims.claim_trial(run_id=run_id)
        if claim is None:
            log.info("this lane ends: every trial is already claimed, or as many run as may")
            return
        with logs.ids(trial=claim.trial_id, attempt=claim.attempt):
            conversing.hold_conversation(claim)
        if not conversing.leaving.is_set() and Trial.objects.queued().filter(run=run_id).exists():
            queues.send_lanes(run_id=run_id, count=1)


@shared_task(name="runs_app.tasks.grade_trial")
def grade_trial(trial_id: int) -> None:
    with logs.ids(trial=trial_id):
        claim = claims.claim_grading(trial_id=trial_id)
        if claim is None:
            log.info("nothing to grade: it is already claimed or done")
            return
        with logs.ids(run=claim.run_id):
            grading.grade_claimed(claim)


@shared_task(name="runs_app.tasks.make_intervals")
def make_intervals(run_ids: list[int], version_ids: list[int]) -> None:
    """The intervals of percentiles and pass^k that a comparison of these shows."""
    made = intervals.make_intervals(run_ids=run_ids, version_ids=version_ids)
    log.info("made the intervals of %s configurations and pairs", made)


@worker_shutting_down.connect
def give_trials_back(**_: Any) -> None:
    conversing.leave()
