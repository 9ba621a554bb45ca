"""Scenarios are created and saved here: each save is a new version, unless nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.search import search_text, tag_text
from scenarios_app.services.applications import find_application_version
from scenarios_app.services.following import refresh_suites
from scenarios_app.services.reports import ChangedMeanwhile, NotStored, Saved
from scenarios_app.services.sounds import missing_sounds
from scenarios_app.spec.application import ApplicationRef
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.hashing import content_hash, run_hash
from scenarios_app.spec.lint import lint
from scenarios_app.spec.procedure import read_procedure
from scenarios_app.spec.scenario import Scenario as ScenarioSpec
from scenarios_app.spec.scenario import parse_scenario, schema_version_of, unsupported_fields
from scenarios_app.spec.simulation import left_out
from scenarios_app.spec.wording import suggestion


def build_version(
    *, scenario: Scenario, spec: ScenarioSpec, number: int, user: User | None = None, note: str = ""
) -> ScenarioVersion:
    """An unsaved version of `scenario` that holds `spec`, with everything that is derived from it."""
    content = spec.to_json()
    return ScenarioVersion(
        scenario=scenario,
        number=number,
        content=content,
        content_hash=content_hash(content),
        run_hash=run_hash(spec),
        schema_version=schema_version_of(spec),
        title=spec.title,
        tags=list(spec.tags),
        search_text=search_text(content),
        tag_text=tag_text(spec.tags),
        created_by=user,
        note=note,
    )


def create_scenario(*, content: Mapping[str, Any], user: User | None = None, note: str = "") -> ScenarioVersion:
    """Version 1 of a new scenario. Raises SpecError, also when its id is taken."""
    spec = parse_scenario(content)
    try:
        with transaction.atomic():
            scenario = Scenario.objects.create(key=spec.id)
            return _store(scenario=scenario, spec=spec, number=1, user=user, note=note)
    except IntegrityError as error:
        taken = Scenario.objects.keyed(spec.id).first()
        if taken is None:
            raise
        raise SpecError([Problem("id", f"there is a scenario {taken.key} already, choose another id")]) from error


def save_scenario(
    *,
    scenario: Scenario,
    content: Mapping[str, Any],
    user: User | None = None,
    note: str = "",
    expected_number: int | None = None,
) -> Saved[ScenarioVersion]:
    """The content as the newest version. `expected_number` is the version that the editor started from.

    Raises SpecError, and ChangedMeanwhile when a newer version than the expected one is stored.
    """
    spec = parse_scenario(content)
    if spec.id != scenario.key:
        raise SpecError([Problem("id", f"the id of a scenario stays ({scenario.key}): duplicate it to have another")])
    with transaction.atomic():
        Scenario.objects.select_for_update().get(pk=scenario.pk)
        newest = ScenarioVersion.objects.filter(scenario=scenario).newest_first()[0]
        if newest.content_hash == content_hash(spec.to_json()):
            return Saved(newest, created=False)
        if expected_number is not None and newest.number != expected_number:
            raise ChangedMeanwhile(newest)
        return Saved(_store(scenario=scenario, spec=spec, number=newest.number + 1, user=user, note=note), created=True)


def _store(*, scenario: Scenario, spec: ScenarioSpec, number: int, user: User | None, note: str) -> ScenarioVersion:
    version = build_version(scenario=scenario, spec=spec, number=number, user=user, note=note)
    version.save()
    Scenario.objects.filter(pk=scenario.pk).update(latest=version)
    refresh_suites(scenarios=[scenario.pk])
    return version


def find_scenario(key: str) -> Scenario:
    """The scenario of that id, ignoring case. Raises NotStored."""
    found = Scenario.objects.keyed(key).with_latest().first()
    if found is None:
        raise NotStored(f"there is no scenario {key} on this site")
    return found


def free_key(key: str) -> str:
    """An id like the given one that no scenario has: KEY-copy, KEY-copy-2 and so on."""
    stem = f"{key[:90]}-copy"
    taken = set(Scenario.objects.filter(key__istartswith=stem).values_list("key", flat=True))
    lowered = {other.lower() for other in taken}
    candidates = (stem if n == 1 else f"{stem}-{n}" for n in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate.lower() not in lowered)


def scenario_warnings(content: Mapping[str, Any]) -> list[Problem]:
    """What is right by contract but worth a second look. Raises SpecError when it is not right."""
    spec = parse_scenario(content)
    return [*spec_warnings(spec, missing_application), *_unknown_tools(spec)]


def _unknown_tools(spec: ScenarioSpec) -> list[Problem]:
    """Expected calls of tools that the scenario's own application does not have: they could never be made."""
    reference = spec.application.ref
    if reference is None or missing_application(_label_of(reference)):
        return []
    application = find_application_version(_label_of(reference)).content
    known = [*(tool["name"] for tool in application.get("tools", [])), *application.get("tool_results", {})]
    return [
        Problem(
            f"expected.tools.{kind}[{index}].name",
            f'{reference.name} has no tool "{call.name}"{suggestion(call.name, known)}',
        )
        for kind in ("required", "prohibited")
        for index, call in enumerate(getattr(spec.expected.tools, kind))
        if call.name not in known
    ]


def _label_of(reference: ApplicationRef) -> str:
    return reference.name if reference.version is None else f"{reference.name}@{reference.version}"


def spec_warnings(spec: ScenarioSpec, missing: Callable[[str], str], coming: Collection[str] = ()) -> list[Problem]:
    remarks = [Problem(*remark) for remark in lint(spec)]
    unread = read_procedure(spec.expected.procedure).problems
    warnings = [*remarks, *unsupported_fields(spec), *missing_sounds(spec, coming), *left_out(spec), *unread]
    reference = spec.application.ref
    if reference is not None and (message := missing(_label_of(reference))):
        warnings.append(Problem("application.ref", message))
    return warnings


def missing_application(label: str) -> str:
    """Why NAME or NAME@VERSION cannot be used on this site; "" when it can."""
    try:
        find_application_version(label)
    except NotStored as error:
        return str(error)
    return ""
