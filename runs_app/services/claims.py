"""Who works on what: claims, their leases, and the fence that keeps an old attempt from writing.

The limit of a run lives here and in no number of messages: one UPDATE takes a queued trial only while the run holds
fewer unexpired leases than its concurrency. The run's row is locked first (PostgreSQL), or the whole database (SQLite
begins IMMEDIATE), so that two claims never count the same lease.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runs_app.models import Run, RunStatus, Trial, TrialStatus
from runs_app.querysets import TrialQuerySet
from runs_app.recorder import bell


class LeaseLost(Exception):
    """Another attempt has the trial, or the lease ran out: whoever holds this claim must write nothing more."""


@dataclass(frozen=True)
class Claim:
    """The right to write one attempt of a trial, for as long as the lease is renewed."""

    trial_id: int
    run_id: int
    attempt: int


@dataclass(frozen=True)
class GradingClaim:
    trial_id: int
    run_id: int
    grading_attempt: int


def claim_trial(*, run_id: int) -> Claim | None:
    """The next queued trial of the run, or None when nothing is queued, the limit is reached or it was cancelled."""
    with transaction.atomic():
        run = Run.everything.select_for_update().filter(pk=run_id, cancel_requested_at=None).first()
        if run is None:
            return None
        trial = Trial.objects.queued().filter(run=run).only("pk", "attempt").order_by("position").first()
        now = timezone.now()
        if trial is None or not _take(trial, now):
            return None
        Run.everything.filter(pk=run_id, status=RunStatus.QUEUED).update(status=RunStatus.RUNNING, started_at=now)
        transaction.on_commit(lambda: bell.ring(run_id))
        return Claim(trial_id=trial.pk, run_id=run_id, attempt=trial.attempt + 1)


def _take(trial: Trial, now: datetime) -> bool:
    free = Trial.objects.queued().with_room(now).filter(pk=trial.pk, attempt=trial.attempt)
    return bool(
        free.update(
            status=TrialStatus.RUNNING, attempt=F("attempt") + 1, started_at=now, lease_expires_at=_lease_end(now)
        )
    )


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def held(claim: Claim) -> TrialQuerySet:
    """The trial, while this claim may still write to it."""
    return Trial.objects.filter(pk=claim.trial_id, attempt=claim.attempt, status=TrialStatus.RUNNING)


def renew_lease(*, claim: Claim) -> bool:
    """True to go on, False when a person wants this trial to stop. Raises LeaseLost.

    A lease that ran out is lost even if nobody took the trial yet: its place in the run may be taken.
    """
    now = timezone.now()
    if not held(claim).filter(lease_expires_at__gt=now).update(lease_expires_at=_lease_end(now)):
        raise LeaseLost(f"attempt {claim.attempt} of trial {claim.trial_id} no longer holds its lease")
    return held(claim).filter(cancel_requested_at=None).exists()


def release_trial(*, claim: Claim) -> bool:
    """Gives the trial back to the queue, because the worker goes away in good order. It counts as no loss.

    False when there is nothing to give back: a person wants it to end, or the attempt is old.
    """
    going_on = held(claim).filter(cancel_requested_at=None)
    released = bool(going_on.update(status=TrialStatus.QUEUED, lease_expires_at=None, started_at=None))
    bell.ring(claim.run_id)
    return released


def claim_grading(*, trial_id: int) -> GradingClaim | None:
    """The right to grade a recorded trial, or None when it is not waiting for that."""
    with transaction.atomic():
        trial = Trial.objects.select_for_update().filter(pk=trial_id, status=TrialStatus.RECORDED).first()
        if trial is None:
            return None
        trial.status = TrialStatus.GRADING
        trial.grading_attempt += 1
        trial.grading_lease_expires_at = _lease_end(timezone.now())
        trial.save(update_fields=["status", "grading_attempt", "grading_lease_expires_at"])
        run_id = trial.run_id
        transaction.on_commit(lambda: bell.ring(run_id))
        return GradingClaim(trial_id=trial_id, run_id=run_id, grading_attempt=trial.grading_attempt)


def held_grading(claim: GradingClaim) -> TrialQuerySet:
    return Trial.objects.filter(pk=claim.trial_id, grading_attempt=claim.grading_attempt, status=TrialStatus.GRADING)


def renew_grading(*, claim: GradingClaim) -> None:
    """Raises LeaseLost."""
    now = timezone.now()
    if not held_grading(claim).update(grading_lease_expires_at=_lease_end(now)):
        raise LeaseLost(f"grading {claim.grading_attempt} of trial {claim.trial_id} was taken over")


def release_all() -> int:
    """Puts every trial under way back, for a supervisor whose workers have all ended. The number of conversations.

    Those that a person wants to end stay, and the sweeper ends them.
    """
    with transaction.atomic():
        grading = Trial.objects.filter(status=TrialStatus.GRADING)
        grading.update(status=TrialStatus.RECORDED, grading_lease_expires_at=None)
        running = Trial.objects.filter(status=TrialStatus.RUNNING, cancel_requested_at=None)
        return running.update(status=TrialStatus.QUEUED, lease_expires_at=None, started_at=None)
