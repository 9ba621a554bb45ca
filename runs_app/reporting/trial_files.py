"""One trial as files: everything stored about it as JSON, and its events."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.storage import default_storage

from runs_app.models import Grading, RunConfiguration, Trial
from runs_app.reporting.redaction import Redactor, site_redactor
from runs_app.reporting.results import trial_evidence
from runs_app.reporting.reviews import review_row
from scenarios_app.spec.jsontext import dumps, finite

Json = Any


def trial_redactor(trial: Trial) -> Redactor:
    redactor = site_redactor()
    redactor.learn(*trial_evidence(trial))
    return redactor


def trial_document(trial: Trial) -> dict[str, Json]:
    """Strict JSON."""
    grading = trial.gradings.filter(current=True).prefetch_related("checks", "grades").first()
    redactor = trial_redactor(trial)
    body = {
        "trial": trial.pk,
        "run": trial.run_id,
        "simulated": is_simulated(trial),
        "scenario": {"version": trial.scenario_version.number, "content": trial.scenario_version.content},
        "configuration": str(trial.configuration_version),
        "repeat": trial.repeat,
        "seed": trial.seed,
        "status": trial.status,
        "outcome": trial.outcome or None,
        "stage": trial.stage or None,
        "reason": trial.reason,
        "metrics": trial.metrics,
        **_verdicts(grading),
        "reviews": [review_row(review) for review in trial.reviews.select_related("reviewer")],
        "record": trial.record,
    }
    hidden: dict[str, Json] = redactor.json(finite(body))
    return {"notice": redactor.notice, **hidden}


def _verdicts(grading: Grading | None) -> dict[str, Json]:
    if grading is None:
        return {"checks": [], "grades": []}
    checks = ("check_id", "status", "required", "reason", "evidence")
    grades = ("dimension", "status", "score", "rationale", "judge_error")
    return {
        "checks": [{name: getattr(check, name) for name in checks} for check in grading.checks.all()],
        "grades": [{name: getattr(grade, name) for name in grades} for grade in grading.grades.all()],
    }


def is_simulated(trial: Trial) -> bool:
    """Whether it talked to our own simulator."""
    entries = RunConfiguration.objects.filter(run=trial.run_id, configuration_version=trial.configuration_version_id)
    return entries.filter(simulated=True).exists()


def stored_events(trial: Trial) -> list[dict[str, Json]]:
    """The events of docs/events.md in order. Raises FileNotFoundError when there is no such file."""
    if not trial.events_file:
        raise FileNotFoundError(f"trial {trial.pk} left no events")
    with default_storage.open(trial.events_file) as file:
        return [json.loads(line) for line in file.read().decode().splitlines() if line.strip()]


def redacted_events(trial: Trial, redactor: Redactor) -> bytes:
    """As they are stored, one a line, without what is to be hidden. Raises FileNotFoundError."""
    return "".join(f"{dumps(redactor.json(event))}\n" for event in stored_events(trial)).encode()
