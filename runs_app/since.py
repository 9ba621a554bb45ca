"""What changed since each suite's baseline, or where it has none since its previous run.

Read in a fixed number of queries, however large the runs are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, FilteredRelation, Max, Min, Q
from django.urls import reverse

from runs_app.comparing.conditions import unlike
from runs_app.models import Baseline, Run, RunConfiguration, RunStatus, Trial
from runs_app.stats.rows import PASS_RATE
from runs_app.stats.turnover import Tally, Turnover, turnover
from runs_app.stats.verdict import comparability
from scenarios_app.models import ConfigurationVersion
from scenarios_app.spec.configuration import mode_of

MOST_RUNS = 100  # that are looked at, newest first
MOST_SUITES = 5
MOST_PAIRS = 3  # configurations of a suite

Place = tuple[int, int]  # run, configuration version
Entries = dict[int, list[RunConfiguration]]


@dataclass(frozen=True)
class Group:
    """Trials of one scenario that were measured alike and ended alike."""

    tally: Tally
    mode: str
    real_time: bool
    tool_faults: str
    judge: str
    simulated: bool


@dataclass(frozen=True)
class Pair:
    """A configuration in both runs. With a `reason` the two are not comparable, and `found` says nothing."""

    before: ConfigurationVersion
    now: ConfigurationVersion
    simulated: bool
    found: Turnover
    reason: str
    compare_url: str  # empty for one version: it has no comparison with itself

    @property
    def is_same_version(self) -> bool:
        return self.before == self.now


@dataclass(frozen=True)
class Since:
    before: Run
    now: Run
    pairs: tuple[Pair, ...]
    more: int  # configurations that both runs have and that are not among `pairs`
    baseline: Baseline | None = None  # that it is held against


@dataclass(frozen=True)
class _Chosen:
    before: Run
    now: Run
    entries: list[tuple[RunConfiguration, RunConfiguration]]
    baseline: Baseline | None = None


def what_changed() -> list[Since]:
    """For each suite its newest finished run against the suite's baseline: its trials in that run itself, else in the
    newest that has it. Without one, against the run before that has a configuration in common."""
    done = Run.objects.filter(status=RunStatus.DONE, suite__archived_at=None).exclude(suite=None)
    runs = list(done.select_related("suite").order_by("-pk")[:MOST_RUNS])
    chosen = list(_chosen(runs, _entries_of(runs), current_baselines()))[:MOST_SUITES]
    groups = _groups(chosen)
    return [_since(one, groups) for one in chosen]


def _entries_of(runs: Sequence[Run]) -> Entries:
    found: Entries = defaultdict(list)
    entries = RunConfiguration.objects.filter(run__in=runs).select_related("configuration_version__configuration")
    for entry in entries.order_by("position"):
        found[entry.run_id].append(entry)
    return found


def current_baselines() -> dict[int, Baseline]:
    """By suite."""
    newest = Baseline.objects.order_by().values("suite").annotate(newest=Max("pk")).values("newest")
    return {baseline.suite_id: baseline for baseline in Baseline.objects.with_names().filter(pk__in=newest)}


def _chosen(runs: Sequence[Run], entries: Entries, baselines: dict[int, Baseline]) -> Iterable[_Chosen]:
    by_suite: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_suite[run.suite_id or 0].append(run)
    for suite, own in by_suite.items():
        found = _against_baseline(own, entries, baselines.get(suite)) or _against_the_one_before(own, entries)
        if found is not None:
            yield found


def _against_baseline(runs: Sequence[Run], entries: Entries, baseline: Baseline | None) -> _Chosen | None:
    """None also where the newest run has nothing but the baseline itself."""
    if baseline is None:
        return None
    newest, version = runs[0], baseline.configuration_version
    others = [entry for entry in entries[newest.pk] if entry.configuration_version != version]
    for run in runs:
        own = [entry for entry in entries[run.pk] if entry.configuration_version == version]
        if own and others:
            return _Chosen(run, newest, [(own[0], entry) for entry in others], baseline)
    return None


def _against_the_one_before(runs: Sequence[Run], entries: Entries) -> _Chosen | None:
    newest, *earlier = runs
    for before in earlier:
        if pairs := _pairs(entries[before.pk], entries[newest.pk]):
            return _Chosen(before, newest, pairs)
    return None


def _pairs(
    before: Sequence[RunConfiguration], now: Sequence[RunConfiguration]
) -> list[tuple[RunConfiguration, RunConfiguration]]:
    """Each version of now with itself where it ran before, else with the newest one of its configuration."""
    pairs = []
    for entry in now:
        version = entry.configuration_version
        alike = [old for old in before if old.configuration_version.configuration_id == version.configuration_id]
        if alike:
            same = [old for old in alike if old.configuration_version == version]
            pairs.append((same[0] if same else max(alike, key=lambda old: old.configuration_version.number), entry))
    return pairs


def _groups(chosen: Sequence[_Chosen]) -> dict[Place, list[Group]]:
    runs = {run.pk: run for one in chosen for run in (one.before, one.now)}
    entries = [entry for one in chosen for pair in one.entries for entry in pair]
    versions = {entry.configuration_version_id: entry.configuration_version for entry in entries}
    simulated = {(entry.run_id, entry.configuration_version_id): entry.simulated for entry in entries}
    found: dict[Place, list[Group]] = defaultdict(list)
    for row in _rows(runs, versions):
        version, run = versions[row["configuration_version_id"]], runs[row["run_id"]]
        found[run.pk, version.pk].append(_group(row, run, version.content, simulated[run.pk, version.pk]))
    return found


def _rows(runs: Iterable[int], versions: Iterable[int]) -> Iterable[dict[str, Any]]:
    current = FilteredRelation("gradings", condition=Q(gradings__current=True))
    trials = Trial.objects.filter(run__in=list(runs), configuration_version__in=list(versions))
    return (
        trials.annotate(grading=current)
        .order_by()
        .values(
            *("run_id", "configuration_version_id", "outcome"),
            key=F("scenario_version__scenario__key"),
            run_hash=F("scenario_version__run_hash"),
            scenario_mode=F("scenario_version__content__mode"),
            judge_model=F("grading__judge_model"),
            rubric=F("grading__rubric_version"),
        )
        .annotate(trials=Count("pk"), trial=Min("pk"))
    )


def _group(row: dict[str, Any], run: Run, content: dict[str, Any], simulated: bool) -> Group:
    paced = content.get("audio", {}).get("real_time", True) if run.real_time is None else run.real_time
    judge = " · ".join(filter(None, (row["judge_model"], row["rubric"]))) if row["judge_model"] else ""
    return Group(
        tally=Tally(row["key"], row["run_hash"], row["outcome"], row["trials"], row["trial"]),
        mode=run.mode or row["scenario_mode"] or mode_of(content),
        real_time=paced,
        tool_faults="; ".join(run.fault_lines),
        judge=judge,
        simulated=simulated,
    )


def _since(one: _Chosen, groups: dict[Place, list[Group]]) -> Since:
    shown = one.entries[:MOST_PAIRS]
    pairs = tuple(_pair(before, now, groups) for before, now in shown)
    return Since(one.before, one.now, pairs, more=len(one.entries) - len(shown), baseline=one.baseline)


def _pair(old: RunConfiguration, new: RunConfiguration, groups: dict[Place, list[Group]]) -> Pair:
    before, now = old.configuration_version, new.configuration_version
    of_old, of_new = groups[old.run_id, before.pk], groups[new.run_id, now.pk]
    found = turnover([group.tally for group in of_old], [group.tally for group in of_new])
    reason = comparability(len(found.paired) + len(found.changed), len(found.changed))
    without_judge = [str(version) for version in (before, now) if version.content.get("judge") is None]
    unlikeness = unlike(of_old, of_new, without_judge=without_judge)
    return Pair(
        before=before,
        now=now,
        simulated=old.simulated or new.simulated,
        found=found,
        reason=reason or unlikeness.get(PASS_RATE, ""),
        compare_url=_compare_url(old, new) if before != now else "",
    )


def _compare_url(old: RunConfiguration, new: RunConfiguration) -> str:
    a, b = str(old.configuration_version), str(new.configuration_version)
    runs = list(dict.fromkeys([old.run_id, new.run_id]))
    return f"{reverse('compare')}?{urlencode({'run': runs, 'a': a, 'b': b}, doseq=True)}"
