"""What applications and configurations share: a name, numbered versions, NAME@VERSION."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from scenarios_app.models import (
    Application,
    ApplicationVersion,
    Configuration,
    ConfigurationVersion,
)
from scenarios_app.services.reports import ChangedMeanwhile, ImportReport, NotStored, Saved
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.numbers import number_of

Thing = Application | Configuration
ThingVersion = ApplicationVersion | ConfigurationVersion


class Spec(Protocol):
    @property
    def name(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Kind:
    """One kind of named thing. `owner` is the version's foreign key to it."""

    word: str
    owner: str
    model: type[Thing]
    versions: type[ThingVersion]


APPLICATIONS = Kind("application", "application", Application, ApplicationVersion)
CONFIGURATIONS = Kind("configuration", "configuration", Configuration, ConfigurationVersion)


def find_named(kind: Kind, name: str) -> Any:
    """The thing of that name, ignoring case. Raises NotStored, which lists what there is."""
    found = kind.model._default_manager.filter(name__iexact=clean_text(name.strip())).select_related("latest").first()
    if found is not None:
        return found
    known = kind.model._default_manager.filter(archived_at=None).order_by("name").values_list("name", flat=True)[:10]
    there = f"there are: {', '.join(known)}" if known else "it has none yet"
    raise NotStored(f"there is no {kind.word} {name.strip()!r} on this site; {there}")


def find_version(kind: Kind, label: str) -> Any:
    """The version that NAME@VERSION means; without @ the newest. Raises NotStored."""
    name, at, number = label.rpartition("@") if "@" in label else (label, "", "")
    thing = find_named(kind, name)
    if not at:
        return kind.versions._default_manager.select_related(kind.owner).get(pk=thing.latest_id)
    wanted = number_of(number.strip())
    rows = kind.versions._default_manager.filter(**{kind.owner: thing}).select_related(kind.owner)
    found = rows.filter(number=wanted).first() if wanted is not None else None
    if found is None:
        newest = thing.latest.number
        there = "it has version 1 only" if newest == 1 else f"it has versions 1 to {newest}"
        raise NotStored(f"{kind.word} {thing.name} has no version {number.strip()!r}; {there}")
    return found


def import_entries(
    *, kind: Kind, specs: Iterable[Spec], user: User | None, warnings: Iterable[Problem] = ()
) -> ImportReport:
    """Each entry in file order: unchanged if any stored version of its name has this content, else the next one."""
    new, changed, unchanged = [], [], []
    with transaction.atomic():
        for spec in specs:
            thing = kind.model._default_manager.select_for_update(of=("self",)).filter(name__iexact=spec.name).first()
            held = _version_with(kind, thing, spec) if thing is not None else None
            if thing is not None and held is not None:
                kind.model._default_manager.filter(pk=thing.pk).update(archived_at=None)
                unchanged.append(str(held))
            elif thing is not None:
                changed.append(str(_add_version(kind, thing, spec, user)))
            else:
                new.append(str(_create(kind, spec, user)))
    return ImportReport(new=tuple(new), changed=tuple(changed), unchanged=tuple(unchanged), warnings=tuple(warnings))


def exported_versions(*, kind: Kind, things: QuerySet[Any]) -> list[dict[str, Any]]:
    """The content of all their versions, by name and age: a list that an import reads back without a change. A content
    that came back later stands once, where it came last, so that the newest is the newest there too.
    """
    rows = kind.versions._default_manager.filter(**{f"{kind.owner}__in": things})
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for name, hashed, content in rows.order_by(f"{kind.owner}__name", "number").values_list(
        f"{kind.owner}__name", "content_hash", "content"
    ):
        found.pop((name, hashed), None)
        found[name, hashed] = content
    return list(found.values())


def create_named(*, kind: Kind, spec: Spec, user: User | None, note: str = "") -> Any:
    """Version 1 of a new thing. Raises SpecError when the name is taken."""
    try:
        with transaction.atomic():
            return _create(kind, spec, user, note)
    except IntegrityError as error:
        raise SpecError([Problem("name", f"the name {spec.name} is taken: another {kind.word} has it")]) from error


def save_named(
    *,
    kind: Kind,
    thing: Any,
    spec: Spec,
    user: User | None,
    note: str = "",
    expected_number: int | None = None,
) -> Saved[Any]:
    """The next version, unless the newest one has this very content. Raises SpecError and ChangedMeanwhile."""
    if spec.name != thing.name:
        raise SpecError([Problem("name", f"the name stays ({thing.name}): duplicate it to have another")])
    with transaction.atomic():
        kind.model._default_manager.select_for_update().get(pk=thing.pk)
        newest = kind.versions._default_manager.filter(**{kind.owner: thing}).order_by("-number")[0]
        if newest.content_hash == content_hash(spec.to_json()):
            return Saved(newest, created=False)
        if expected_number is not None and newest.number != expected_number:
            raise ChangedMeanwhile(newest)
        return Saved(_add_version(kind, thing, spec, user, note), created=True)


def _create(kind: Kind, spec: Spec, user: User | None, note: str = "") -> Any:
    thing = kind.model._default_manager.create(name=spec.name)
    return _add_version(kind, thing, spec, user, note)


def _add_version(kind: Kind, thing: Any, spec: Spec, user: User | None, note: str = "") -> Any:
    content = spec.to_json()
    newest = kind.versions._default_manager.filter(**{kind.owner: thing}).order_by("-number").first()
    version = kind.versions._default_manager.create(
        **{kind.owner: thing},
        number=newest.number + 1 if newest else 1,
        content=content,
        content_hash=content_hash(content),
        created_by=user,
        note=note,
    )
    kind.model._default_manager.filter(pk=thing.pk).update(latest=version, archived_at=None)
    return version


def _version_with(kind: Kind, thing: Any, spec: Spec) -> Any | None:
    rows = kind.versions._default_manager.filter(**{kind.owner: thing}, content_hash=content_hash(spec.to_json()))
    return rows.first()
