"""What nobody else will finish: leases that ran out, messages that were lost, runs that nobody closed.

Everything here is a conditional update or a message that may come twice, so any number of sweepers may run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from runs_app.models import Outcome, Run, Trial, TrialStatus
from runs_app.recorder import bell
from runs_app.services import queues
from runs_app.services.results import close_run, end_trial
from runs_app.services.temporary import delete_expired

MOST_EXPIRIES = 3
GRADING_PATIENCE = timedelta(seconds=10)  # a recorded trial's own message is given this long

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Swept:
    requeued: int = 0
    lost: int = 0
    regraded: int = 0
    lanes: int = 0

    def __bool__(self) -> bool:
        return any((self.requeued, self.lost, self.regraded, self.lanes))


def sweep() -> Swept:
    now = timezone.now()
    expired = Trial.objects.expired(now).values_list("pk", flat=True)
    outcomes = [_give_back(pk) for pk in expired]
    stalled = Trial.objects.grading_expired(now).values_list("pk", flat=True)
    regraded = sum(_give_back_grading(pk) for pk in stalled)
    _send_gradings()
    lanes = _send_lanes()
    for run_id in Run.everything.open().values_list("pk", flat=True):
        close_run(run_id=run_id)
    delete_expired()
    return Swept(requeued=outcomes.count("queued"), lost=outcomes.count("lost"), regraded=regraded, lanes=lanes)


def _give_back(trial_id: int) -> str:
    with transaction.atomic():
        trial = Trial.objects.expired(timezone.now()).select_for_update().filter(pk=trial_id).first()
        if trial is None:
            return "taken"
        expiries = trial.expiries + 1
        Trial.objects.filter(pk=trial_id).update(expiries=expiries)
        if trial.cancel_requested_at:
            end_trial(trial, outcome=Outcome.CANCELLED, reason="cancelled; its worker was lost before it could stop")
            return "cancelled"
        if expiries >= MOST_EXPIRIES:
            reason = f"its worker was lost {expiries} times in mid-conversation"
            end_trial(trial, outcome=Outcome.INVALID, stage="worker_lost", reason=reason)
            return "lost"
        back = {"status": TrialStatus.QUEUED, "lease_expires_at": None, "started_at": None}
        Trial.objects.filter(pk=trial_id).update(**back)
        log.warning("attempt %s of trial %s lost its worker; it is queued again", trial.attempt, trial_id)
        transaction.on_commit(lambda: bell.ring(trial.run_id))
        return "queued"


def _give_back_grading(trial_id: int) -> bool:
    with transaction.atomic():
        trial = Trial.objects.grading_expired(timezone.now()).select_for_update().filter(pk=trial_id).first()
        if trial is None:
            return False
        expiries = trial.grading_expiries + 1
        Trial.objects.filter(pk=trial_id).update(grading_expiries=expiries)
        if expiries >= MOST_EXPIRIES:
            reason = f"the worker that graded it was lost {expiries} times; grade it again"
            end_trial(trial, outcome=Outcome.UNGRADED, reason=reason)
            return False
        Trial.objects.filter(pk=trial_id).update(status=TrialStatus.RECORDED, grading_lease_expires_at=None)
        transaction.on_commit(lambda: queues.send_grading(trial_id=trial_id))
        return True


def _send_gradings() -> None:
    """Again for recorded trials whose message seems lost; while messages wait, they are not."""
    before = timezone.now() - GRADING_PATIENCE
    waiting = Trial.objects.filter(status=TrialStatus.RECORDED, recorded_at__lt=before).order_by("recorded_at")
    trials = list(waiting.values_list("pk", flat=True)[:100])
    if trials and queues.is_empty("grading"):
        queues.send_gradings(trial_ids=trials)


def _send_lanes() -> int:
    """For every run with queued trials and free places; while messages wait, no worker is idle for want of one."""
    now = timezone.now()
    runs = Run.everything.open().filter(cancel_requested_at=None, trials__status=TrialStatus.QUEUED).distinct()
    if not runs or not queues.is_empty("conversations"):
        return 0
    sent = 0
    for run in runs:
        free = run.concurrency - Trial.objects.leased(now).filter(run=run).count()
        wanted = min(free, run.trials.queued().count())
        if wanted > 0:
            queues.send_lanes(run_id=run.pk, count=wanted)
            sent += wanted
    return sent
