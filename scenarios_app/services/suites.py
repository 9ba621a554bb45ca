"""Suites: named, ordered sets of scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import IntegrityError, transaction

from scenarios_app.models import Scenario, Suite, SuiteEntry
from scenarios_app.querysets import ScenarioQuerySet
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.contract import name_problem
from scenarios_app.spec.errors import Problem, SpecError


def suite_name_of(text: str, field: str = "name") -> str:
    """The name as it is stored: spaces at its ends are no part of it. Raises SpecError that names `field`."""
    name = text.strip()
    if problem := name_problem(name):
        raise SpecError([Problem(field, problem)])
    return name


def create_suite(*, name: str) -> Suite:
    """An empty suite. Raises SpecError when the name cannot be used or is taken."""
    clean = suite_name_of(name)
    try:
        with transaction.atomic():
            return Suite.objects.create(name=clean)
    except IntegrityError as error:
        raise SpecError([Problem("name", f"there is a suite {clean} already")]) from error


def find_suite(name: str) -> Suite:
    """The suite of that name, ignoring case. Raises NotStored, which lists what there is."""
    found = Suite.objects.named(name.strip()).first()
    if found is not None:
        return found
    known = ", ".join(Suite.objects.current().values_list("name", flat=True)[:10])
    raise NotStored(f"there is no suite {name!r} on this site" + (f"; there are: {known}" if known else ""))


def save_suite_members(*, suite: Suite, scenarios: Sequence[Scenario]) -> None:
    """The suite holds exactly these scenarios, in this order; one named twice is held once."""
    with transaction.atomic():
        Suite.objects.select_for_update().get(pk=suite.pk)
        wanted = {scenario.pk: position for position, scenario in reversed(list(enumerate(scenarios)))}
        entries = {entry.scenario_id: entry for entry in SuiteEntry.objects.filter(suite=suite)}
        SuiteEntry.objects.filter(suite=suite).exclude(scenario__in=wanted).delete()
        fresh = [SuiteEntry(suite=suite, scenario_id=pk, position=at) for pk, at in wanted.items() if pk not in entries]
        moved = [entry for pk, entry in entries.items() if pk in wanted and entry.position != wanted[pk]]
        for entry in moved:
            entry.position = wanted[entry.scenario_id]
        SuiteEntry.objects.bulk_update(moved, ["position"], batch_size=500)
        SuiteEntry.objects.bulk_create(fresh, batch_size=500)


def add_to_suite(*, suite: Suite, scenarios: Sequence[Scenario]) -> int:
    """Puts those that the suite lacks at its end. Returns how many that were."""
    with transaction.atomic():
        members = list(suite_members(suite))
        held = {scenario.pk for scenario in members}
        fresh = [scenario for scenario in scenarios if scenario.pk not in held]
        save_suite_members(suite=suite, scenarios=members + fresh)
        return len(fresh)


def remove_from_suite(*, suite: Suite, scenario: Scenario) -> None:
    SuiteEntry.objects.filter(suite=suite, scenario=scenario).delete()


def move_in_suite(*, suite: Suite, scenario: Scenario, by: int) -> None:
    """One place up (by=-1) or down (by=1); at the ends nothing happens."""
    with transaction.atomic():
        members = list(suite_members(suite))
        at = members.index(scenario)
        to = min(max(at + by, 0), len(members) - 1)
        members.insert(to, members.pop(at))
        save_suite_members(suite=suite, scenarios=members)


def order_as_in_file(members: Sequence[int], in_file: Sequence[int]) -> list[int]:
    """Members of a suite after an import: those in the file take the file's order among themselves, in the places
    they already hold; new ones follow at the end.
    """
    held, listed = set(members), set(in_file)
    moving = iter([pk for pk in in_file if pk in held])
    kept = [next(moving) if pk in listed else pk for pk in members]
    return kept + [pk for pk in in_file if pk not in held]


def suite_members(suite: Suite) -> ScenarioQuerySet:
    """Its scenarios in order, archived ones among them."""
    return Scenario.objects.filter(entries__suite=suite).order_by("entries__position").with_latest()


def suite_positions(suite: Suite) -> list[int]:
    return list(SuiteEntry.objects.filter(suite=suite).order_by("position").values_list("scenario_id", flat=True))
