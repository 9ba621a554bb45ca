"""Before a run starts: what it will be able to tell, and what its agents will cost, by what earlier runs were like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import Exists, F, OuterRef

from runs_app.comparing.choice import METRICS
from runs_app.comparing.words import share_text, signed_text
from runs_app.models import Outcome, Run, RunStatus, Trial
from runs_app.plans import Plan
from runs_app.spending import Place, Spent, charge, charges_in_words, goes_by_usage, spent
from runs_app.stats.design import Design, Foreseen, foresee
from runs_app.stats.moments import moments
from runs_app.stats.rows import LATENCY, MEASURED, PRIMARY, TrialRow
from runs_app.stats.trials import Trials, trials_of
from scenarios_app.models import ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.spec.configuration import Configuration, parse_configuration

LATEST_RUNS: Final = 5
MOST_TRIALS: Final = 4000  # the newest of theirs
MOST_SIBLINGS: Final = 5  # earlier versions of a configuration whose usage stands for a new one


@dataclass(frozen=True)
class Way:
    """How the run would go: only earlier ones that were asked to go the same way tell of it."""

    mode: str = ""
    real_time: bool | None = None


@dataclass(frozen=True)
class Sight:
    """One metric: the smallest difference in words, or why it is not known. `margin`: what the margin that was set
    has to do with it, empty where it can be seen."""

    metric: str
    text: str
    why: str = ""
    margin: str = ""


@dataclass(frozen=True)
class Foresight:
    """`trials` of `runs` (newest first) is what was gone by; with a `why` there was nothing."""

    sights: tuple[Sight, ...] = ()
    runs: tuple[Run, ...] = ()
    trials: int = 0
    why: str = ""


def foresight(
    *,
    suite: Suite | None,
    scenarios: Sequence[ScenarioVersion],
    configurations: int,
    repeats: int,
    way: Way,
    plan: Plan,
) -> Foresight:
    """By the latest finished runs of the suite, without one by those of these scenarios."""
    ids = [version.scenario_id for version in scenarios]
    of = Run.objects.filter(suite=suite) if suite else Run.objects.filter(scenarios__scenario_version__scenario__in=ids)
    runs = list(of.filter(status=RunStatus.DONE, mode=way.mode, real_time=way.real_time).distinct()[:LATEST_RUNS])
    rows = _read(runs, ids)
    if not rows:
        whole = "this suite" if suite else "these scenarios"
        asked = " in this mode and pace" if way != Way() else ""
        return Foresight(why=f"not known yet: no run of {whole}{asked} so far")
    design = Design(len(scenarios), repeats, tests=len(plan.primaries or METRICS) * max(1, configurations - 1))
    sights = [_sight(foreseen) for foreseen in _foreseen(_trials(rows, way), design, plan)]
    told = {row["run_id"] for row in rows}
    return Foresight(tuple(sights), tuple(run for run in runs if run.pk in told), len(rows))


def _read(runs: Collection[Run], scenarios: Sequence[int]) -> list[dict[str, Any]]:
    graded = Trial.objects.filter(
        run__in=runs,
        scenario_version__scenario__in=scenarios,
        outcome__in=(Outcome.PASSED, Outcome.FAILED),
    )
    rows: Any = graded.order_by("-pk").values(
        *("run_id", "configuration_version_id", "repeat", "outcome", "stage", *MEASURED),
        key=F("scenario_version__scenario__key"),
        run_hash=F("scenario_version__run_hash"),
        scenario_mode=F("scenario_version__content__mode"),
    )
    return list(rows[:MOST_TRIALS])


def _trials(rows: Sequence[Mapping[str, Any]], way: Way) -> Trials:
    """A scenario that was run with another content counts as another one."""
    versions = ConfigurationVersion.objects.in_bulk({row["configuration_version_id"] for row in rows})
    specs = {pk: parse_configuration(version.content) for pk, version in versions.items()}
    return trials_of((_row(row, specs, way) for row in rows), configurations=[str(pk) for pk in specs])


def _row(row: Mapping[str, Any], specs: Mapping[int, Configuration], way: Way) -> TrialRow:
    spec = specs[row["configuration_version_id"]]
    return TrialRow(
        scenario_id=f"{row['key']} {row['run_hash']}",
        run_hash=row["run_hash"],
        configuration_key=str(row["configuration_version_id"]),
        repeat=row["repeat"],
        outcome=row["outcome"],
        stage=row["stage"],
        metrics={name: row[name] for name in MEASURED},
        timeout_ms=spec.answer_limit_ms(way.mode or row["scenario_mode"] or spec.mode),
    )


def _foreseen(trials: Trials, design: Design, plan: Plan) -> Iterable[Foreseen]:
    """Of the metrics that decide, in the order of the form."""
    rules = {rule.name: rule for rule in PRIMARY}
    for name in METRICS:
        if name in (plan.primaries or METRICS):
            rule = replace(rules[name], margin=plan.margins.get(name))
            yield foresee(rule, moments(trials, trials.tested(rule)), design)


def _sight(foreseen: Foreseen) -> Sight:
    if foreseen.smallest is None:
        return Sight(foreseen.metric, "", foreseen.why)
    size = foreseen.smallest
    text = share_text(size) if foreseen.metric == LATENCY else signed_text(foreseen.metric, size).lstrip("+")
    margin = ""
    if foreseen.sees_margin is False:
        needed = f"about {foreseen.needed:,} scenarios" if foreseen.needed else "over 10,000 scenarios"
        margin = f"more than the margin that you set: that takes {needed}"
    return Sight(foreseen.metric, f"{foreseen.bound} {text}".strip(), margin=margin)


def cost_words(
    scenarios: Sequence[ScenarioVersion], configurations: Sequence[ConfigurationVersion], *, repeats: int, way: Way
) -> str:
    """What the agents of such a run cost by the dated table and the usage of earlier trials, as far as it is known."""
    specs = {version.pk: parse_configuration(version.content) for version in configurations}
    priced = [version for version in configurations if goes_by_usage(specs[version.pk])]
    known, siblings = _usage(scenarios, priced, specs, way) if priced else ({}, {})
    repeats_of = {version.scenario.key: repeats for version in scenarios}
    return charges_in_words(
        [
            charge(specs[version.pk], str(version), repeats_of, known, [version.pk, *siblings.get(version.pk, [])])
            for version in configurations
        ]
    )


def _usage(
    scenarios: Sequence[ScenarioVersion],
    configurations: Sequence[ConfigurationVersion],
    specs: Mapping[int, Configuration],
    way: Way,
) -> tuple[dict[Place, Spent], dict[int, list[int]]]:
    """What trials of these and of their siblings took, and the siblings: versions of the same configuration with the
    same model, newest first."""
    listed = list(
        ConfigurationVersion.objects.filter(
            Exists(Trial.objects.filter(configuration_version=OuterRef("pk"))),
            configuration__in=[version.configuration_id for version in configurations],
        ).order_by("-number")
    )
    siblings = {
        version.pk: [
            other.pk
            for other in listed
            if (other.configuration_id, other.content["model"]) == (version.configuration_id, version.content["model"])
        ][:MOST_SIBLINGS]
        for version in configurations
    }
    prices = {pk: specs[own] for own, others in siblings.items() for pk in others}
    same_way = Trial.objects.counted().filter(
        run__mode=way.mode,
        run__real_time=way.real_time,
        scenario_version__scenario__in=[version.scenario_id for version in scenarios],
    )
    return spent(same_way, {**prices, **{version.pk: specs[version.pk] for version in configurations}}), siblings
