"""What a trial is made of, read from the versions that its run fixed."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.models import RunConfiguration, RunScenario, Trial
from scenarios_app.models import ApplicationVersion
from scenarios_app.spec.application import Application, parse_application
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.scenario import Scenario, parse_scenario


@dataclass(frozen=True)
class Material:
    scenario: Scenario
    configuration: Configuration
    application: Application | None  # the scenario's own one wins over the configuration's


def material_of(trial: Trial) -> Material:
    """Raises SpecError when a stored version is no longer what the contract says."""
    version = application_of(trial)
    return Material(
        scenario=parse_scenario(trial.scenario_version.content),
        configuration=parse_configuration(trial.configuration_version.content),
        application=parse_application(version.content) if version else None,
    )


def application_of(trial: Trial) -> ApplicationVersion | None:
    own = RunScenario.objects.select_related("application_version").get(
        run=trial.run_id, scenario_version=trial.scenario_version_id
    )
    if own.application_version is not None:
        return own.application_version
    default = RunConfiguration.objects.select_related("application_version").get(
        run=trial.run_id, configuration_version=trial.configuration_version_id
    )
    return default.application_version
