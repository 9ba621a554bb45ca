"""What a run will use, fixed when it starts: versions and applications, and a refusal of what cannot work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from runs_app.services.casting import casting_problem
from runs_app.services.tooling import application_problems
from scenarios_app.models import ApplicationVersion, ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.services.applications import find_application_version
from scenarios_app.services.reports import NotStored
from scenarios_app.spec import configuration as configuration_spec
from scenarios_app.spec import scenario as scenario_spec
from scenarios_app.spec.application import ApplicationRef, parse_application
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.configuration_rules import SIMULATOR
from scenarios_app.spec.errors import Problem, SpecError, refuse_if
from scenarios_app.spec.scenario import Scenario, parse_scenario
from scenarios_app.spec.tool_faults import ToolFault, unknown_tools

T = TypeVar("T")


@dataclass(frozen=True)
class ChosenScenario:
    version: ScenarioVersion
    spec: Scenario
    application: ApplicationVersion | None  # that the scenario itself names


@dataclass(frozen=True)
class ChosenConfiguration:
    version: ConfigurationVersion
    spec: Configuration
    application: ApplicationVersion | None

    @property
    def simulated(self) -> bool:
        """Whether the agent, the caller's voice or the judge is our own simulator."""
        judge = self.spec.judge
        return SIMULATOR in (self.spec.endpoint, self.spec.caller.endpoint, judge.endpoint if judge else None)


@dataclass(frozen=True)
class Snapshot:
    scenarios: tuple[ChosenScenario, ...]
    configurations: tuple[ChosenConfiguration, ...]


def take_snapshot(
    *,
    suite: Suite | None,
    scenarios: Sequence[ScenarioVersion] | None,
    configurations: Sequence[ConfigurationVersion],
    faults: Mapping[str, ToolFault],
) -> Snapshot:
    """Raises SpecError with every reason why this cannot be run. `faults` are the run's own."""
    problems: list[Problem] = []
    versions = newest_of(suite) if scenarios is None else list(scenarios)
    problems += _selection_problems(suite, versions, configurations)
    chosen_scenarios = [_collect(_scenario, version, problems) for version in versions]
    chosen_configurations = [_collect(_configuration, version, problems) for version in configurations]
    refuse_if(problems)
    snapshot = Snapshot(
        tuple(chosen for chosen in chosen_scenarios if chosen),
        tuple(chosen for chosen in chosen_configurations if chosen),
    )
    refuse_if([*_casting_problems(snapshot), *_tool_problems(snapshot), *_application_problems(snapshot, faults)])
    return snapshot


def newest_of(suite: Suite | None) -> list[ScenarioVersion]:
    """The newest version of each scenario of the suite that is not archived, in the suite's order."""
    if suite is None:
        return []
    entries = suite.entries.filter(scenario__archived_at=None, scenario__latest__isnull=False)
    ordered = entries.select_related("scenario__latest__scenario").order_by("position")
    return [entry.scenario.latest for entry in ordered if entry.scenario.latest]


def _selection_problems(
    suite: Suite | None, scenarios: Sequence[ScenarioVersion], configurations: Sequence[ConfigurationVersion]
) -> list[Problem]:
    problems = []
    if not scenarios:
        of_suite = f"suite {suite.name} has no scenarios that can be run" if suite else "no scenario is chosen"
        problems.append(Problem("scenarios", of_suite))
    if not configurations:
        problems.append(Problem("configurations", "no configuration is chosen"))
    problems += [Problem("scenarios", f"{key} is chosen twice") for key in _twice([v.scenario.key for v in scenarios])]
    problems += [Problem("configurations", f"{label} is chosen twice") for label in _twice(map(str, configurations))]
    return problems


def _twice(names: Sequence[str] | map[str]) -> list[str]:
    listed = list(names)
    return sorted({name for name in listed if listed.count(name) > 1})


def _collect(
    choose: Callable[..., T], version: ScenarioVersion | ConfigurationVersion, found: list[Problem]
) -> T | None:
    """The chosen version, or None with its problems added to those found so far."""
    try:
        return choose(version)
    except SpecError as error:
        name = version.content["id"] if isinstance(version, ScenarioVersion) else str(version)
        found += [Problem("", f"{name}: {problem}") for problem in error.problems]
        return None


def _scenario(version: ScenarioVersion) -> ChosenScenario:
    spec = parse_scenario(version.content)
    refuse_if(scenario_spec.unsupported_fields(spec))
    return ChosenScenario(version, spec, _application(spec.application.ref, "application.ref"))


def _configuration(version: ConfigurationVersion) -> ChosenConfiguration:
    spec = parse_configuration(version.content)
    refuse_if(configuration_spec.unsupported_fields(spec))
    return ChosenConfiguration(version, spec, _application(spec.application, "application"))


def _application(reference: ApplicationRef | None, path: str) -> ApplicationVersion | None:
    if reference is None:
        return None
    label = reference.name if reference.version is None else f"{reference.name}@{reference.version}"
    try:
        return find_application_version(label)
    except NotStored as error:
        raise SpecError([Problem(path, str(error))]) from error


def _application_problems(snapshot: Snapshot, faults: Mapping[str, ToolFault]) -> list[Problem]:
    """What this site cannot run of the applications in use, and faults of tools that none of them has."""
    defaults = {chosen.application for chosen in snapshot.configurations if chosen.application}
    own = {chosen.application for chosen in snapshot.scenarios if chosen.application}
    in_use = own if all(chosen.application for chosen in snapshot.scenarios) else own | defaults
    specs = {version: parse_application(version.content) for version in sorted(in_use, key=str)}
    problems = [
        Problem("", f"{version}: {problem}")
        for version, spec in specs.items()
        for problem in application_problems(spec)
    ]
    tools = {version: spec.tool_names for version, spec in specs.items()}
    for chosen in snapshot.scenarios:
        met = [chosen.application] if chosen.application else defaults
        known = {name for version in met for name in tools[version]}
        found = unknown_tools(chosen.spec.tool_faults, known)
        problems += [Problem("", f"{chosen.spec.id}: {problem}") for problem in found]
    return problems + unknown_tools(faults, {name for names in tools.values() for name in names})


def _casting_problems(snapshot: Snapshot) -> list[Problem]:
    """Scenarios that a persona leads, with configurations that name no model to play it: one line for each of these."""
    found: dict[ConfigurationVersion, Problem] = {}
    for configuration in snapshot.configurations:
        for scenario in snapshot.scenarios:
            if problem := casting_problem(scenario.spec, configuration.spec):
                found.setdefault(configuration.version, Problem("", f"{configuration.version}: {problem}"))
    return list(found.values())


def _tool_problems(snapshot: Snapshot) -> list[Problem]:
    """Tools declared twice, for each configuration with each application that one of its trials will use."""
    own = {chosen.application.pk: chosen.application for chosen in snapshot.scenarios if chosen.application}
    needs_default = any(chosen.application is None for chosen in snapshot.scenarios)
    problems = []
    for chosen in snapshot.configurations:
        default = [chosen.application] if needs_default and chosen.application else []
        for version in [*default, *own.values()]:
            conflicts = configuration_spec.tool_conflicts(chosen.spec, parse_application(version.content))
            problems += [Problem("", f"{chosen.version}: {problem}") for problem in conflicts]
    return problems
