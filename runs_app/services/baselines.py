"""Which configuration a suite's runs are held against."""

from __future__ import annotations

from django.contrib.auth.models import User

from runs_app.models import Baseline, Decision, Run, RunStatus
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.spec.errors import Problem, refuse_if
from scenarios_app.spec.jsontext import clean_text


def promote_baseline(
    *,
    suite: Suite,
    configuration_version: ConfigurationVersion,
    run: Run | None = None,
    decision: Decision | None = None,
    note: str = "",
    user: User | None = None,
) -> Baseline:
    """From now on the suite's baseline; the one before stays in its history. Raises SpecError."""
    note = clean_text(note.strip())
    problems = []
    if run is not None and not run.configurations.filter(configuration_version=configuration_version).exists():
        problems.append(Problem("configuration_version", f"{run} did not run {configuration_version}"))
    if run is not None and run.suite_id != suite.pk:
        problems.append(Problem("run", f"{run} is not a run of {suite}"))
    if len(note) > 500:
        problems.append(Problem("note", "is longer than 500 characters"))
    refuse_if(problems)
    return Baseline.objects.create(
        suite=suite,
        configuration_version=configuration_version,
        run=run,
        decision=decision,
        note=note,
        created_by=user,
    )


def baseline_of(suite: Suite | None) -> Baseline | None:
    return Baseline.objects.of(suite) if suite is not None else None


def run_with(version: ConfigurationVersion, *, suite_id: int | None, run: Run | None = None) -> Run | None:
    """`run` itself if it ran this version, else the newest finished run of the suite that did."""
    if run is not None and run.configurations.filter(configuration_version=version).exists():
        return run
    done = Run.objects.holding([version]).filter(suite=suite_id, status=RunStatus.DONE)
    return done.exclude(pk=run.pk).first() if run is not None else done.first()
