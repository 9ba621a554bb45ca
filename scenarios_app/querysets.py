"""Reads, named for their use. Nothing here writes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.functions import Lower

from scenarios_app.search import folded, tag_text
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.numbers import number_of
from scenarios_app.spec.suite_rule import SuiteRule

if TYPE_CHECKING:
    # mypy needs both modules in one pass to know the managers' methods
    from scenarios_app.models import Scenario, ScenarioDraft  # noqa: F401

SCENARIO_ORDERS = {
    "id": (Lower("key").asc(),),
    "-id": (Lower("key").desc(),),
    "title": (Lower("latest__title").asc(), Lower("key").asc()),
    "-title": (Lower("latest__title").desc(), Lower("key").asc()),
    "changed": (models.F("latest__created_at").asc(), Lower("key").asc()),
    "-changed": (models.F("latest__created_at").desc(), Lower("key").asc()),
}


class NamedQuerySet(models.QuerySet[Any]):
    def current(self) -> NamedQuerySet:
        return self.filter(archived_at=None)

    def archived(self) -> NamedQuerySet:
        return self.exclude(archived_at=None)

    def named(self, name: str) -> NamedQuerySet:
        return self.filter(name__iexact=clean_text(name))

    def matching(self, words: str) -> NamedQuerySet:
        return self.filter(name__icontains=words.strip()) if words.strip() else self


class ScenarioQuerySet(models.QuerySet["Scenario"]):
    def current(self) -> ScenarioQuerySet:
        return self.filter(archived_at=None)

    def archived(self) -> ScenarioQuerySet:
        return self.exclude(archived_at=None)

    def keyed(self, key: str) -> ScenarioQuerySet:
        return self.filter(key__iexact=clean_text(key))

    def keyed_any(self, keys: Collection[str]) -> ScenarioQuerySet:
        """Those of the ids, which are in lower case."""
        return self.annotate(lowered=Lower("key")).filter(lowered__in=keys)

    def with_latest(self) -> ScenarioQuerySet:
        return self.select_related("latest", "latest__created_by")

    def matching(self, words: str) -> ScenarioQuerySet:
        """Scenarios that contain every word, in any of the texts of `search.search_text`."""
        found = self
        for word in folded(words).split():
            found = found.filter(latest__search_text__contains=word)
        return found

    def tagged(self, tag: str) -> ScenarioQuerySet:
        return self.filter(latest__tag_text__contains=tag_text([tag])) if tag else self

    def following(self, rule: SuiteRule) -> ScenarioQuerySet:
        found: ScenarioQuerySet = self
        for tag in rule.all:
            found = found.tagged(tag)
        for tag in rule.none:
            found = found.exclude(latest__tag_text__contains=tag_text([tag]))
        return found

    def in_suite(self, name: str) -> ScenarioQuerySet:
        return self.filter(entries__suite__name__iexact=name) if name else self

    def sorted_by(self, order: str) -> ScenarioQuerySet:
        return self.order_by(*SCENARIO_ORDERS.get(order, SCENARIO_ORDERS["id"]))

    def tags(self) -> list[str]:
        """Every tag in use, in alphabetical order, each in one spelling."""
        rows = self.exclude(latest__tag_text="").order_by()  # an order would make every row distinct
        lists = rows.values_list("latest__tags", flat=True).distinct()
        found = {folded(tag): tag for tag in sorted({tag for tags in lists for tag in tags})}
        return [found[name] for name in sorted(found)]


class VersionQuerySet(models.QuerySet[Any]):
    def newest_first(self) -> VersionQuerySet:
        return self.order_by("-number").select_related("created_by")


class KeptScenarios(models.Manager.from_queryset(ScenarioQuerySet)):  # type: ignore[misc]
    """All but those that were made for a try alone; `everything` has these too."""

    def get_queryset(self) -> ScenarioQuerySet:
        return super().get_queryset().filter(temporary=False)


class KeptNamed(models.Manager.from_queryset(NamedQuerySet)):  # type: ignore[misc]
    def get_queryset(self) -> NamedQuerySet:
        return super().get_queryset().filter(temporary=False)


class DraftQuerySet(models.QuerySet["ScenarioDraft"]):
    def of(self, person: Any) -> DraftQuerySet:
        return self.filter(person=person)

    def begun_new(self) -> DraftQuerySet:
        """Those of scenarios that are not stored yet."""
        return self.filter(scenario=None)

    def numbered(self, text: str) -> ScenarioDraft | None:
        """The new scenario's draft that an address or a form names; None for whatever is none."""
        pk = number_of(text)
        return None if pk is None else self.begun_new().filter(pk=pk).first()

    def of_page(self, numbered: str, tab: str) -> ScenarioDraft | None:
        """The new scenario's draft that a page names or, before it knows the number, the one kept for that `tab`."""
        if numbered or not tab:
            return self.numbered(numbered)
        return self.begun_new().filter(fields__tab=clean_text(tab)).first()
