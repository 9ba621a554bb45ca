"""Everything a comparison is made of, read in a few queries: runs, their configurations, their trials."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from runs_app.charts import COLOURS
from runs_app.comparing.choice import MOST_CONFIGURATIONS, BadChoice, Choice
from runs_app.comparing.reading import Place, Read, read
from runs_app.models import Run, RunConfiguration
from runs_app.plans import Plan, agreed
from runs_app.stats.trials import Trials
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

    def is_named(self, text: str) -> bool:
        return text in (self.key, self.label)


MOST_KEPT: Final = 4  # comparisons of finished runs in a process: 10 MB each at 100,000 trials
_kept: dict[tuple[Any, ...], Read] = {}


@dataclass(frozen=True, eq=False)
class Loaded:
    """`others`: configurations of these runs that are not compared now. `read` is None until the trials are read.
    `key`: of runs that are over, what all that their trials say can be kept by; else empty."""

    runs: tuple[Run, ...]
    columns: tuple[Column, ...]
    others: tuple[ConfigurationVersion, ...]
    entries: tuple[RunConfiguration, ...]
    found: Read | None = None
    key: tuple[Any, ...] = ()

    @property
    def is_over(self) -> bool:
        return all(run.is_over for run in self.runs)

    @property
    def read(self) -> Read:
        if self.found is None:
            raise ValueError("only runs and configurations were loaded, without their trials")
        return self.found

    @property
    def trials(self) -> Trials:
        return self.read.trials

    @property
    def simulated(self) -> bool:
        return any(column.simulated for column in self.columns)

    @property
    def plan(self) -> Plan:
        """What was written down before the start, as far as these runs agree on it."""
        return agreed(run.plan for run in self.runs if hasattr(run, "plan"))


def load(choice: Choice, *, places: Collection[Place] | None = None, without: Collection[int] = ()) -> Loaded:
    """`places`: only the trials of these configurations in these runs. `without`: the numbers of trials that count
    for nothing. Raises BadChoice for a run or a configuration that is not there."""
    head = load_head(choice)
    specs = {one.version.pk: one.spec for one in head.columns}
    if places is not None or without or not head.is_over:
        return replace(head, found=read(head.runs, head.entries, specs, places=places, without=without))
    # a run that is graded again is open meanwhile and finishes anew: what was read of it before is asked for no more
    key = *((run.pk, run.finished_at) for run in head.runs), *specs
    if (found := _kept.get(key)) is None:
        _kept[key] = found = read(head.runs, head.entries, specs)
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(list(_kept))), None)
    return replace(head, found=found, key=key)


def load_head(choice: Choice) -> Loaded:
    """Runs and configurations without their trials. Raises BadChoice."""
    runs = list(Run.objects.filter(pk__in=choice.runs).select_related("suite", "plan"))
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
    return Loaded(tuple(runs), columns, others, tuple(entries))


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
