"""A run as CSV: one row for each trial. Missing is an empty cell, never 0."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import datetime

from runs_app.grading.metrics import METRICS
from runs_app.models import Review, Run, Trial
from runs_app.problems import kind_in_words
from runs_app.reporting.cells import Cell, safe
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.results import (
    CheckRow,
    configurations_of,
    current_checks,
    exported,
    known_in_words,
    url_of,
)
from runs_app.reporting.reviews import current_reviews, outcome_with_review
from scenarios_app.spec.jsontext import finite

COLUMNS = (
    "run",
    "trial",
    "url",
    "scenario",
    "scenario_version",
    "title",
    "configuration",
    "simulated",
    "repeat",
    "seed",
    "attempt",
    "status",
    "outcome",
    "stage",
    "reason",
    "failed_checks",
    "failure_kind",
    "known",
    "outcome_with_review",
    "review_verdict",
    "review_fault",
    "review_scores",
    "review_note",
    "reviewed_by",
    "reviewed_at",
    "started_at",
    "recorded_at",
    "finished_at",
)


def trials_csv(run: Run) -> str:
    trials, redactor = exported(run)
    checks, reviews = current_checks(run), current_reviews(run)
    simulated = {entry.configuration_version_id: entry.simulated for entry in configurations_of(run)}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, *METRICS])
    for trial in trials:
        cells = _cells(trial, checks.get(trial.pk, []), simulated[trial.configuration_version_id])
        cells |= _review_cells(trial, reviews.get(trial.pk))
        writer.writerow(_row(cells, trial.metrics, redactor))
    return text.getvalue()


def _row(cells: Mapping[str, Cell], metrics: Mapping[str, Cell], redactor: Redactor) -> Iterable[Cell]:
    shown = redactor.json({**cells, **{name: finite(metrics.get(name)) for name in METRICS}})
    return [safe(shown[name]) for name in (*COLUMNS, *METRICS)]


def _cells(trial: Trial, checks: Iterable[CheckRow], simulated: bool) -> dict[str, Cell]:
    failed = [check["id"] for check in checks if check["required"] and check["status"] == "failed"]
    return {
        "run": trial.run_id,
        "trial": trial.pk,
        "url": url_of(trial),
        "scenario": trial.scenario_version.scenario.key,
        "scenario_version": trial.scenario_version.number,
        "title": trial.scenario_version.title,
        "configuration": str(trial.configuration_version),
        "simulated": "yes" if simulated else "no",
        "repeat": trial.repeat,
        "seed": trial.seed,
        "attempt": trial.attempt,
        "status": trial.status,
        "outcome": trial.outcome,
        "stage": trial.stage,
        "reason": trial.reason,
        "failed_checks": " ".join(failed),
        "failure_kind": kind_in_words(trial.failure_kind) if trial.failure_kind else "",
        "known": known_in_words(trial),
        "started_at": _iso(trial.started_at),
        "recorded_at": _iso(trial.recorded_at),
        "finished_at": _iso(trial.finished_at),
    }


def _review_cells(trial: Trial, review: Review | None) -> dict[str, Cell]:
    scores = review.scores.items() if review else ()
    return {
        "outcome_with_review": outcome_with_review(trial, review),
        "review_verdict": review.verdict if review else "",
        "review_fault": review.fault if review else "",
        "review_scores": " ".join(f"{name}={score:g}" for name, score in scores),
        "review_note": review.note if review else "",
        "reviewed_by": review.reviewer.get_username() if review and review.reviewer else "",
        "reviewed_at": _iso(review.created_at) if review else "",
    }


def _iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""
