"""Configurations: agents under test. A version that was used never changes; a save makes the next one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import ApplicationVersion, Configuration, ConfigurationVersion
from scenarios_app.services.applications import find_application_version
from scenarios_app.services.named import (
    CONFIGURATIONS,
    create_named,
    find_named,
    find_version,
    import_entries,
    save_named,
)
from scenarios_app.services.reports import ImportReport, NotStored, Saved
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import Configuration as ConfigurationSpec
from scenarios_app.spec.configuration import (
    parse_configuration,
    parse_configurations,
    tool_conflicts,
    unsupported_fields,
)
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.lint import lint_configuration


def import_configurations(*, data: bytes, user: User | None = None) -> ImportReport:
    """A JSON list of configurations, all or nothing. An application that is not stored yet is only warned about,
    so that files may be imported in any order. Raises SpecError with every problem.
    """
    specs = parse_configurations(data)
    warnings: list[Problem] = []
    conflicts: list[Problem] = []
    for index, spec in enumerate(specs):
        try:
            application = referred_application(spec)
        except NotStored as error:
            warnings.append(Problem(f"[{index}].application", str(error)))
            continue
        conflicts += [problem.under(f"[{index}]") for problem in _conflicts(spec, application)]
    if conflicts:
        raise SpecError(conflicts)
    return import_entries(kind=CONFIGURATIONS, specs=specs, user=user, warnings=warnings)


def checked_configuration(content: Mapping[str, Any]) -> ConfigurationSpec:
    """The content parsed, its application found and its tools free of conflicts. Raises SpecError."""
    spec = parse_configuration(content)
    try:
        application = referred_application(spec)
    except NotStored as error:
        raise SpecError([Problem("application", str(error))]) from error
    conflicts = _conflicts(spec, application)
    if conflicts:
        raise SpecError(conflicts)
    return spec


def configuration_warnings(content: Mapping[str, Any]) -> list[Problem]:
    """What is right by contract but worth a second look. Raises SpecError when it is not right."""
    spec = checked_configuration(content)
    return [*(Problem(*remark) for remark in lint_configuration(spec)), *unsupported_fields(spec)]


def referred_application(spec: ConfigurationSpec) -> ApplicationVersion | None:
    """The stored application that it names, or None when it names none. Raises NotStored."""
    reference = spec.application
    if reference is None:
        return None
    label = reference.name if reference.version is None else f"{reference.name}@{reference.version}"
    return find_application_version(label)


def _conflicts(spec: ConfigurationSpec, application: ApplicationVersion | None) -> list[Problem]:
    if application is None:
        return []
    return list(tool_conflicts(spec, parse_application(application.content)))


def create_configuration(
    *, content: Mapping[str, Any], user: User | None = None, note: str = ""
) -> ConfigurationVersion:
    version: ConfigurationVersion = create_named(
        kind=CONFIGURATIONS, spec=checked_configuration(content), user=user, note=note
    )
    return version


def save_configuration(
    *,
    configuration: Configuration,
    content: Mapping[str, Any],
    user: User | None = None,
    note: str = "",
    expected_number: int | None = None,
) -> Saved[ConfigurationVersion]:
    """Raises SpecError, and ChangedMeanwhile when a newer version than the expected one is stored."""
    return save_named(
        kind=CONFIGURATIONS,
        thing=configuration,
        spec=checked_configuration(content),
        user=user,
        note=note,
        expected_number=expected_number,
    )


def find_configuration(name: str) -> Configuration:
    """Raises NotStored, which lists what there is."""
    configuration: Configuration = find_named(CONFIGURATIONS, name)
    return configuration


def find_configuration_version(label: str) -> ConfigurationVersion:
    """NAME@VERSION, or NAME for the newest. Raises NotStored."""
    version: ConfigurationVersion = find_version(CONFIGURATIONS, label)
    return version
