"""The charts of each view, with the same numbers as a table beside every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from runs_app.charts import Series, series, slope_chart, style
from runs_app.charts_heatmap import heatmap_chart
from runs_app.charts_scatter import Point, scatter_chart
from runs_app.comparing.choice import METRICS
from runs_app.comparing.differences import RULES, direction
from runs_app.comparing.effect_pictures import effect_pictures
from runs_app.comparing.latency_pictures import latency_pictures
from runs_app.comparing.loading import Column
from runs_app.comparing.page import Page
from runs_app.comparing.picture import NO_VALUE, Line, Number, Picture, number
from runs_app.comparing.table import Row
from runs_app.comparing.words import metric_name, metric_unit, signed_text, value_text
from runs_app.stats.comparison import Comparison
from runs_app.stats.rows import LATENCY, PASS_RATE

ABOUT: Final = {
    "scatter": "A point is a scenario: the mean of its repeats on either side. Scenarios of the same values share a "
    "point, which is then larger. On the dotted line nothing changed. A click opens the scenario in the table.",
    "slope": "A dot is a scenario: the mean of its repeats. A thin line joins the same scenario under two "
    "configurations, and is missing where one has no value. The open shape is the mean of the scenarios with its 95 % "
    "interval.",
    "latency": "Each curve says how many of its trials were answered within which time, as p50 and p95 of the card do: "
    "a time-out was not answered within its limit, and up to there the curve goes on as a dotted line. "
    "Below it, B minus A at every tenth: how much later B is at its fastest and at its slowest, over all trials, and "
    "turn by turn where there are several kinds of turns.",
    "effects": "What each factor does by itself, against the baseline's. Only configurations that differ in this "
    "factor and agree in all others tell of it. Intervals are at 95 % each: they are for looking, and no verdict rests "
    "on them.",
    "heatmap": "A cell is a scenario under a configuration: the mean of its repeats. An open cell has no value. It has "
    "the rows of this page of the table, in its order.",
}


def pictures(page: Page, shown: Sequence[Row]) -> list[Picture]:
    """Of the view that the address asks for, over the rows that are not filtered out. `shown`: those of this page."""
    makers: dict[str, Callable[[], list[Picture]]] = {
        "slope": lambda: [_slope(name, page) for name in METRICS],
        "scatter": lambda: [_scatter(name, page) for name in METRICS],
        "latency": lambda: latency_pictures(page),
        "effects": lambda: effect_pictures(page),
        "heatmap": lambda: [_heatmap(page, shown)],
    }
    make = makers.get(page.choice.view)
    if make is None or page.comparison is None or (page.choice.view == "scatter" and page.pair is None):
        return []
    return make()


def _slope(metric: str, page: Page) -> Picture:
    assert page.comparison is not None
    lines = [_series(metric, column, page) for column in page.columns]
    scenarios = [row.scenario_id for row in page.rows]
    head = ("scenario", *(f"{column.letter} {column.label}" for column in page.columns))
    return Picture(
        key=f"slope-{metric}",
        title=metric_name(metric),
        figure=slope_chart(scenarios, lines, title=metric_unit(metric), share=metric != LATENCY),
        head=head,
        lines=tuple(
            Line(scenario, tuple(number(line.values[place], _text(metric)) for line in lines))
            for place, scenario in enumerate(scenarios)
        ),
        foot=Line("mean of the scenarios", tuple(_summary(metric, line) for line in lines)),
    )


def _series(metric: str, column: Column, page: Page) -> Series:
    cells = [row.scenario.cells[column.place] for row in page.rows]
    values = [cell.means[metric] if cell else None for cell in cells]
    interval = _rate_interval(page, column) if metric == PASS_RATE else None
    return series(column.letter, column.label, style(column.place), values, interval, share=metric != LATENCY)


def _rate_interval(page: Page, column: Column) -> tuple[float, float] | None:
    """The one that the card tells: t's would leave the range of a share. It is of all scenarios alone."""
    comparison: Comparison | None = page.comparison
    if comparison is None or len(page.rows) != len(comparison.scenarios):
        return None
    rate = comparison.configurations[column.place].pass_rate
    return None if rate.low is None or rate.high is None else (rate.low, rate.high)


def _text(metric: str) -> Callable[[float], str]:
    return lambda value: value_text(metric, value)


def _summary(metric: str, line: Series) -> Number:
    if line.centre is None:
        return Number(NO_VALUE, None)
    ends = [value_text(metric, end) for end in (line.low, line.high) if end is not None]
    text = value_text(metric, line.centre)
    return Number(f"{text} [{', '.join(ends)}]" if ends else text, line.centre)


def _scatter(metric: str, page: Page) -> Picture:
    assert page.pair is not None
    sides = [_series(metric, column, page) for column in page.pair]
    letters = page.pair[0].letter, page.pair[1].letter
    both = [
        (row, a, b)
        for row, a, b in zip(page.rows, sides[0].values, sides[1].values, strict=True)
        if a is not None and b is not None and row.scenario_id in _paired(page)
    ]
    points = [Point(row.scenario_id, a, b, direction(RULES[metric], b - a)) for row, a, b in both]
    left_out = len(page.rows) - len(both)
    return Picture(
        key=f"scatter-{metric}",
        title=metric_name(metric),
        figure=scatter_chart(points, letters=letters, title=metric_unit(metric), share=metric != LATENCY),
        head=("scenario", *letters, f"{letters[1]} minus {letters[0]}"),
        lines=tuple(
            Line(
                row.scenario_id,
                (
                    number(a, _text(metric)),
                    number(b, _text(metric)),
                    number(b - a, lambda value: signed_text(metric, value)),
                ),
            )
            for row, a, b in both
        ),
        note=f"{left_out} of {len(page.rows)} scenarios have no value on one of the sides, or differ in content."
        if left_out
        else "",
    )


def _paired(page: Page) -> frozenset[str]:
    return frozenset(page.compared.paired) if page.compared else frozenset()


def _heatmap(page: Page, shown: Sequence[Row]) -> Picture:
    metric, columns = page.metric, page.columns
    values = [[cell.means[metric] if cell else None for cell in row.scenario.cells] for row in shown]
    numbers = [[number(value, _text(metric)) for value in row] for row in values]
    cells = (cell for row in page.rows for cell in row.scenario.cells if cell)
    every = [value for cell in cells if (value := cell.means[metric]) is not None]
    ends = (min(every, default=0.0), max(every, default=1.0)) if metric == LATENCY else (0.0, 1.0)
    return Picture(
        key=f"heatmap-{metric}",
        title=metric_name(metric),
        figure=heatmap_chart(
            [row.scenario_id for row in shown],
            [column.letter for column in columns],
            values,
            [["" if one.value is None else one.text for one in row] for row in numbers],
            ends=ends,
            is_better_high=RULES[metric].better == "higher",
        ),
        head=("scenario", *(f"{column.letter} {column.label}" for column in columns)),
        lines=tuple(Line(row.scenario_id, tuple(own)) for row, own in zip(shown, numbers, strict=True)),
        wide=True,
    )
