"""Many scenarios saved at once: one transaction, all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery

from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.search import folded
from scenarios_app.services.following import batches, refresh_suites
from scenarios_app.services.scenarios import build_version
from scenarios_app.services.suites import add_to_suite, create_suite
from scenarios_app.spec.errors import Problem, SpecError, join_path, path_of, refuse_if
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.scenario import Scenario as ScenarioSpec
from scenarios_app.spec.scenario import parse_scenario

MOST_AT_ONCE = 10_000


@dataclass(frozen=True)
class Edit:
    """`base` is the version that the edit started from; None: `scenario.latest`, which is loaded then."""

    scenario: Scenario
    content: Mapping[str, Any]
    base: ScenarioVersion | None = None

    @property
    def started_from(self) -> ScenarioVersion:
        version = self.base or self.scenario.latest
        assert version is not None
        return version


def save_scenarios(
    *,
    edits: Sequence[Edit] = (),
    fresh: Sequence[Mapping[str, Any]] = (),
    user: User | None = None,
    note: str = "",
) -> list[str]:
    """Each content as the newest version of its scenario, those of `fresh` as new scenarios; equal content changes
    nothing. Returns the ids that changed.

    Raises SpecError whose paths begin with the id, also when somebody saved one of them meanwhile or took its id.
    """
    if len(edits) > MOST_AT_ONCE:
        raise SpecError([Problem("", f"{len(edits):,} scenarios; at most {MOST_AT_ONCE:,} are changed at once")])
    versions = [
        build_version(scenario=edit.scenario, spec=spec, number=edit.started_from.number + 1, user=user, note=note)
        for edit, spec in zip(edits, _parsed(edits), strict=True)
        if content_hash(spec.to_json()) != edit.started_from.content_hash
    ]
    made = [parse_scenario(content, path_of([str(content.get("id", ""))])) for content in fresh]
    with transaction.atomic():
        refuse_if([*_moved(edits), *_taken(made)])
        scenarios = Scenario.objects.bulk_create((Scenario(key=spec.id) for spec in made), batch_size=500)
        versions += [
            build_version(scenario=scenario, spec=spec, number=1, user=user, note=note)
            for scenario, spec in zip(scenarios, made, strict=True)
        ]
        store_versions(versions)
    return [version.scenario.key for version in versions]


def _taken(specs: Sequence[ScenarioSpec]) -> list[Problem]:
    keys = {spec.id.lower(): spec.id for spec in specs}
    held = Scenario.objects.keyed_any(keys).values_list("key", flat=True)
    return [
        Problem(join_path(path_of([keys[key.lower()]]), "id"), f"there is a scenario {key} already, choose another id")
        for key in held
    ]


def save_table(
    *,
    stored: Sequence[tuple[ScenarioVersion, Mapping[str, Any]]],
    fresh: Sequence[Mapping[str, Any]],
    suite_name: str = "",
    user: User | None = None,
) -> list[str]:
    """Rows of a table: versions with what became of them, and new scenarios. All of them join the suite, which is made
    if need be. Returns the ids that changed. Raises SpecError as save_scenarios does; nothing is stored then.
    """
    edits = [
        Edit(base.scenario, content, base) for base, content in stored if content_hash(content) != base.content_hash
    ]
    with transaction.atomic():
        changed = save_scenarios(edits=edits, fresh=fresh, user=user, note="in the table")
        if suite_name:
            made = Scenario.objects.keyed_any({str(content["id"]).lower() for content in fresh}).order_by("key")
            suite = Suite.objects.named(suite_name).first() or create_suite(name=suite_name)
            add_to_suite(suite=suite, scenarios=[*(base.scenario for base, _ in stored), *made])
    return changed


def tag_scenarios(
    *, scenarios: Sequence[Scenario], add: Sequence[str] = (), remove: Sequence[str] = (), user: User | None = None
) -> list[str]:
    """Case makes no other tag. Returns the ids that changed. Raises SpecError as save_scenarios does."""
    if not (add or remove):
        raise SpecError([Problem("tags", "name at least one tag")])
    words = [f"tagged {', '.join(add)}"] if add else []
    words += [f"took off {', '.join(remove)}"] if remove else []
    edits = [
        Edit(one, {**one.latest.content, "tags": _tags(one.latest.tags, add, remove)})
        for one in scenarios
        if one.latest
    ]
    changed = [edit for edit in edits if edit.scenario.latest and edit.content["tags"] != edit.scenario.latest.tags]
    return save_scenarios(edits=changed, user=user, note="; ".join(words)[:500])


def _tags(tags: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[str]:
    unwanted = {folded(tag) for tag in remove}
    kept = [tag for tag in tags if folded(tag) not in unwanted]
    held = {folded(tag) for tag in kept}
    return kept + [tag for tag in add if folded(tag) not in held]


def _parsed(edits: Sequence[Edit]) -> list[ScenarioSpec]:
    specs: list[ScenarioSpec] = []
    problems: list[Problem] = []
    for edit in edits:
        key = edit.scenario.key
        try:
            spec = parse_scenario(edit.content)
        except SpecError as error:
            problems += [problem.under(path_of([key])) for problem in error.problems]
            continue
        if spec.id != key:
            problems.append(Problem(join_path(path_of([key]), "id"), f"the id of a scenario stays ({key})"))
        specs.append(spec)
    refuse_if(problems)
    return specs


def _moved(edits: Sequence[Edit]) -> list[Problem]:
    """Those that somebody saved since the edit began. Locks them all."""
    newest: dict[int, int | None] = {}
    for batch in batches(edit.scenario.pk for edit in edits):
        rows = Scenario.objects.select_for_update().filter(pk__in=batch).order_by("pk")
        newest |= dict(rows.values_list("pk", "latest_id"))
    moved = [edit.scenario.key for edit in edits if newest.get(edit.scenario.pk) != edit.started_from.pk]
    return [Problem(path_of([key]), "somebody saved it meanwhile: look again, nothing was changed") for key in moved]


def store_versions(versions: Sequence[ScenarioVersion], *, back: Collection[int] = ()) -> None:
    """Stores new versions as the newest of their scenarios, whose suites follow; `back` (pks) are archived no longer.

    One UPDATE for each batch: bulk_update builds a CASE for every row, which takes seconds for a thousand.
    """
    ScenarioVersion.objects.bulk_create(versions, batch_size=500)
    changed = list(dict.fromkeys(version.scenario.pk for version in versions))
    newest = ScenarioVersion.objects.filter(scenario=OuterRef("pk")).order_by("-number").values("pk")[:1]
    for batch in batches(changed):
        Scenario.objects.filter(pk__in=batch).update(latest=Subquery(newest))
    for batch in batches(back):
        Scenario.objects.filter(pk__in=batch).update(archived_at=None)
    refresh_suites(scenarios=list(dict.fromkeys([*changed, *back])))
