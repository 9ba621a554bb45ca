"""Applications: the tools and facts that an agent may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import Application, ApplicationVersion
from scenarios_app.services.named import (
    APPLICATIONS,
    create_named,
    find_named,
    find_version,
    import_entries,
    save_named,
)
from scenarios_app.services.reports import ImportReport, Saved
from scenarios_app.spec.application import parse_application, parse_applications
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.lint import lint_application


def import_applications(*, data: bytes, user: User | None = None) -> ImportReport:
    """A JSON list of applications, all or nothing. Raises SpecError with every problem."""
    return import_entries(kind=APPLICATIONS, specs=parse_applications(data), user=user)


def create_application(*, content: Mapping[str, Any], user: User | None = None, note: str = "") -> ApplicationVersion:
    version: ApplicationVersion = create_named(kind=APPLICATIONS, spec=parse_application(content), user=user, note=note)
    return version


def save_application(
    *,
    application: Application,
    content: Mapping[str, Any],
    user: User | None = None,
    note: str = "",
    expected_number: int | None = None,
) -> Saved[ApplicationVersion]:
    """Raises SpecError, and ChangedMeanwhile when a newer version than the expected one is stored."""
    return save_named(
        kind=APPLICATIONS,
        thing=application,
        spec=parse_application(content),
        user=user,
        note=note,
        expected_number=expected_number,
    )


def application_warnings(content: Mapping[str, Any]) -> list[Problem]:
    """What is right by contract but worth a second look. Raises SpecError when it is not right."""
    return [Problem(*remark) for remark in lint_application(parse_application(content))]


def find_application(name: str) -> Application:
    """Raises NotStored, which lists what there is."""
    application: Application = find_named(APPLICATIONS, name)
    return application


def find_application_version(label: str) -> ApplicationVersion:
    """NAME@VERSION, or NAME for the newest. Raises NotStored."""
    version: ApplicationVersion = find_version(APPLICATIONS, label)
    return version
