"""Suites that follow a rule hold what fits it. Their entries are stored, so that no reader of a suite need know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from scenarios_app.models import Scenario, Suite, SuiteEntry
from scenarios_app.spec.suite_rule import parse_rule

BATCH = 500


def save_suite_rule(*, suite: Suite, rule: Mapping[str, Any]) -> None:
    """An empty rule lets go of all that came by one; what was put in by hand stays. Raises SpecError."""
    parsed = parse_rule(rule)
    with transaction.atomic():
        locked = Suite.objects.select_for_update().get(pk=suite.pk)
        locked.rule = parsed.to_json() if parsed else {}
        locked.save(update_fields=["rule"])
        fitting = Scenario.objects.current().following(parsed) if parsed else Scenario.objects.none()
        held = SuiteEntry.objects.filter(suite=locked, by_rule=True).values_list("scenario_id", flat=True)
        pks = list(dict.fromkeys([*fitting.order_by("key").values_list("pk", flat=True), *held]))
        _follow(locked, pks)
    suite.rule = locked.rule


def refresh_suites(*, scenarios: Collection[int]) -> None:
    """To be called within the transaction that changed the tags of these scenarios (pks) or archived them."""
    for suite in Suite.objects.select_for_update().exclude(rule={}).order_by("pk"):
        _follow(suite, list(scenarios))


def _follow(suite: Suite, pks: Sequence[int]) -> None:
    rule = parse_rule(suite.rule)
    for batch in batches(pks):
        rows = Scenario.objects.current().filter(pk__in=batch).following(rule) if rule else Scenario.objects.none()
        fitting = list(rows.order_by("key").values_list("pk", flat=True))
        entries = SuiteEntry.objects.filter(suite=suite, scenario__in=batch)
        _let_go(entries.filter(by_rule=True).exclude(scenario__in=fitting))
        entries.filter(scenario__in=fitting, by_rule=False).update(by_rule=True)
        held = set(entries.values_list("scenario_id", flat=True))
        _append(suite, [pk for pk in fitting if pk not in held])


def _let_go(entries: QuerySet[SuiteEntry]) -> None:
    entries.filter(by_hand=False).delete()
    entries.update(by_rule=False)


def _append(suite: Suite, pks: Sequence[int]) -> None:
    last = SuiteEntry.objects.filter(suite=suite).aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    SuiteEntry.objects.bulk_create(
        SuiteEntry(suite=suite, scenario_id=pk, position=start + n, by_hand=False, by_rule=True)
        for n, pk in enumerate(pks)
    )


def batches(pks: Iterable[int]) -> Iterator[list[int]]:
    """At most BATCH at a time: a database takes only so many values in one query."""
    listed = list(pks)
    for start in range(0, len(listed), BATCH):
        yield listed[start : start + BATCH]
