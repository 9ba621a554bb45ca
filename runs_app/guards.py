"""The guard set of a fix: scenarios that pass now with the configuration, the most like the one that fails first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q

from runs_app.models import Outcome, Trial, TrialStatus
from scenarios_app.models import ScenarioVersion
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.likeness import Likeness, most_alike
from scenarios_app.spec.scenario import Scenario, parse_scenario

OFFERED = 8
CHOSEN = 4  # of those that are offered, before anybody chooses
MOST_READ = 2000  # scenarios, of the newest runs


@dataclass(frozen=True)
class Guard:
    version: ScenarioVersion
    likeness: Likeness


def guards_of(trial: Trial) -> list[Guard]:
    """At most OFFERED, each as its scenario stood in the newest run that graded it with this configuration version."""
    versions = ScenarioVersion.objects.filter(pk__in=_passing(trial)).select_related("scenario")
    known = {version.scenario.key: version for version in versions if version.scenario.archived_at is None}
    specs = [spec for version in known.values() if (spec := _parsed(version))]
    target = parse_scenario(trial.scenario_version.content)
    found = most_alike(target, specs, OFFERED)
    return [Guard(known[spec.id], alike) for spec, alike in found]


def _passing(trial: Trial) -> list[int]:
    """Scenario versions that the newest run that graded their scenario passed every time."""
    graded = Trial.objects.counted().filter(
        configuration_version=trial.configuration_version_id,
        status=TrialStatus.DONE,
        outcome__in=(Outcome.PASSED, Outcome.FAILED),
    )
    rows: Any = (
        graded.exclude(scenario_version__scenario=trial.scenario_version.scenario_id)
        .order_by()
        .values("run_id", "scenario_version__scenario_id")
        .annotate(n=Count("pk"), passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), version=Max("scenario_version"))
        .order_by("-run_id")[:MOST_READ]
    )
    newest: dict[int, dict[str, int]] = {}  # by scenario
    for row in rows:
        newest.setdefault(row["scenario_version__scenario_id"], row)
    return [row["version"] for row in newest.values() if row["n"] == row["passed"]]


def _parsed(version: ScenarioVersion) -> Scenario | None:
    try:
        return parse_scenario(version.content)
    except SpecError:  # stored under an older contract
        return None
