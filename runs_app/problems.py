"""The failures of runs as a few problems: how many trials fail in which way, what of it is known, what is new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

from django.db.models import Count, Min
from django.urls import reverse

from runs_app.grading.failure_kinds import FailureKind
from runs_app.known import Marks
from runs_app.listening.playlist import play_url
from runs_app.models import KnownFailure, Run, Trial
from runs_app.querysets import TrialQuerySet

Change = Literal["gone", "new", "still there"]


@dataclass(frozen=True)
class Group:
    """Failures alike of one scenario under one configuration version."""

    key: str
    scenario_id: int
    scenario: str
    configuration_id: int
    version_id: int
    trials: int
    trial: int
    mark: KnownFailure | None
    expired: KnownFailure | None


@dataclass(frozen=True)
class Problem:
    """`key` of its kind; empty for failures from before kinds were kept."""

    key: str
    groups: tuple[Group, ...]
    url: str  # of its trials
    play_url: str  # of the playlist of its trials

    @property
    def words(self) -> str:
        return kind_in_words(self.key)

    @property
    def trials(self) -> int:
        return sum(group.trials for group in self.groups)

    @property
    def new(self) -> int:
        """Trials that no mark explains."""
        return sum(group.trials for group in self.groups if group.mark is None)

    @property
    def known(self) -> int:
        return self.trials - self.new

    @property
    def marks(self) -> list[KnownFailure]:
        return list(dict.fromkeys(group.mark for group in self.groups if group.mark is not None))

    @property
    def expired(self) -> list[KnownFailure]:
        return list(dict.fromkeys(group.expired for group in self.groups if group.expired and group.mark is None))

    @property
    def scenarios(self) -> list[str]:
        return sorted({group.scenario for group in self.groups})

    @property
    def first(self) -> Group:
        """Of those that are new, if any, the one with the most trials."""
        return max(self.groups, key=lambda group: (group.mark is None, group.trials, -group.trial))


@dataclass(frozen=True)
class Problems:
    """New ones first, then the most frequent."""

    listed: tuple[Problem, ...]

    @property
    def failures(self) -> int:
        return sum(problem.trials for problem in self.listed)

    @property
    def new(self) -> int:
        return sum(problem.new for problem in self.listed)

    @property
    def known(self) -> int:
        return self.failures - self.new

    @property
    def news(self) -> tuple[Problem, ...]:
        """Those with failures that no mark explains."""
        return tuple(problem for problem in self.listed if problem.new)

    @property
    def kinds_by_scenario(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for problem in self.listed:
            for scenario in problem.scenarios:
                found.setdefault(scenario, []).append(problem.key)
        return found

    def of(self, version: int) -> Problems:
        """Those of one configuration version."""
        kept = ((one, tuple(group for group in one.groups if group.version_id == version)) for one in self.listed)
        return _in_order(replace(one, groups=groups) for one, groups in kept if groups)

    @property
    def in_words(self) -> str:
        """`31 failures = 4 problems`; what is known is told beside it."""
        failures = f"{self.failures} {'failure' if self.failures == 1 else 'failures'}"
        return f"{failures} = {len(self.listed)} {'problem' if len(self.listed) == 1 else 'problems'}"


NO_PROBLEMS: Final = Problems(())


def kind_in_words(key: str) -> str:
    return FailureKind.from_key(key).words


def problems_of(runs: Sequence[Run | int], marks: Marks, *, versions: Sequence[int] = ()) -> Problems:
    """One query. `versions`: of these configuration versions alone."""
    return _listed(_groups(runs, marks, versions), runs)


def _groups(runs: Sequence[Run | int], marks: Marks, versions: Sequence[int]) -> list[Group]:
    chosen = Trial.objects.failed().filter(run__in=runs)
    if versions:
        chosen = chosen.filter(configuration_version__in=versions)
    places = (
        "failure_kind",
        "scenario_version__scenario_id",
        "scenario_version__scenario__key",
        "configuration_version__configuration_id",
        "configuration_version_id",
    )
    counted = chosen.order_by().values_list(*places).annotate(trials=Count("pk"), trial=Min("pk"))
    return [_group(row, marks) for row in counted]


def _group(row: Sequence[Any], marks: Marks) -> Group:
    key, scenario_id, scenario, configuration_id, version_id, trials, trial = row
    mark = marks.of(scenario_id, configuration_id, key)
    expired = marks.expired(scenario_id, configuration_id, key)
    return Group(key, scenario_id, scenario, configuration_id, version_id, trials, trial, mark, expired)


def _listed(groups: Iterable[Group], runs: Sequence[Run | int]) -> Problems:
    by_kind: dict[str, list[Group]] = {}
    for group in groups:
        by_kind.setdefault(group.key, []).append(group)
    found = [
        Problem(key, tuple(own), problem_url(key, runs), play_url(_numbers(runs), kind=key))
        for key, own in by_kind.items()
    ]
    return _in_order(found)


def _in_order(problems: Iterable[Problem]) -> Problems:
    return Problems(tuple(sorted(problems, key=lambda one: (-one.new, -one.trials, one.key))))


def problem_url(key: str, runs: Sequence[Run | int]) -> str:
    """The page that lists its trials in these runs."""
    return f"{reverse('problems')}?{urlencode({'run': _numbers(runs), 'kind': key}, doseq=True)}"


def _numbers(runs: Sequence[Run | int]) -> list[int]:
    return [run.pk if isinstance(run, Run) else run for run in runs]


@dataclass(frozen=True)
class Turned:
    """A problem of either side of a comparison."""

    change: Change
    key: str
    before: Problem | None
    now: Problem | None

    @property
    def words(self) -> str:
        return kind_in_words(self.key)

    @property
    def url(self) -> str:
        one = self.now or self.before
        return one.url if one else ""


_ORDER: dict[Change, int] = {"new": 0, "still there": 1, "gone": 2}


def problems_between(before: Problems, now: Problems) -> list[Turned]:
    """New ones first, then those still there, then those gone; the most frequent first."""
    old, new = ({problem.key: problem for problem in side.listed} for side in (before, now))
    found = [Turned(_change(old.get(key), new.get(key)), key, old.get(key), new.get(key)) for key in {**new, **old}]
    return sorted(found, key=lambda one: (_ORDER[one.change], -_size(one), one.key))


def _change(before: Problem | None, now: Problem | None) -> Change:
    if before is None:
        return "new"
    return "gone" if now is None else "still there"


def _size(one: Turned) -> int:
    return max(one.before.trials if one.before else 0, one.now.trials if one.now else 0)


def trials_of_kind(runs: Sequence[Run | int], key: str | None = None, *, scenario: str = "") -> TrialQuerySet:
    """Failed trials in the order in which they were played, with their versions and without what they recorded."""
    found = Trial.objects.failed(key).filter(run__in=runs).with_versions()
    if scenario:
        found = found.filter(scenario_version__scenario__key__iexact=scenario)
    return found.defer("record", "metrics").order_by("run_id", "position")
