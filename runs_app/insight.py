"""What a suite's scenarios are good for, by the trials of its finished runs, read in a few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q

from runs_app.charts import LAYOUT, Figure, escaped, style, tall
from runs_app.estimate import AROUND_S
from runs_app.models import Outcome, Run, RunStatus, Trial
from runs_app.stats.items import Candidate, Counts, Item, Pick, Tag, item, smoke_subset
from scenarios_app.models import Scenario, Suite

MOST_RUNS: Final = 30  # the newest finished ones
MOST_SHOWN: Final = 12  # of them in a scenario's row
LANES: Final = 4  # conversations at once, as the new-run form has it


@dataclass(frozen=True)
class Cell:
    """One scenario in one run, over all its configurations."""

    run: Run
    passed: int
    n: int

    @property
    def shape(self) -> str:
        if not self.n:
            return "none"
        return "passed" if self.passed == self.n else "invalid" if self.passed else "failed"

    @property
    def words(self) -> str:
        return f"{self.run}: {self.passed} of {self.n} passed" if self.n else f"{self.run}: no verdict"


@dataclass(frozen=True)
class Row:
    item: Item
    seconds: float
    cells: tuple[Cell, ...]  # newest last
    by_configuration: tuple[tuple[str, Counts], ...]


@dataclass(frozen=True)
class Point:
    """A configuration version in one run."""

    run: Run
    label: str
    passed: int
    n: int


@dataclass(frozen=True)
class Insight:
    runs: tuple[Run, ...]  # oldest first
    rows: tuple[Row, ...]
    points: tuple[Point, ...]
    tags: dict[str, int] = field(default_factory=dict)
    simulated: bool = False


Groups = dict[str, dict[tuple[int, str], Counts]]  # scenario -> (run, configuration version) -> counts


def insight_of(suite: Suite) -> Insight:
    """Of the scenarios that are in the suite now, by their newest content; what ran with another content is another
    scenario."""
    done = Run.objects.filter(suite=suite, status=RunStatus.DONE).order_by("-pk")
    runs = tuple(reversed(done[:MOST_RUNS]))
    scenarios = list(suite.scenarios.filter(archived_at=None, latest__isnull=False).order_by("entries__position"))
    groups, seconds = _read(runs, scenarios)
    rows = tuple(_row(scenario.key, groups.get(scenario.key, {}), seconds, runs) for scenario in scenarios)
    tags = {tag: sum(row.item.tag == tag for row in rows) for tag in get_args(Tag)}
    order: tuple[str, ...] = get_args(Tag)
    return Insight(
        runs=runs,
        rows=tuple(sorted(rows, key=lambda row: order.index(row.item.tag))),
        points=tuple(_points(runs, groups)),
        tags={tag: count for tag, count in tags.items() if count},
        simulated=Run.objects.filter(pk__in=[run.pk for run in runs], configurations__simulated=True).exists(),
    )


def _read(runs: Sequence[Run], scenarios: Sequence[Scenario]) -> tuple[Groups, dict[str, float]]:
    took = ExpressionWrapper(F("recorded_at") - F("started_at"), output_field=DurationField())
    graded = Trial.objects.filter(
        run__in=runs,
        outcome__in=(Outcome.PASSED, Outcome.FAILED),
        scenario_version__scenario__in=scenarios,
        scenario_version__run_hash=F("scenario_version__scenario__latest__run_hash"),
    )
    version = "configuration_version__number"
    places = ("scenario_version__scenario__key", "run_id", "configuration_version__configuration__name", version)
    counted = graded.order_by().values_list(*places)
    groups: Groups = defaultdict(dict)
    times: dict[str, list[tuple[float, int]]] = defaultdict(list)
    passed_too = counted.annotate(passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), n=Count("pk"), took=Avg(took))
    for key, run, name, number, passed, n, each in passed_too:
        groups[key][(run, f"{name}@{number}")] = Counts(passed, n)
        if each is not None:
            times[key].append((each.total_seconds(), n))
    seconds = {key: sum(s * n for s, n in own) / sum(n for _, n in own) for key, own in times.items()}
    return dict(groups), seconds


def _row(key: str, groups: dict[tuple[int, str], Counts], seconds: dict[str, float], runs: Sequence[Run]) -> Row:
    by_configuration = _summed((label, counts) for (_, label), counts in groups.items())
    by_run = _summed((run, counts) for (run, _), counts in groups.items())
    nothing = Counts(0, 0)
    shown = runs[-MOST_SHOWN:]
    cells = [(run, by_run.get(run.pk, nothing)) for run in shown]
    return Row(
        item=item(key, by_configuration),
        seconds=seconds.get(key) or AROUND_S,
        cells=tuple(Cell(run, counts.passed, counts.n) for run, counts in cells),
        by_configuration=tuple(sorted(by_configuration.items())),
    )


def _summed(pairs: Iterable[tuple[Any, Counts]]) -> dict[Any, Counts]:
    found: dict[Any, Counts] = {}
    for key, one in pairs:
        before = found.get(key, Counts(0, 0))
        found[key] = Counts(before.passed + one.passed, before.n + one.n)
    return found


def _points(runs: Sequence[Run], groups: Groups) -> Iterable[Point]:
    summed = _summed(pair for own in groups.values() for pair in own.items())
    of_run = {run.pk: run for run in runs}
    for (run, label), counts in sorted(summed.items(), key=lambda pair: (list(of_run).index(pair[0][0]), pair[0][1])):
        yield Point(of_run[run], label, counts.passed, counts.n)


def smoke(insight: Insight, *, minutes: float) -> list[Pick]:
    """The scenarios that tell most in so many minutes with LANES at once and one repeat of one configuration."""
    candidates = [Candidate(row.item.scenario_id, dict(row.by_configuration), row.seconds) for row in insight.rows]
    return smoke_subset(candidates, seconds=minutes * 60 * LANES)


def trend_chart(insight: Insight) -> Figure:
    """A line per configuration version over the runs that had it."""
    labels = list(dict.fromkeys(point.label for point in insight.points))
    place = {run.pk: n for n, run in enumerate(insight.runs)}
    data = [
        _line(n, label, [one for one in insight.points if one.label == label], place) for n, label in enumerate(labels)
    ]
    axis = {
        **LAYOUT["xaxis"],
        "tickmode": "array",
        "tickvals": list(place.values()),
        "ticktext": [str(pk) for pk in place],
    }
    share = {**LAYOUT["yaxis"], "range": [-0.05, 1.05], "dtick": 0.25, "title": {"text": "pass rate"}}
    return {"data": data, "layout": {**LAYOUT, **tall(260, len(labels)), "xaxis": axis, "yaxis": share}}


def _line(n: int, label: str, points: Sequence[Point], place: dict[int, int]) -> Figure:
    look = style(n)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(label),
        "x": [place[point.run.pk] for point in points],
        "y": [point.passed / point.n for point in points],
        "text": [escaped(f"{point.run}: {point.passed} of {point.n}") for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"width": 2, "dash": look.dash},
        "marker": {"size": 8, "symbol": look.symbol},
        "meta": {"role": "values", "token": look.token},
    }
