"""Applications: the tools and facts that an agent may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import Application, ApplicationVersion
from scenarios_app.services import checks
from scenarios_app.services.named import (
    APPLICATIONS,
    create_named,
    find_named,
    find_version,
    import_entries,
    save_named,
)
from scenarios_app.services.reports import ImportReport, Saved
from scenarios_app.spec import application as contract
from scenarios_app.spec.errors import Problem, refuse_if
from scenarios_app.spec.jsonplaces import with_lines
from scenarios_app.spec.jsontext import decode
from scenarios_app.spec.lint import lint_application


def import_applications(*, data: bytes, user: User | None = None) -> ImportReport:
    """A JSON list of applications, all or nothing. Raises SpecError with every problem."""
    specs = contract.parse_applications(data)
    found = [problem.under(f"[{index}]") for index, spec in enumerate(specs) for problem in checks.errors_in(spec)]
    refuse_if(with_lines(found, decode(data)))
    return import_entries(kind=APPLICATIONS, specs=specs, user=user)


def create_application(*, content: Mapping[str, Any], user: User | None = None, note: str = "") -> ApplicationVersion:
    version: ApplicationVersion = create_named(kind=APPLICATIONS, spec=_checked(content), user=user, note=note)
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
        spec=_checked(content),
        user=user,
        note=note,
        expected_number=expected_number,
    )


def application_warnings(content: Mapping[str, Any]) -> list[Problem]:
    """What is right by contract but worth a second look. Raises SpecError when it is not right."""
    spec = _checked(content)
    return [*(Problem(*remark) for remark in lint_application(spec)), *checks.warnings_about(spec)]


def find_application(name: str) -> Application:
    """Raises NotStored, which lists what there is."""
    application: Application = find_named(APPLICATIONS, name)
    return application


def find_application_version(label: str) -> ApplicationVersion:
    """NAME@VERSION, or NAME for the newest. Raises NotStored."""
    version: ApplicationVersion = find_version(APPLICATIONS, label)
    return version


def _checked(content: Mapping[str, Any]) -> contract.Application:
    """By contract, and as those who run it want it. Raises SpecError."""
    spec = contract.parse_application(content)
    refuse_if(checks.errors_in(spec))
    return spec
