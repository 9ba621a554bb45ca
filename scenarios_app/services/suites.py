"""Suites: named, ordered sets of scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F

from scenarios_app.models import Scenario, Suite, SuiteEntry
from scenarios_app.querysets import ScenarioQuerySet
from scenarios_app.services.following import batches
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


def save_suite_order(*, suite: Suite, pks: Sequence[int]) -> None:
    """The suite holds exactly these scenarios, in this order; new ones by hand."""
    with transaction.atomic():
        Suite.objects.select_for_update().get(pk=suite.pk)
        wanted = {pk: position for position, pk in enumerate(pks)}
        entries = {entry.scenario_id: entry for entry in SuiteEntry.objects.filter(suite=suite)}
        SuiteEntry.objects.filter(pk__in=[entry.pk for pk, entry in entries.items() if pk not in wanted]).delete()
        fresh = [SuiteEntry(suite=suite, scenario_id=pk, position=at) for pk, at in wanted.items() if pk not in entries]
        moved = [entry for pk, entry in entries.items() if pk in wanted and entry.position != wanted[pk]]
        for entry in moved:
            entry.position = wanted[entry.scenario_id]
        SuiteEntry.objects.bulk_update(moved, ["position"], batch_size=500)
        SuiteEntry.objects.bulk_create(fresh, batch_size=500)


def hold_by_hand(*, suite: Suite, scenarios: Sequence[Scenario]) -> None:
    """Members that stay, whatever becomes of their tags."""
    for batch in batches(scenario.pk for scenario in scenarios):
        SuiteEntry.objects.filter(suite=suite, scenario__in=batch, by_hand=False).update(by_hand=True)


def add_to_suite(*, suite: Suite, scenarios: Sequence[Scenario]) -> int:
    """Puts those that the suite lacks at its end. Returns how many that were."""
    with transaction.atomic():
        held = suite_positions(suite)
        fresh = [pk for pk in dict.fromkeys(scenario.pk for scenario in scenarios) if pk not in set(held)]
        save_suite_order(suite=suite, pks=held + fresh)
        hold_by_hand(suite=suite, scenarios=scenarios)
        return len(fresh)


def remove_from_suite(*, suite: Suite, scenario: Scenario) -> bool:
    """False when the suite's rule keeps it there."""
    with transaction.atomic():
        entry = SuiteEntry.objects.filter(suite=suite, scenario=scenario)
        entry.filter(by_rule=False).delete()
        return not entry.update(by_hand=False)


def move_in_suite(*, suite: Suite, scenario: Scenario, by: int) -> None:
    """One place up (by=-1) or down (by=1); at the ends nothing happens."""
    with transaction.atomic():
        pks = suite_positions(suite)
        at = pks.index(scenario.pk)
        to = min(max(at + by, 0), len(pks) - 1)
        pks.insert(to, pks.pop(at))
        save_suite_order(suite=suite, pks=pks)


def order_as_in_file(members: Sequence[int], in_file: Sequence[int]) -> list[int]:
    """Members of a suite after an import: those in the file take the file's order among themselves, in the places
    they already hold; new ones follow at the end.
    """
    held, listed = set(members), set(in_file)
    moving = iter([pk for pk in in_file if pk in held])
    kept = [next(moving) if pk in listed else pk for pk in members]
    return kept + [pk for pk in in_file if pk not in held]


def suite_members(suite: Suite) -> ScenarioQuerySet:
    """Its scenarios in order, archived ones among them; `by_hand` and `by_rule` tell why each is here."""
    members = Scenario.objects.filter(entries__suite=suite).order_by("entries__position").with_latest()
    return members.annotate(by_hand=F("entries__by_hand"), by_rule=F("entries__by_rule"))


def suite_positions(suite: Suite) -> list[int]:
    return list(SuiteEntry.objects.filter(suite=suite).order_by("position").values_list("scenario_id", flat=True))
