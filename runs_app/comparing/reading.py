"""The trials of a comparison as columns of numbers, and how they were measured: three queries, however many."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from django.db import connections
from django.db.models import FilteredRelation, Q

from runs_app.models import Run, RunConfiguration, RunScenario, Trial, TrialStatus
from runs_app.querysets import TrialQuerySet
from runs_app.stats.comparison import Comparison
from runs_app.stats.rows import MEASURED
from runs_app.stats.trials import OUTCOMES, Ints, Trials, coded, floats
from scenarios_app.spec.configuration import Configuration

FIELDS: Final = ("run_id", "configuration_version_id", "scenario_version_id", "status", "outcome", "stage", *MEASURED)

Place = tuple[int, int]  # run, configuration version


@dataclass(frozen=True)
class Head:
    """A scenario as the newest of the runs had it."""

    title: str
    critical: bool
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Condition:
    """One way in which trials of a configuration were measured. `judge`: model and rubric, empty without one."""

    run: int
    mode: str
    real_time: bool
    tool_faults: str  # laid over the run, in words; empty without any
    judge: str
    simulated: bool


@dataclass(eq=False)
class Read:
    """`conditions` by the key of a configuration; `critical`: ids of the scenarios that are marked so in any run;
    `heads` by the id of a scenario. `compared` keeps what was once compared of it."""

    trials: Trials
    conditions: Mapping[str, tuple[Condition, ...]]
    critical: frozenset[str]
    heads: Mapping[str, Head]
    compared: Comparison | None = None


@dataclass(frozen=True)
class Version:
    """Of a scenario, as it was run."""

    key: str
    run_hash: str
    mode: str
    head: Head


@dataclass(frozen=True)
class Way:
    """Trials of one run and configuration, of scenarios that name one mode (or none)."""

    run: int
    configuration: int
    scenario_mode: str


def read(
    runs: Sequence[Run],
    entries: Iterable[RunConfiguration],
    specs: Mapping[int, Configuration],
    *,
    places: Collection[Place] | None = None,
    without: Collection[int] = (),
) -> Read:
    """`entries` of these runs; `specs`: configurations by the number of their version, in the order to compare them.

    `places`: only the trials of these; all by default. `without`: the numbers of trials that count for nothing.
    """
    of_run = {run.pk: run for run in runs}
    versions = _versions(of_run)
    columns = _columns(of_run, specs, places, without)
    way, ways = _ways(columns, versions, of_run, specs)
    limits = floats(specs[one.configuration].answer_limit_ms(_mode(one, of_run, specs)) for one in ways)
    there = {versions[pk].key for pk in set(columns["scenario_version_id"])}
    return Read(
        trials=_trials(columns, versions, specs, sorted(there), limits[way]),
        conditions=_conditions(ways, of_run, specs, entries),
        critical=frozenset(one.key for one in versions.values() if one.head.critical and one.key in there),
        heads={one.key: one.head for one in versions.values()},
    )


def _ways(
    columns: Mapping[str, Sequence[Any]],
    versions: Mapping[int, Version],
    runs: Collection[int],
    configurations: Collection[int],
) -> tuple[Ints, list[Way]]:
    """Of each trial the place of its way among those that there are."""
    modes = sorted({one.mode for one in versions.values()})
    every = [Way(*names) for names in product(runs, configurations, modes)]
    of_run = _told(columns["run_id"], list(runs).index) * len(list(configurations))
    of_both = (of_run + _told(columns["configuration_version_id"], list(configurations).index)) * len(modes)
    of_all = of_both + _told(columns["scenario_version_id"], lambda pk: modes.index(versions[pk].mode))
    found, place = np.unique(of_all, return_inverse=True)
    return place, [every[one] for one in found.tolist()]


def _mode(way: Way, runs: Mapping[int, Run], specs: Mapping[int, Configuration]) -> str:
    return runs[way.run].mode or way.scenario_mode or specs[way.configuration].mode


def _versions(runs: Iterable[int]) -> dict[int, Version]:
    """Those that are newest come last."""
    entries = RunScenario.objects.filter(run__in=list(runs))
    rows = entries.order_by("scenario_version__number", "run_id").values_list(
        "scenario_version_id",
        "scenario_version__scenario__key",
        "scenario_version__run_hash",
        "scenario_version__content__mode",
        "scenario_version__title",
        "scenario_version__content__critical",
        "scenario_version__tags",
    )
    return {
        pk: Version(key, run_hash, mode or "", Head(title, critical is True, tuple(tags)))
        for pk, key, run_hash, mode, title, critical, tags in rows
    }


def _columns(
    runs: Iterable[int], versions: Iterable[int], places: Collection[Place] | None, without: Collection[int]
) -> dict[str, Sequence[Any]]:
    trials = Trial.objects.filter(run__in=list(runs), configuration_version__in=list(versions)).order_by()
    if without:
        rows = [_uncounted(row[:-1]) if row[-1] in without else row[:-1] for row in _rows(trials, *FIELDS, "pk")]
    else:
        rows = _rows(trials, *FIELDS)
    if places is not None:
        rows = [row for row in rows if row[:2] in places]
    # zip(*rows) takes five times as long
    return {name: [row[place] for row in rows] for place, name in enumerate(FIELDS)}


def _rows(trials: TrialQuerySet, *fields: str) -> list[tuple[Any, ...]]:
    """As the database gives them, all at once: none of these columns needs a conversion."""
    sql, params = trials.values_list(*fields).query.sql_with_params()
    with connections[trials.db].cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def _uncounted(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """As if it had not ended yet; that the scenario was run stays known."""
    place = FIELDS.index("status")
    return (*row[:place], "", *row[place + 1 :])


def _trials(
    columns: Mapping[str, Sequence[Any]],
    versions: Mapping[int, Version],
    specs: Mapping[int, Configuration],
    names: Sequence[str],
    timeout_ms: np.ndarray,
) -> Trials:
    at = {name: place for place, name in enumerate(names)}
    places = {pk: place for place, pk in enumerate(specs)}
    contents = dict(zip(versions, coded(one.run_hash for one in versions.values())[0], strict=True))
    stage, stages = coded(columns["stage"])
    return Trials(
        scenario_ids=tuple(names),
        configuration_keys=tuple(str(pk) for pk in specs),
        stages=tuple(stages),
        scenario=_told(columns["scenario_version_id"], lambda pk: at[versions[pk].key]),
        configuration=_told(columns["configuration_version_id"], places.__getitem__),
        content=_told(columns["scenario_version_id"], contents.__getitem__),
        outcome=_outcomes(columns),
        stage=np.array(stage, dtype=np.int64),
        timeout_ms=timeout_ms,
        values={name: floats(columns[name]) for name in MEASURED},
    )


def _outcomes(columns: Mapping[str, Sequence[Any]]) -> Ints:
    """While a trial is graded again its old outcome still stands in its row, and counts for nothing."""
    codes = {name: code for code, name in enumerate(OUTCOMES)}
    done = TrialStatus.DONE.value  # a plain text is compared faster
    ended = zip(columns["outcome"], columns["status"], strict=True)
    return np.array([codes[outcome] if status == done else 0 for outcome, status in ended], dtype=np.int64)


def _told(numbers: Sequence[int], told: Callable[[int], int]) -> Ints:
    """What is told of each number; of numbers that come again it is asked once."""
    found, place = np.unique(np.array(numbers, dtype=np.int64), return_inverse=True)
    return np.array([told(one) for one in found.tolist()], dtype=np.int64)[place]


def _conditions(
    ways: Sequence[Way],
    runs: Mapping[int, Run],
    specs: Mapping[int, Configuration],
    entries: Iterable[RunConfiguration],
) -> dict[str, tuple[Condition, ...]]:
    simulated = {(entry.run_id, entry.configuration_version_id): entry.simulated for entry in entries}
    judges = _judges(runs, specs)
    found: dict[str, dict[Condition, None]] = {str(pk): {} for pk in specs}
    for way in ways:
        run, spec, place = runs[way.run], specs[way.configuration], (way.run, way.configuration)
        for judge in sorted(judges.get(place, {""})):
            condition = Condition(
                run=run.pk,
                mode=_mode(way, runs, specs),
                real_time=spec.audio.real_time if run.real_time is None else run.real_time,
                tool_faults="; ".join(run.fault_lines),
                judge=judge,
                simulated=simulated[place],
            )
            found[str(way.configuration)][condition] = None
    return {key: tuple(conditions) for key, conditions in found.items()}


def _judges(runs: Iterable[int], versions: Iterable[int]) -> dict[tuple[int, int], set[str]]:
    """By run and configuration version: model and rubric of the gradings that count; "" for those without a judge."""
    trials = Trial.objects.filter(run__in=list(runs), configuration_version__in=list(versions))
    current = FilteredRelation("gradings", condition=Q(gradings__current=True))
    rows = (
        trials.annotate(grading=current)
        .order_by()
        .values_list("run_id", "configuration_version_id", "grading__judge_model", "grading__rubric_version")
        .distinct()
    )
    found: dict[tuple[int, int], set[str]] = {}
    for run, version, judge, rubric in rows:
        name = " · ".join(filter(None, (judge, rubric))) if judge else ""
        found.setdefault((run, version), set()).add(name)
    return found
