"""Runs that are only tried out: how long they stay, and how nothing of them is left."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from runs_app.models import Run
from runs_app.services import artifacts
from runs_app.services.runs import AlreadyFinished, cancel_run
from scenarios_app.services.temporary import delete_temporary

KEPT_FOR = timedelta(hours=24)
MOST_SWEPT = 20  # at once, so that a sweep stays short

log = logging.getLogger(__name__)


def throw_away(*, run: Run) -> None:
    """Shown no more from now on; gone as soon as nobody works on it, which the sweeper looks after. Neither an ordinary
    run nor one that is gone already is touched."""
    thrown = Run.everything.filter(pk=run.pk).exclude(temporary_until=None).update(temporary_until=timezone.now())
    if not thrown:
        return
    try:
        cancel_run(run=run)
    except AlreadyFinished:
        delete_run(run=run)
    except Run.DoesNotExist:  # whoever else threw it away was faster
        return


def delete_expired() -> None:
    """Those that are still under way are cancelled first and go at a later sweep."""
    for run in Run.everything.expired(timezone.now())[:MOST_SWEPT]:
        if run.is_over:
            delete_run(run=run)
        elif run.cancel_requested_at is None:
            throw_away(run=run)


def delete_run(*, run: Run) -> None:
    """A temporary run that is over, with its trials, their files, and the drafts that were made for it."""
    with transaction.atomic():
        found = Run.everything.select_for_update().exclude(temporary_until=None).filter(pk=run.pk).first()
        if found is None or not found.is_over:
            return
        scenarios = list(found.scenarios.values_list("scenario_version__scenario", flat=True))
        configurations = list(found.configurations.values_list("configuration_version__configuration", flat=True))
        trials = list(found.trials.values_list("pk", flat=True))
        found.delete()
        delete_temporary(scenarios=scenarios, configurations=configurations)
        transaction.on_commit(lambda: _delete_files(trials))


def _delete_files(trials: list[int]) -> None:
    for trial in trials:
        try:
            artifacts.delete_files(trial_id=trial)
        except OSError as error:
            log.warning("files of trial %s stay behind: %s", trial, error)
