"""Runs as lists show them: how far each is, and once it is over what each configuration came to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q

from runs_app.models import Outcome, Run, RunConfiguration, Trial
from runs_app.querysets import RunQuerySet
from runs_app.stats.turnover import Counted
from scenarios_app.spec.numbers import number_of


@dataclass(frozen=True)
class Share(Counted):
    """What one configuration of a run came to."""

    label: str
    simulated: bool


@dataclass(frozen=True)
class RunRow:
    run: Run
    counts: dict[str, int] = field(default_factory=dict)  # outcomes, done and total
    shares: tuple[Share, ...] = ()

    @property
    def simulated(self) -> bool:
        return any(share.simulated for share in self.shares)


def rows_of(runs: Iterable[Run]) -> list[RunRow]:
    """Two queries, however many runs and trials there are."""
    listed = list(runs)
    entries: dict[int, list[RunConfiguration]] = defaultdict(list)
    chosen = RunConfiguration.objects.filter(run__in=listed).select_related("configuration_version__configuration")
    for entry in chosen.order_by("position"):
        entries[entry.run_id].append(entry)
    tallies = _tallies(listed)
    return [_row(run, entries[run.pk], tallies) for run in listed]


Tally = dict[tuple[int, int], dict[str, int]]  # (run, configuration version) -> outcome -> trials; "" is not done


def _tallies(runs: Sequence[Run]) -> Tally:
    found: Tally = defaultdict(dict)
    states = Trial.objects.filter(run__in=runs).order_by().values("run_id", "configuration_version_id", "outcome")
    for row in states.annotate(trials=Count("pk")):
        found[(row["run_id"], row["configuration_version_id"])][row["outcome"]] = row["trials"]
    return found


def _row(run: Run, entries: Sequence[RunConfiguration], tallies: Tally) -> RunRow:
    own = [tallies.get((run.pk, entry.configuration_version_id), {}) for entry in entries]
    counts = {outcome: sum(tally.get(outcome, 0) for tally in own) for outcome in Outcome.values}
    done, waiting = sum(counts.values()), sum(tally.get("", 0) for tally in own)
    return RunRow(
        run=run,
        counts={**counts, "done": done, "total": done + waiting},
        shares=tuple(_share(entry, tally) for entry, tally in zip(entries, own, strict=True)),
    )


def _share(entry: RunConfiguration, tally: dict[str, int]) -> Share:
    passed, failed = tally.get(Outcome.PASSED, 0), tally.get(Outcome.FAILED, 0)
    return Share(
        label=str(entry.configuration_version),
        simulated=entry.simulated,
        passed=passed,
        n=passed + failed,
        of=sum(tally.values()),
    )


def matching(words: str, status: str = "") -> RunQuerySet:
    """Runs whose name, suite, person, number or configuration has every word."""
    found: RunQuerySet = Run.objects.with_people()
    for word in words.split():
        by_name = Q(name__icontains=word) | Q(suite__name__icontains=word) | Q(created_by__username__icontains=word)
        with_it = RunConfiguration.objects.filter(configuration_version__configuration__name__icontains=word)
        found = found.filter(by_name | Q(pk=number_of(word)) | Q(pk__in=with_it.values("run")))
    return found.filter(status=status) if status else found
