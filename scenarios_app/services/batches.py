"""Many scenarios saved at once: one transaction, all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.search import folded
from scenarios_app.services.following import batches, refresh_suites
from scenarios_app.services.scenarios import build_version
from scenarios_app.spec.errors import Problem, SpecError, join_path, path_of, refuse_if
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.scenario import Scenario as ScenarioSpec
from scenarios_app.spec.scenario import parse_scenario

MOST_AT_ONCE = 10_000


@dataclass(frozen=True)
class Edit:
    """`scenario.latest` is the version that the edit started from."""

    scenario: Scenario
    content: Mapping[str, Any]


def save_scenarios(*, edits: Sequence[Edit], user: User | None = None, note: str = "") -> list[str]:
    """Each content as the newest version of its scenario; equal content changes nothing. Returns the ids that changed.

    Raises SpecError whose paths begin with the id, also when somebody saved one of them meanwhile.
    """
    if len(edits) > MOST_AT_ONCE:
        raise SpecError([Problem("", f"{len(edits):,} scenarios; at most {MOST_AT_ONCE:,} are changed at once")])
    versions = [
        build_version(scenario=edit.scenario, spec=spec, number=_newest(edit).number + 1, user=user, note=note)
        for edit, spec in zip(edits, _parsed(edits), strict=True)
        if content_hash(spec.to_json()) != _newest(edit).content_hash
    ]
    with transaction.atomic():
        refuse_if(_moved(edits))
        store_versions(versions)
    return [version.scenario.key for version in versions]


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
    moved = [edit.scenario.key for edit in edits if newest.get(edit.scenario.pk) != edit.scenario.latest_id]
    return [Problem(path_of([key]), "somebody saved it meanwhile: look again, nothing was changed") for key in moved]


def _newest(edit: Edit) -> ScenarioVersion:
    assert edit.scenario.latest is not None
    return edit.scenario.latest


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
