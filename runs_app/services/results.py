"""What came of a trial: the recording of its conversation, the outcome, and the run that ends with its last trial."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from runs_app.models import Grading, Outcome, Run, RunStatus, Trial, TrialStatus
from runs_app.realtime.record import Record
from runs_app.recorder import bell
from runs_app.services import intervals, queues, secrets
from runs_app.services.artifacts import Files
from runs_app.services.claims import Claim, held
from scenarios_app.spec import jsontext

MOST_REASON_CHARACTERS = 1000  # as the column has it


def finish_recording(*, claim: Claim, record: Record, files: Files) -> bool:
    """Stores the conversation and hands it to grading; one that a person stopped is done. False: the attempt is old."""
    now = timezone.now()
    kept = {
        "record": storable(record.to_json()),
        "wav": files.wav,
        "peaks": files.peaks,
        "events_file": files.events,
        "recorded_at": now,
        "lease_expires_at": None,
    }
    if record.ending.kind == "cancelled":
        return finish_claimed(claim=claim, outcome=Outcome.CANCELLED, reason=record.ending.message, **kept)
    if not held(claim).update(status=TrialStatus.RECORDED, **kept):
        return False
    if record.ending.kind == "invalid":
        close_run(run_id=claim.run_id)  # one more of those that may make the rest futile
    bell.ring(claim.run_id)
    queues.send_grading(trial_id=claim.trial_id)
    return True


def finish_claimed(*, claim: Claim, outcome: str, stage: str = "", reason: str = "", **kept: Any) -> bool:
    """Ends a trial that this claim holds, without a grading of its conversation. False: the attempt is old."""
    with transaction.atomic():
        trial = held(claim).select_for_update().first()
        if trial is None:
            return False
        end_trial(trial, outcome=outcome, stage=stage, reason=reason, **kept)
    close_run(run_id=claim.run_id)
    return True


def end_trial(trial: Trial, *, outcome: str, stage: str = "", reason: str = "", **kept: Any) -> None:
    """Within a transaction that holds the trial's row: its outcome, with a grading that remembers this attempt."""
    shown = short_reason((outcome == Outcome.CANCELLED and trial.run.stop_reason) or reason)
    add_grading(trial, outcome=outcome, stage=stage, reason=shown)
    ended = {"status": TrialStatus.DONE, "outcome": outcome, "stage": stage, "reason": shown}
    leases = {"lease_expires_at": None, "grading_lease_expires_at": None}
    Trial.objects.filter(pk=trial.pk).update(
        **{"failure_kind": "", **kept, **ended, **leases, "finished_at": timezone.now()}
    )
    run_id = trial.run_id
    transaction.on_commit(lambda: bell.ring(run_id))


def add_grading(trial: Trial, *, outcome: str, stage: str, reason: str, **facts: Any) -> Grading:
    """The next grading of the trial becomes the current one; those before it stay."""
    last = trial.gradings.aggregate(last=Max("number"))["last"] or 0
    trial.gradings.filter(current=True).update(current=False)
    return Grading.objects.create(
        trial=trial,
        attempt=trial.attempt,
        number=last + 1,
        outcome=outcome,
        stage=stage,
        reason=reason,
        **facts,
    )


def cancel_queued(trial: Trial, now: datetime) -> None:
    end_trial(trial, outcome=Outcome.CANCELLED, reason="cancelled before it began", cancel_requested_at=now)


def cancel_rest(run: Run) -> None:
    """Within a transaction that holds the run's row: ends what is queued, and asks what is under way to end."""
    now = timezone.now()
    Run.everything.filter(pk=run.pk, cancel_requested_at=None).update(cancel_requested_at=now)
    run.trials.filter(status=TrialStatus.RUNNING, cancel_requested_at=None).update(cancel_requested_at=now)
    for trial in run.trials.queued().select_for_update():
        cancel_queued(trial, now)


def close_run(*, run_id: int) -> None:
    """Ends the run when its last trial is done, and opens it again when one is not. Safe to call at any time."""
    with transaction.atomic():
        run = Run.everything.select_for_update().filter(pk=run_id).first()
        if run is None:
            return
        if _is_futile(run):
            Run.everything.filter(pk=run_id).update(stop_reason=run.stop_reason)
            cancel_rest(run)
            run.refresh_from_db(fields=["cancel_requested_at"])
        status, finished_at = _state(run)
        if status == run.status:
            return
        Run.everything.filter(pk=run_id).update(status=status, finished_at=finished_at)
        transaction.on_commit(lambda: bell.ring(run_id))
        if status == RunStatus.DONE:
            transaction.on_commit(lambda: intervals.ask_for_those_of(run))


# what so many invalid trials in a row of one stage mean, for the stages that have a cause in common
_DOWN = {
    "speech": "the speech service is down",
    "authorisation": "the endpoint refuses us",
    "provider_limit": "the provider's limit is reached",
    "pacing": "this machine is too busy",
    "configuration": "the configuration cannot be used",
    "internal": "a fault of ours",
}


def _is_futile(run: Run) -> bool:
    """Whether so many trials were invalid that the rest is not worth a try; `stop_reason` then says it."""
    if run.stop_after_invalid is None or run.cancel_requested_at is not None:
        return False
    stages = run.trials.invalid_stages()
    rest = run.trials.filter(status__in=(TrialStatus.QUEUED, TrialStatus.RUNNING)).count()
    if len(stages) < run.stop_after_invalid or not rest:
        return False
    why = _DOWN.get(max(stages, key=stages.count), "the endpoint is down")
    unspent = f"{rest} {'trial' if rest == 1 else 'trials'}"
    run.stop_reason = f"{why}: stopped after {len(stages)}, {unspent} not spent"
    return True


def _state(run: Run) -> tuple[str, datetime | None]:
    if run.trials.unfinished().exists():
        return (RunStatus.RUNNING if run.is_over else run.status), None
    return (RunStatus.CANCELLED if run.cancel_requested_at else RunStatus.DONE), timezone.now()


def short_reason(text: str) -> str:
    """One line for people, with no secret in it, as long as the column is."""
    line = " ".join(secrets.redact(jsontext.clean_text(text)).split())
    return line if len(line) <= MOST_REASON_CHARACTERS else f"{line[: MOST_REASON_CHARACTERS - 1]}…"


def storable(value: Any) -> Any:
    """The same JSON with clean texts, no NaN and no secret."""
    return secrets.redact(jsontext.finite(jsontext.clean(value)))
