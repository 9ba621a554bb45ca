"""What a run came to as plain JSON: what `run_eval --format json` prints and the API will answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from django.conf import settings
from django.core.files.storage import default_storage

from runs_app.known import Marks, Passing, open_marks, passing_in, with_marks
from runs_app.models import Check, KnownFailure, Outcome, Review, Run, RunConfiguration, Trial
from runs_app.problems import problems_of
from runs_app.querysets import TrialQuerySet
from runs_app.reporting.redaction import Redactor, site_redactor
from runs_app.reporting.reviews import current_reviews, outcome_with_review, rates_with_reviews, review_row
from runs_app.stats.configuration import PassRate, summarise_configuration
from runs_app.stats.rows import MEASURED, TrialRow
from runs_app.stats.summary import Summary
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.jsontext import clean, finite


class CheckRow(TypedDict):
    id: str
    status: str
    required: bool
    reason: str


def run_results(run: Run) -> dict[str, Any]:
    """Strict JSON: no NaN, null where nothing was measured. `n` counts trials with a value, `of` all of them."""
    trials, redactor = exported(run)
    checks, marks = current_checks(run), open_marks()
    reviews, rates = current_reviews(run), rates_with_reviews(run)
    found: dict[str, Any] = clean(
        finite(
            {
                "run": run.pk,
                "status": run.status,
                "url": url_of(run),
                "notice": redactor.notice,
                "tool_faults": run.tool_faults,
                "trials": _counts(trials),
                "problems": _problems(run, marks),
                "unexpected_passes": [_passing(one) for one in passing_in(run, marks)] if run.is_over else [],
                "configurations": [_configuration(entry, trials, rates) for entry in configurations_of(run)],
                "results": [
                    redactor.json(_result(trial, checks.get(trial.pk, []), reviews.get(trial.pk))) for trial in trials
                ],
            }
        )
    )
    return found


def exported(run: Run) -> tuple[list[Trial], Redactor]:
    """The run's trials in order with their marks, and a redactor that knows what is to be hidden of them."""
    return with_marks(trials_of(run).defer("record"), open_marks()), redactor_for([run])


def redactor_for(runs: Iterable[Run]) -> Redactor:
    """One that knows the values of the named fields in all trials of these runs."""
    redactor = site_redactor()
    if redactor.fields:
        trials = Trial.objects.filter(run__in=list(runs)).select_related("scenario_version")
        for trial in trials.iterator(chunk_size=200):
            redactor.learn(*trial_evidence(trial))
    return redactor


def trials_of(run: Run) -> TrialQuerySet:
    return run.trials.with_versions().order_by("position")


def trial_evidence(trial: Trial) -> tuple[Any, ...]:
    """Where the values of named fields are found, so that sentences about them can be redacted too."""
    return trial.scenario_version.content, trial.record


def trial_rows(trials: list[Trial]) -> list[TrialRow]:
    """The rows that runs_app.stats computes with. A configuration's key is NAME@VERSION."""
    limits: dict[tuple[int, str], float | None] = {}
    return [
        TrialRow(
            scenario_id=trial.scenario_version.scenario.key,
            run_hash=trial.scenario_version.run_hash,
            configuration_key=str(trial.configuration_version),
            repeat=trial.repeat,
            outcome=trial.outcome,
            stage=trial.stage,
            metrics=trial.metrics,
            timeout_ms=_limit_ms(trial, limits),
        )
        for trial in trials
    ]


def _limit_ms(trial: Trial, known: dict[tuple[int, str], float | None]) -> float | None:
    version = trial.configuration_version
    asked = trial.run.mode or trial.scenario_version.content.get("mode") or ""
    if (version.pk, asked) not in known:
        spec = parse_configuration(version.content)
        known[version.pk, asked] = spec.answer_limit_ms(asked or spec.mode)
    return known[version.pk, asked]


def configurations_of(run: Run) -> list[RunConfiguration]:
    return list(run.configurations.select_related("configuration_version__configuration").order_by("position"))


def _configuration(entry: RunConfiguration, trials: list[Trial], rates: dict[str, dict[str, Any]]) -> dict[str, Any]:
    version = entry.configuration_version
    own = [trial for trial in trials if trial.configuration_version_id == version.pk]
    summary = summarise_configuration(str(version), trial_rows(own), MEASURED)
    rate = summary.pass_rate
    return {
        "name": version.configuration.name,
        "version": version.number,
        "simulated": entry.simulated,
        "metrics": {
            "pass_rate": {"value": rate.value, "n": rate.n, "of": rate.of, **_without_known(rate, own)},
            "pass_rate_with_reviews": rates.get(str(version)),
            "semantic_quality": _mean(summary.metrics["semantic_quality"]),
            "tool_accuracy": _mean(summary.metrics["tool_accuracy"]),
            "response_latency_ms": _spread(summary.metrics["response_latency_ms"]),
        },
    }


def _without_known(rate: PassRate, trials: Iterable[Trial]) -> dict[str, Any]:
    """The share that gates judge: known failures neither pass nor fail it."""
    known = sum(trial.mark is not None for trial in trials)
    judged = rate.n - known
    return {"known": known, "new_value": rate.passed / judged if judged else None}


def _problems(run: Run, marks: Marks) -> list[dict[str, Any]]:
    return [
        {
            "kind": problem.key,
            "words": problem.words,
            "trials": problem.trials,
            "new": problem.new,
            "scenarios": problem.scenarios,
        }
        for problem in problems_of([run], marks).listed
    ]


def _passing(one: Passing) -> dict[str, Any]:
    return {**_mark(one.mark), "passed": one.passed}


def _mark(mark: KnownFailure) -> dict[str, Any]:
    return {
        "scenario": mark.scenario.key,
        "configuration": mark.configuration.name if mark.configuration else None,
        "ticket": mark.ticket,
        "expires_on": mark.expires_on.isoformat(),
    }


def known_in_words(trial: Trial) -> str:
    """`BUG-7, until 2027-05-15`; empty unless it is known now."""
    return f"{trial.mark.ticket}, until {trial.mark.expires_on.isoformat()}" if trial.mark else ""


def _mean(summary: Summary) -> dict[str, Any]:
    return {"mean": summary.mean, "n": summary.n, "of": summary.of}


def _spread(summary: Summary) -> dict[str, Any]:
    return {"mean": summary.mean, "p50": summary.p50, "p95": summary.p95, "n": summary.n, "of": summary.of}


def _counts(trials: list[Trial]) -> dict[str, int]:
    outcomes = [trial.outcome for trial in trials]
    known = sum(trial.mark is not None for trial in trials)
    return {"total": len(trials), **{outcome: outcomes.count(outcome) for outcome in Outcome.values}, "known": known}


def current_checks(run: Run) -> dict[int, list[CheckRow]]:
    """By trial, in order."""
    rows = Check.objects.filter(grading__trial__run=run, grading__current=True).order_by("grading_id", "position")
    found: dict[int, list[CheckRow]] = {}
    for trial, key, status, required, reason in rows.values_list(
        "grading__trial_id", "check_id", "status", "required", "reason"
    ):
        found.setdefault(trial, []).append({"id": key, "status": status, "required": required, "reason": reason})
    return found


def _result(trial: Trial, checks: list[CheckRow], review: Review | None) -> dict[str, Any]:
    return {
        "trial": trial.pk,
        "url": url_of(trial),
        "scenario": trial.scenario_version.scenario.key,
        "configuration": str(trial.configuration_version),
        "repeat": trial.repeat,
        "outcome": trial.outcome or None,
        "stage": trial.stage or None,
        "reason": trial.reason,
        "failure_kind": trial.failure_kind or None,
        "known": _mark(trial.mark) if trial.mark else None,
        "outcome_with_review": outcome_with_review(trial, review) or None,
        "review": review_row(review) if review else None,
        "metrics": trial.metrics,
        "checks": checks,
        "audio": _path(trial.wav),
    }


def url_of(thing: Run | Trial) -> str:
    return f"{settings.SITE_URL}{thing.get_absolute_url()}"


def _path(name: str) -> str | None:
    """Where the stereo WAV lies: a path for files, the name in storage for others."""
    if not name:
        return None
    try:
        return str(default_storage.path(name))
    except NotImplementedError:
        return name
