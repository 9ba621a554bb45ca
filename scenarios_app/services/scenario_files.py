"""A file of scenarios into a suite, and a suite into a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.services.batches import store_versions
from scenarios_app.services.reports import ImportReport
from scenarios_app.services.scenario_formats import scenarios_document
from scenarios_app.services.scenarios import build_version, missing_application, spec_warnings
from scenarios_app.services.sounds import NO_SOUNDS, Sounds, all_with_sounds, recording_paths, sounds_by_path
from scenarios_app.services.suites import (
    hold_by_hand,
    order_as_in_file,
    save_suite_order,
    suite_members,
    suite_name_of,
    suite_positions,
)
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.scenario import Scenario as ScenarioSpec
from scenarios_app.spec.scenario import parse_file
from scenarios_app.spec.sources import Source, json_source

_BATCH = 500


@dataclass(frozen=True)
class _Sent:
    specs: tuple[ScenarioSpec, ...]
    source: Source
    sounds: Sounds  # by path


@dataclass(frozen=True)
class _Plan:
    """What a file means on this site: each of its scenarios beside the one that is stored, if any."""

    specs: tuple[ScenarioSpec, ...]
    stored: dict[str, Scenario]  # by id in lower case

    def is_new(self, spec: ScenarioSpec) -> bool:
        return spec.id.lower() not in self.stored

    @cached_property
    def _changed(self) -> frozenset[str]:
        known = (spec for spec in self.specs if not self.is_new(spec))
        return frozenset(
            spec.id
            for spec in known
            if _latest(self.stored[spec.id.lower()]).content_hash != content_hash(spec.to_json())
        )

    def is_changed(self, spec: ScenarioSpec) -> bool:
        return spec.id in self._changed

    def ids(self, chosen: Callable[[ScenarioSpec], bool]) -> tuple[str, ...]:
        return tuple(spec.id for spec in self.specs if chosen(spec))


def import_scenarios(
    *,
    data: bytes | Source,
    suite_name: str,
    user: User | None = None,
    dry_run: bool = False,
    sounds: Sounds = NO_SOUNDS,
) -> ImportReport:
    """All of the file or nothing. A scenario whose content equals its newest version is left alone, another content
    becomes the next version; all join the suite, in file order. `sounds` are the recordings that came with it, kept
    already unless this is a dry run. Raises SpecError with every problem found.
    """
    name = suite_name_of(suite_name, "suite")
    source = data if isinstance(data, Source) else json_source(data)
    sent = _Sent(parse_file(source).scenarios, source, sounds_by_path(recording_paths(source), sounds))
    if dry_run:
        return _report(_plan(sent, lock=False), sent, dry_run=True)
    try:
        return _store(sent, name, user)
    except IntegrityError:  # another import made the same suite or scenario at this very moment: now it is there
        return _store(sent, name, user)


def _store(sent: _Sent, suite_name: str, user: User | None) -> ImportReport:
    with transaction.atomic():
        plan = _plan(sent, lock=True)
        scenarios = _store_scenarios(plan, user)
        suite = Suite.objects.named(suite_name).first() or Suite.objects.create(name=suite_name)
        if suite.archived_at is not None:
            Suite.objects.filter(pk=suite.pk).update(archived_at=None)
        _fill_suite(suite, [scenarios[spec.id.lower()] for spec in plan.specs])
    return _report(plan, sent, dry_run=False)  # looks at every scenario: nobody need wait for that


def _plan(sent: _Sent, *, lock: bool) -> _Plan:
    specs, source = sent.specs, sent.source
    stored = _stored_scenarios([spec.id.lower() for spec in specs], lock=lock)
    renamed = [
        Problem(f"scenarios[{index}].id", f"this site has it as {stored[spec.id.lower()].key}; case makes no other id")
        for index, spec in enumerate(specs)
        if spec.id.lower() in stored and stored[spec.id.lower()].key != spec.id
    ]
    if renamed:
        raise SpecError(source.placed(renamed))
    try:
        return _Plan(all_with_sounds(specs, sent.sounds, stored), stored)
    except SpecError as error:
        raise SpecError(source.placed(error.problems)) from error


def _stored_scenarios(ids: Sequence[str], *, lock: bool) -> dict[str, Scenario]:
    found: dict[str, Scenario] = {}
    rows = Scenario.objects.select_related("latest")
    if lock:
        rows = rows.select_for_update(of=("self",))
    for start in range(0, len(ids), _BATCH):
        found |= {scenario.key.lower(): scenario for scenario in rows.keyed_any(ids[start : start + _BATCH])}
    return found


def _latest(scenario: Scenario) -> ScenarioVersion:
    if scenario.latest is None:
        raise AssertionError(f"scenario {scenario.key} has no version")
    return scenario.latest


def _store_scenarios(plan: _Plan, user: User | None) -> dict[str, Scenario]:
    """Every scenario of the file, by id in lower case, each with the file's content as its newest version."""
    fresh = [Scenario(key=spec.id) for spec in plan.specs if plan.is_new(spec)]
    Scenario.objects.bulk_create(fresh, batch_size=_BATCH)
    scenarios = plan.stored | {scenario.key.lower(): scenario for scenario in fresh}
    versions = [
        build_version(scenario=scenarios[spec.id.lower()], spec=spec, number=_next(plan, spec), user=user)
        for spec in plan.specs
        if plan.is_new(spec) or plan.is_changed(spec)
    ]
    back = [scenario.pk for scenario in plan.stored.values() if scenario.archived_at is not None]
    store_versions(versions, back=back)
    return scenarios


def _next(plan: _Plan, spec: ScenarioSpec) -> int:
    return 1 if plan.is_new(spec) else _latest(plan.stored[spec.id.lower()]).number + 1


def _fill_suite(suite: Suite, scenarios: Sequence[Scenario]) -> None:
    save_suite_order(suite=suite, pks=order_as_in_file(suite_positions(suite), [one.pk for one in scenarios]))
    hold_by_hand(suite=suite, scenarios=scenarios)


def _report(plan: _Plan, sent: _Sent, *, dry_run: bool) -> ImportReport:
    back = [
        Problem(f"scenarios[{index}]", f"{spec.id} was archived; the import brings it back")
        for index, spec in enumerate(plan.specs)
        if not plan.is_new(spec) and plan.stored[spec.id.lower()].archived_at is not None
    ]
    return ImportReport(
        new=plan.ids(plan.is_new),
        changed=plan.ids(plan.is_changed),
        unchanged=plan.ids(lambda spec: not plan.is_new(spec) and not plan.is_changed(spec)),
        warnings=sent.source.placed([*_all_warnings(plan.specs, frozenset(sent.sounds.values())), *back]),
        dry_run=dry_run,
    )


def _all_warnings(specs: Iterable[ScenarioSpec], coming: Collection[str]) -> list[Problem]:
    missing = cache(missing_application)
    found: list[Problem] = []
    for index, spec in enumerate(specs):
        found += [problem.under(f"scenarios[{index}]") for problem in spec_warnings(spec, missing, coming)]
    return found


def export_suite(*, suite: Suite) -> dict[str, Any]:
    """The newest versions of the suite's scenarios as a file that `import_scenarios` reads back without a change.
    Archived ones are left out, as a run leaves them out.
    """
    return scenarios_document(suite_members(suite).current())
