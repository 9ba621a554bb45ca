"""Which failures are known, by the marks that are open now; read once, asked for any number of groups of trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet

from runs_app.models import KnownFailure, Outcome, Run, RunStatus, Trial, TrialStatus


@dataclass(frozen=True)
class Marks:
    """All open marks. An expired one makes nothing known: its failures count again, and pages show it in red."""

    by_scenario: dict[int, list[KnownFailure]]

    def of(self, scenario_id: int, configuration_id: int, kind: str) -> KnownFailure | None:
        """The mark by which a failure of this kind is known. Of several the one that says most about it."""
        valid = [mark for mark in self._about(scenario_id, configuration_id, kind) if not mark.is_expired]
        return max(valid, key=_precision, default=None)

    def expired(self, scenario_id: int, configuration_id: int, kind: str) -> KnownFailure | None:
        """The mark by which it was known until it expired."""
        return next((mark for mark in self._about(scenario_id, configuration_id, kind) if mark.is_expired), None)

    def _about(self, scenario_id: int, configuration_id: int, kind: str) -> list[KnownFailure]:
        marks = self.by_scenario.get(scenario_id, [])
        return [mark for mark in marks if mark.configuration_id in (None, configuration_id) and mark.kind in ("", kind)]

    @property
    def all_expired(self) -> list[KnownFailure]:
        return [mark for listed in self.by_scenario.values() for mark in listed if mark.is_expired]

    def __bool__(self) -> bool:
        return bool(self.by_scenario)


def _precision(mark: KnownFailure) -> tuple[bool, bool]:
    return bool(mark.configuration_id), bool(mark.kind)


def open_marks() -> Marks:
    found: dict[int, list[KnownFailure]] = defaultdict(list)
    for mark in KnownFailure.objects.open().with_names():
        found[mark.scenario_id].append(mark)
    return Marks(dict(found))


def with_marks(trials: Iterable[Trial], marks: Marks) -> list[Trial]:
    """Each trial, which comes with its versions, with `mark` and `expired_mark`; both None unless it failed."""
    listed = list(trials)
    for trial in listed:
        place = trial.scenario_version.scenario_id, trial.configuration_version.configuration_id, trial.failure_kind
        failed = trial.outcome == Outcome.FAILED
        trial.mark = marks.of(*place) if failed else None
        trial.expired_mark = marks.expired(*place) if failed and trial.mark is None else None
    return listed


def known_among(trials: QuerySet[Trial], marks: Marks) -> frozenset[int]:
    """The numbers of those that failed in a way that is known."""
    failed = trials.filter(
        status=TrialStatus.DONE, outcome=Outcome.FAILED, scenario_version__scenario__in=marks.by_scenario.keys()
    )
    places = ("scenario_version__scenario_id", "configuration_version__configuration_id", "failure_kind")
    found = failed.order_by().values_list("pk", *places) if marks else ()
    return frozenset(pk for pk, *place in found if marks.of(*place))


@dataclass(frozen=True)
class Passing:
    """A mark whose scenario passed in every trial with a verdict, in the newest run that had one since the mark."""

    mark: KnownFailure
    run_id: int
    passed: int
    trial: int  # one of them


def passing_in(run: Run, marks: Marks) -> list[Passing]:
    """Marks that this run gives no reason for, as far as it is."""
    return _passing(marks, Trial.objects.filter(run=run))


def passing_now(marks: Marks) -> list[Passing]:
    """Judged by each mark's newest finished run that has a verdict and began after the mark was made."""
    if not marks:
        return []
    since = min(mark.created_at for listed in marks.by_scenario.values() for mark in listed)
    done = Trial.objects.counted().filter(run__status=RunStatus.DONE, run__created_at__gte=since)
    return _passing(marks, done.filter(scenario_version__scenario__in=marks.by_scenario.keys()))


@dataclass(frozen=True)
class _Seen:
    run: int
    run_at: datetime
    scenario: int
    configuration: int
    passed: int
    failed: int
    trial: int


def _passing(marks: Marks, trials: QuerySet[Trial]) -> list[Passing]:
    seen: dict[int, list[_Seen]] = defaultdict(list)
    for one in _seen(trials):
        seen[one.scenario].append(one)
    found = (_judged(mark, seen[scenario]) for scenario, listed in marks.by_scenario.items() for mark in listed)
    return [one for one in found if one is not None]


def _seen(trials: QuerySet[Trial]) -> Iterable[_Seen]:
    places = ("run_id", "run__created_at", "scenario_version__scenario_id", "configuration_version__configuration_id")
    graded = trials.filter(outcome__in=(Outcome.PASSED, Outcome.FAILED)).order_by().values_list(*places)
    counts = graded.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
        failed=Count("pk", filter=Q(outcome=Outcome.FAILED)),
        trial=Min("pk", filter=Q(outcome=Outcome.PASSED)),
    )
    for run, run_at, scenario, configuration, passed, failed, trial in counts:
        yield _Seen(run, run_at, scenario, configuration, passed, failed, trial or 0)


def _judged(mark: KnownFailure, seen: Sequence[_Seen]) -> Passing | None:
    own = [one for one in seen if mark.configuration_id in (None, one.configuration) and one.run_at >= mark.created_at]
    if not own:
        return None
    newest = max(one.run for one in own)
    there = [one for one in own if one.run == newest]
    if any(one.failed for one in there):
        return None
    return Passing(mark, newest, sum(one.passed for one in there), min(one.trial for one in there))
