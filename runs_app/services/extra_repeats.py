"""More repeats of some scenarios for two configurations that a comparison could not tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from runs_app.models import Run, RunConfiguration, RunScenario
from runs_app.services.runs import NotPossible, start_run
from scenarios_app.models import ConfigurationVersion, ScenarioVersion

# what trials of one comparison have in common: with another value they would be other trials
KEPT = ("mode", "real_time", "tool_faults")


def start_extra_repeats(
    *,
    runs: Sequence[Run],
    repeats_of: Mapping[str, int],
    configuration_versions: Sequence[ConfigurationVersion],
    user: User | None = None,
) -> Run:
    """A new run: of each scenario (by id) so many repeats with each configuration, as the runs had them.

    It belongs to no suite: its part of the scenarios is not what the suite's next run is held against. Raises
    NotPossible when the runs differ in what they would hand on, or when an application has changed since; SpecError as
    start_run does.
    """
    holding = _holding(runs, configuration_versions)
    versions = _scenario_versions(holding, repeats_of)
    like = holding[-1]
    with transaction.atomic():
        run = start_run(
            scenario_versions=versions,
            configuration_versions=configuration_versions,
            repeats=max(repeats_of.values()),
            repeats_of=repeats_of,
            concurrency=like.concurrency,
            stop_after_invalid=like.stop_after_invalid,
            name=_name(like, repeats_of),
            user=user,
            **_kept(holding),
        )
        _refuse_other_tools(run, holding)
    return run


def _holding(runs: Sequence[Run], versions: Sequence[ConfigurationVersion]) -> list[Run]:
    """Those that hold one of the configurations, oldest first."""
    entries = RunConfiguration.objects.filter(run__in=runs, configuration_version__in=versions)
    known = list(entries.values_list("run_id", "configuration_version_id"))
    missing = [version for version in versions if version.pk not in {pk for _, pk in known}]
    if missing or not versions:
        raise NotPossible(f"None of the runs holds {missing[0]}." if missing else "No configuration is chosen.")
    wanted = {run for run, _ in known}
    return sorted((run for run in runs if run.pk in wanted), key=lambda run: run.pk)


def _kept(runs: Sequence[Run]) -> dict[str, Any]:
    for name in KEPT:
        if any(getattr(run, name) != getattr(runs[0], name) for run in runs):
            raise NotPossible(f"The runs differ in {name.replace('_', ' ')}: start a new run and choose one.")
    return {name: getattr(runs[0], name) for name in KEPT}


def _scenario_versions(runs: Sequence[Run], repeats_of: Mapping[str, int]) -> list[ScenarioVersion]:
    """As the newest of the runs had them, in the order in which they are named."""
    if not repeats_of or min(repeats_of.values()) < 1:
        raise NotPossible("No repeat of any scenario is asked for.")
    entries = RunScenario.objects.filter(run__in=runs, scenario_version__scenario__key__in=repeats_of)
    found: dict[str, ScenarioVersion] = {}
    for entry in entries.select_related("scenario_version__scenario").order_by("run_id"):
        found[entry.scenario_version.scenario.key] = entry.scenario_version
    missing = [key for key in repeats_of if key not in found]
    if missing:
        raise NotPossible(f"None of the runs holds {missing[0]}.")
    return [found[key] for key in repeats_of]


def _name(like: Run, repeats_of: Mapping[str, int]) -> str:
    count = len(repeats_of)
    text = f"{like}: more repeats of {count} scenario{'' if count == 1 else 's'}"
    return text if len(text) <= 200 else f"{text[:199]}…"


def _refuse_other_tools(run: Run, before: Iterable[Run]) -> None:
    """A configuration that names its application without a version would now run with the newest one."""
    entries = RunConfiguration.objects.select_related(
        "configuration_version__configuration", "application_version__application"
    )
    now = {entry.configuration_version_id: entry for entry in entries.filter(run=run)}
    for entry in entries.filter(run__in=list(before), configuration_version__in=now):
        new = now[entry.configuration_version_id]
        if new.application_version_id != entry.application_version_id:
            raise NotPossible(
                f"{new.configuration_version} ran with {entry.application_version} and would now run with "
                f"{new.application_version}: such trials do not belong together. Start a new run."
            )
