"""The comparison page as plain data, in whatever state it is: page, JSON and CSV read the same object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runs_app.charts import Figure, Series, series, slope_chart, style
from runs_app.comparing import table
from runs_app.comparing.cards import NAMES, Card, cards
from runs_app.comparing.choice import METRICS, BadChoice, Choice
from runs_app.comparing.conditions import Critical, comparison_of, newly_always_failed
from runs_app.comparing.loading import Column, Loaded, load
from runs_app.comparing.setup import Pairing, SetupDiff, pairing, setup_diff
from runs_app.comparing.words import LATENCY, value_text
from runs_app.grading.metrics import METRICS as CATALOGUE
from runs_app.stats.comparison import Comparison
from runs_app.stats.rows import PASS_RATE
from scenarios_app.spec.factors import Label

State = Literal["empty", "running", "over"]
NO_VALUE: Final = "no value"


@dataclass(frozen=True)
class Progress:
    """How far a configuration is; nothing here tells which one is ahead."""

    column: Column
    done: int
    of: int
    invalid: int


@dataclass(frozen=True)
class ChartRow:
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Chart:
    metric: str
    name: str
    figure: Figure
    rows: tuple[ChartRow, ...]  # the same numbers as the figure
    summary: ChartRow


@dataclass(frozen=True)
class Page:
    """`other` is the configuration beside the baseline in the table. In state "running" nothing is compared yet."""

    state: State
    choice: Choice
    loaded: Loaded
    progress: tuple[Progress, ...]
    comparison: Comparison | None = None
    metric: str = ""
    other: Column | None = None
    cards: tuple[Card, ...] = ()
    charts: tuple[Chart, ...] = ()
    rows: tuple[table.Row, ...] = ()
    setups: tuple[tuple[Column, SetupDiff, Pairing], ...] = ()
    critical: tuple[Critical, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.loaded.columns

    @property
    def labels(self) -> list[tuple[Column, tuple[Label, ...]]]:
        """The factors of each, with what differs from the baseline marked."""
        return [(column, column.factors.labels(self.columns[0].factors)) for column in self.columns]

    @property
    def figures(self) -> list[dict[str, object]]:
        return [{"id": f"chart-{chart.metric}", "figure": chart.figure} for chart in self.charts]


def page_of(choice: Choice) -> Page:
    """Raises BadChoice."""
    loaded = load(choice)
    progress = tuple(_progress(column, loaded) for column in loaded.columns)
    if not loaded.facts:
        return Page("empty", choice, loaded, progress)
    # who looks early finds differences that are not there: none is made before the end
    if not loaded.is_over:
        return Page("running", choice, loaded, progress)
    return _compared(choice, loaded, progress)


def _progress(column: Column, loaded: Loaded) -> Progress:
    outcomes = Counter(fact.row.outcome for fact in loaded.facts if fact.row.configuration_key == column.key)
    return Progress(column, outcomes.total() - outcomes[""], outcomes.total(), outcomes["invalid"])


def _compared(choice: Choice, loaded: Loaded, progress: tuple[Progress, ...]) -> Page:
    comparison = comparison_of(loaded)
    metric = choice.metric or _first_measured(comparison)
    other = _other(choice, loaded.columns)
    of_key = {column.key: column for column in loaded.columns}
    return Page(
        state="over",
        choice=choice,
        loaded=loaded,
        progress=progress,
        comparison=comparison,
        metric=metric,
        other=other,
        cards=tuple(cards(comparison, loaded)),
        charts=tuple(_chart(name, comparison, loaded) for name in METRICS),
        rows=tuple(table.rows(comparison, loaded, choice, metric=metric, other=other)),
        setups=tuple(
            (of_key[pair.b], setup_diff(loaded.columns[0], of_key[pair.b]), pairing(pair)) for pair in comparison.pairs
        ),
        critical=tuple(newly_always_failed(comparison, loaded)),
    )


def _first_measured(comparison: Comparison) -> str:
    """The metric that the table opens with: the first that any configuration has a value of."""
    for name in METRICS:
        if name != PASS_RATE and any(one.metrics[name].n for one in comparison.configurations):
            return name
    return PASS_RATE


def _other(choice: Choice, columns: Sequence[Column]) -> Column | None:
    if not choice.vs:
        return columns[1] if len(columns) > 1 else None
    for column in columns[1:]:
        if choice.vs in (column.key, column.label):
            return column
    raise BadChoice(f"vs: {choice.vs[:120]!r} is not among the configurations that are compared")


def _chart(metric: str, comparison: Comparison, loaded: Loaded) -> Chart:
    lines = [_series(metric, place, column, comparison) for place, column in enumerate(loaded.columns)]
    scenarios = [row.scenario_id for row in comparison.scenarios]
    unit = CATALOGUE[metric].unit if metric in CATALOGUE else "share"
    return Chart(
        metric=metric,
        name=NAMES.get(metric, metric),
        figure=slope_chart(scenarios, lines, title=unit, share=metric != LATENCY),
        rows=tuple(
            ChartRow(scenario, tuple(_shown(metric, line.values[place]) for line in lines))
            for place, scenario in enumerate(scenarios)
        ),
        summary=ChartRow("mean of the scenarios", tuple(_summary(metric, line) for line in lines)),
    )


def _series(metric: str, place: int, column: Column, comparison: Comparison) -> Series:
    cells = [row.cells[place] for row in comparison.scenarios]
    values = [cell.means[metric] if cell else None for cell in cells]
    return series(
        column.letter,
        column.label,
        style(column.place),
        values,
        interval=_rate_interval(comparison, place) if metric == PASS_RATE else None,
    )


def _rate_interval(comparison: Comparison, place: int) -> tuple[float, float] | None:
    """The one that the card tells: t's would leave the range of a share."""
    rate = comparison.configurations[place].pass_rate
    return None if rate.low is None or rate.high is None else (rate.low, rate.high)


def _shown(metric: str, value: float | None) -> str:
    return NO_VALUE if value is None else value_text(metric, value)


def _summary(metric: str, line: Series) -> str:
    if line.centre is None:
        return NO_VALUE
    ends = [value_text(metric, end) for end in (line.low, line.high) if end is not None]
    return f"{value_text(metric, line.centre)} [{', '.join(ends)}]" if ends else value_text(metric, line.centre)
