"""Which scenarios a run takes: a suite, tags, scenarios by hand, or what these make together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Q
from django.db.models.functions import Lower

from runs_app.models import Run
from runs_app.services.snapshots import newest_of
from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.querysets import ScenarioQuerySet
from scenarios_app.search import folded


@dataclass(frozen=True)
class Selection:
    """`tags` narrow the suite to its scenarios that carry one of them; without a suite they take all that do.
    Scenarios picked by hand, by their ids, come on top."""

    suite: Suite | None = None
    tags: Sequence[str] = ()
    picked: Sequence[str] = field(default=())

    @property
    def is_whole_suite(self) -> bool:
        return self.suite is not None and not self.tags and not self.picked

    def __bool__(self) -> bool:
        return bool(self.suite or self.tags or self.picked)

    def versions(self) -> list[ScenarioVersion]:
        """The newest of each, once, those picked by hand last."""
        found = {version.scenario_id: version for version in [*self._by_suite_or_tag(), *newest_picked(self.picked)]}
        return list(found.values())

    def _by_suite_or_tag(self) -> list[ScenarioVersion]:
        if self.suite is None and not self.tags:
            return []
        versions = newest_of(self.suite) if self.suite else _newest(Scenario.objects.current())
        wanted = {folded(tag) for tag in self.tags}
        return [one for one in versions if not wanted or wanted & {folded(tag) for tag in one.tags}]


def newest_picked(keys: Iterable[str]) -> list[ScenarioVersion]:
    wanted = {key.lower() for key in keys}
    if not wanted:
        return []
    named = Scenario.objects.current().alias(lower=Lower("key")).filter(lower__in=wanted)
    return _newest(named)


def unknown_keys(keys: Iterable[str]) -> list[str]:
    """Those that no current scenario has, or only one that was never saved."""
    listed = list(keys)
    known = {version.scenario.key.lower() for version in newest_picked(listed)}
    return [key for key in listed if key.lower() not in known]


def _newest(scenarios: ScenarioQuerySet) -> list[ScenarioVersion]:
    chosen = scenarios.filter(latest__isnull=False).select_related("latest__scenario").order_by("key")
    return [scenario.latest for scenario in chosen if scenario.latest]


def as_it_was(run: Run) -> dict[str, object]:
    """What fills the form in with the scenarios of this run: its suite if those are all of it, else each by hand."""
    used = list(run.scenarios.order_by("position").values_list("scenario_version__scenario_id", flat=True))
    if run.suite is not None:
        current = Q(scenario__archived_at=None, scenario__latest__isnull=False)
        if set(run.suite.entries.filter(current).values_list("scenario_id", flat=True)) == set(used):
            return {"suite": run.suite.name}
    keys = dict(Scenario.objects.filter(pk__in=used).values_list("pk", "key"))
    return {"scenarios": [keys[pk] for pk in used]}
