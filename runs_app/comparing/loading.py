"""Everything a comparison is made of, read in a few queries: runs, their configurations, their trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F, FilteredRelation, Q

from runs_app.charts import COLOURS
from runs_app.comparing.choice import METRICS, MOST_CONFIGURATIONS, BadChoice, Choice
from runs_app.models import Run, RunConfiguration, Trial, TrialStatus
from runs_app.stats.rows import PASS_RATE, TrialRow
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.factors import factors_of
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.factors import Factors


@dataclass(frozen=True)
class Column:
    """A configuration version of the comparison. `letter` A is the baseline; `key` is what its rows are found by."""

    letter: str
    version: ConfigurationVersion
    spec: Configuration
    applications: tuple[str, ...]  # NAME@VERSION as run; several when runs differ in it
    simulated: bool
    factors: Factors  # with the tools of the first of the runs

    @property
    def key(self) -> str:
        return str(self.version.pk)

    @property
    def label(self) -> str:
        return str(self.version)

    @property
    def series(self) -> str:
        """The name of its colour."""
        return COLOURS[self.place % len(COLOURS)]

    @property
    def place(self) -> int:
        """Among the configurations, from 0."""
        return ord(self.letter) - ord("A")


@dataclass(frozen=True)
class Fact:
    """One trial: the row that statistics read, and what the page says about it."""

    pk: int
    run: int
    row: TrialRow
    title: str
    version: int  # of the scenario
    critical: bool
    status: str
    reason: str
    has_audio: bool
    mode: str
    real_time: bool
    tool_faults: str  # laid over its run, in words; empty without any
    judge: str  # model and rubric of its grading, empty without one
    tool_calls: float | None
    tool_calls_expected: float | None


@dataclass(frozen=True)
class Loaded:
    """`others`: configurations of these runs that are not compared now."""

    runs: tuple[Run, ...]
    columns: tuple[Column, ...]
    others: tuple[ConfigurationVersion, ...]
    facts: tuple[Fact, ...]

    @property
    def is_over(self) -> bool:
        return all(run.is_over for run in self.runs)

    @property
    def rows(self) -> list[TrialRow]:
        return [fact.row for fact in self.facts]

    @property
    def simulated(self) -> bool:
        return any(column.simulated for column in self.columns)


def load(choice: Choice) -> Loaded:
    """Raises BadChoice for a run or a configuration that is not there."""
    head = load_head(choice)
    return replace(head, facts=tuple(_facts(head.runs, head.columns)))


def load_head(choice: Choice) -> Loaded:
    """Runs and configurations without their trials. Raises BadChoice."""
    runs = list(Run.objects.filter(pk__in=choice.runs).select_related("suite"))
    missing = sorted(set(choice.runs) - {run.pk for run in runs})
    if missing:
        raise BadChoice(f"run: there is no run {missing[0]}")
    runs.sort(key=lambda run: choice.runs.index(run.pk))
    entries = _entries(runs)
    versions = list({entry.configuration_version_id: entry.configuration_version for entry in entries}.values())
    chosen = _chosen(choice, versions)
    tools = {entry.configuration_version_id: entry.application_version for entry in reversed(entries)}
    factors = factors_of(chosen, applications=tools)
    columns = tuple(_column(place, version, entries, factors[version.pk]) for place, version in enumerate(chosen))
    others = tuple(version for version in versions if version not in chosen)
    return Loaded(tuple(runs), columns, others, ())


def _entries(runs: Sequence[Run]) -> list[RunConfiguration]:
    wanted = RunConfiguration.objects.filter(run__in=runs).select_related(
        "configuration_version__configuration", "application_version__application"
    )
    place = {run.pk: n for n, run in enumerate(runs)}
    return sorted(wanted, key=lambda entry: (place[entry.run_id], entry.position))


def _chosen(choice: Choice, versions: Sequence[ConfigurationVersion]) -> list[ConfigurationVersion]:
    """The baseline first. Without `a` the first of the run; without `b` all the others, as far as there is room."""
    first = _named("a", choice.a, versions) if choice.a else next(iter(versions), None)
    if first is None:
        return []
    given = [_named("b", text, versions) for text in choice.bs]
    rest = [version for version in (given or versions) if version != first]
    if len(given) >= MOST_CONFIGURATIONS:
        raise BadChoice(f"b: at most {MOST_CONFIGURATIONS} configurations are compared at a time")
    return [first, *list(dict.fromkeys(rest))[: MOST_CONFIGURATIONS - 1]]


def _named(part: str, text: str, versions: Iterable[ConfigurationVersion]) -> ConfigurationVersion:
    for version in versions:
        if text in (str(version.pk), str(version)):
            return version
    raise BadChoice(f"{part}: no configuration {text[:120]!r} in the chosen runs")


def _column(place: int, version: ConfigurationVersion, entries: Iterable[RunConfiguration], factors: Factors) -> Column:
    own = [entry for entry in entries if entry.configuration_version_id == version.pk]
    applications = {str(entry.application_version): None for entry in own if entry.application_version}
    return Column(
        letter=chr(ord("A") + place),
        version=version,
        spec=parse_configuration(version.content),
        applications=tuple(applications),
        simulated=any(entry.simulated for entry in own),
        factors=factors,
    )


def _facts(runs: Sequence[Run], columns: Sequence[Column]) -> Iterable[Fact]:
    of_run = {run.pk: run for run in runs}
    of_version = {column.version.pk: column for column in columns}
    for values in _trials(of_run, of_version):
        yield _fact(values, of_run[values["run_id"]], of_version[values["configuration_version_id"]].spec)


def _trials(runs: Iterable[int], versions: Iterable[int]) -> Iterable[dict[str, Any]]:
    current = FilteredRelation("gradings", condition=Q(gradings__current=True))
    trials = Trial.objects.filter(run__in=list(runs), configuration_version__in=list(versions))
    return (
        trials.annotate(grading=current)
        .order_by("run_id", "position")
        .values(
            *("pk", "run_id", "configuration_version_id", "repeat", "status", "outcome", "stage", "reason", "wav"),
            *("semantic_quality", "tool_accuracy", "response_latency_ms"),
            key=F("scenario_version__scenario__key"),
            run_hash=F("scenario_version__run_hash"),
            version=F("scenario_version__number"),
            title=F("scenario_version__title"),
            critical=F("scenario_version__content__critical"),
            scenario_mode=F("scenario_version__content__mode"),
            calls=F("metrics__tool_calls"),
            calls_expected=F("metrics__tool_calls_expected"),
            judge_model=F("grading__judge_model"),
            rubric=F("grading__rubric_version"),
        )
    )


def _fact(values: dict[str, Any], run: Run, spec: Configuration) -> Fact:
    mode = run.mode or values["scenario_mode"] or spec.mode
    return Fact(
        pk=values["pk"],
        run=run.pk,
        row=_row(values, spec, mode),
        title=values["title"],
        version=values["version"],
        critical=values["critical"] is True,
        status=values["status"],
        reason=values["reason"],
        has_audio=bool(values["wav"]),
        mode=mode,
        real_time=spec.audio.real_time if run.real_time is None else run.real_time,
        tool_faults="; ".join(run.fault_lines),
        judge=" · ".join(filter(None, (values["judge_model"], values["rubric"]))) if values["judge_model"] else "",
        tool_calls=values["calls"],
        tool_calls_expected=values["calls_expected"],
    )


def _row(values: dict[str, Any], spec: Configuration, mode: str) -> TrialRow:
    return TrialRow(
        scenario_id=values["key"],
        run_hash=values["run_hash"],
        configuration_key=str(values["configuration_version_id"]),
        repeat=values["repeat"],
        outcome=values["outcome"] if values["status"] == TrialStatus.DONE else "",
        stage=values["stage"],
        metrics={name: values[name] for name in METRICS if name != PASS_RATE},
        timeout_ms=spec.answer_limit_ms(mode),
    )
