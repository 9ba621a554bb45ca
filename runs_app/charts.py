"""Figures of the comparison page as plain dicts that plotly.js draws: what all share, and the slope chart.

No colour is named here: `meta` of a trace names the token (`static/css/tokens.css`) that charts.js paints it with, so
that light and dark need no other figure. Null is a gap, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from runs_app.stats.paired import t_interval
from runs_app.stats.rates import FEWEST_FOR_MEAN_TIME, mean_interval_of_shares
from runs_app.stats.summary import mean, measured

Figure = dict[str, Any]

SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")
DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
COLOURS: Final = "abcdefgh"  # --series-a to --series-h
LONGEST_NAME: Final = 40
JITTER: Final = 0.2  # of the distance between two configurations
CENTRE_AT: Final = 0.32  # right of the dots
LEGEND_LINE_PX: Final = 20

LAYOUT: Final[Figure] = {
    "height": 300,
    "margin": {"l": 56, "r": 16, "t": 10, "b": 36},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "hovermode": "closest",
    "showlegend": True,
    "legend": {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top"},
    "xaxis": {"fixedrange": True, "showgrid": False, "zeroline": False},
    "yaxis": {"fixedrange": True, "zeroline": False, "automargin": True},
}


@dataclass(frozen=True)
class Style:
    """How a configuration is drawn wherever it stands: colour and shape, and colour and dash, are no other one's."""

    token: str
    symbol: str
    dash: str


def style(place: int) -> Style:
    """Of the configuration at this place (from 0). All differ up to 48."""
    colours, turn = len(COLOURS), place // len(COLOURS)
    return Style(
        token=f"--series-{COLOURS[place % colours]}",
        symbol=SYMBOLS[(place + turn) % len(SYMBOLS)],
        dash=DASHES[(place % colours + turn) % len(DASHES)],
    )


@dataclass(frozen=True)
class Series:
    """One configuration: a value per scenario (null: none), in the order of the figure's scenarios.

    `low` and `high` are the interval of `centre`; null where there is none.
    """

    letter: str
    name: str
    style: Style
    values: tuple[float | None, ...]
    centre: float | None
    low: float | None
    high: float | None


def series(
    letter: str,
    name: str,
    style: Style,
    values: Sequence[float | None],
    interval: tuple[float, float] | None = None,
    *,
    share: bool = False,
) -> Series:
    """Mean over the scenarios with a value, and its 95 % interval unless one is given: of a share one that stays
    between 0 and 1, else t's."""
    known = measured(values)
    low, high = interval or (_of_shares(known) if share else _of_times(known))
    clean = tuple(value if value is not None and math.isfinite(value) else None for value in values)
    return Series(letter, name, style, clean, mean(known), low, high)


def _of_times(values: Sequence[float]) -> tuple[float | None, float | None]:
    return t_interval(values, 0.95) if len(values) >= FEWEST_FOR_MEAN_TIME else (None, None)


def _of_shares(values: Sequence[float]) -> tuple[float | None, float | None]:
    found = mean_interval_of_shares(np.array(values))
    return (found.low, found.high) if found else (None, None)


def slope_chart(scenarios: Sequence[str], columns: Sequence[Series], *, title: str, share: bool) -> Figure:
    """A dot per scenario and configuration, a line between the dots of one scenario, mean and interval beside them.

    `share`: values lie between 0 and 1, and the axis shows all of that.
    """
    at = [_jitter(place, len(scenarios)) for place in range(len(scenarios))]
    data = [_links(columns, at), *(_dots(place, one, scenarios, at) for place, one in enumerate(columns))]
    data += [_centre(place, one) for place, one in enumerate(columns)]
    return {"data": data, "layout": _layout(columns, title, share)}


def _jitter(place: int, count: int) -> float:
    """The same for a scenario in every configuration, so that its line shows the change alone."""
    return 0.0 if count < 2 else JITTER * (2 * place / (count - 1) - 1)


def _links(columns: Sequence[Series], at: Sequence[float]) -> Figure:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for scenario, offset in enumerate(at):
        xs += [place + offset for place in range(len(columns))] + [None]
        ys += [column.values[scenario] for column in columns] + [None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "connectgaps": False,
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"width": 1},
        "meta": {"role": "link", "token": "--line-strong"},
    }


def _dots(place: int, column: Series, scenarios: Sequence[str], at: Sequence[float]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": legend(column.letter, column.name, column.centre is not None),
        "legendgroup": column.letter,
        "x": [place + offset for offset in at],
        "y": list(column.values),
        "text": list(scenarios),
        "customdata": list(scenarios),
        "hovertemplate": f"%{{text}}<br>{column.letter}: %{{y}}<extra></extra>",
        "marker": {"size": 8, "symbol": column.style.symbol, "opacity": 0.75},
        "meta": {"role": "values", "token": column.style.token},
    }


def _centre(place: int, column: Series) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{column.letter} mean",
        "legendgroup": column.letter,
        "showlegend": False,
        "x": [place + CENTRE_AT],
        "y": [column.centre],
        "hovertemplate": f"{column.letter}: mean %{{y}}<extra></extra>",
        "marker": {"size": 11, "symbol": f"{column.style.symbol}-open", "line": {"width": 2}},
        "error_y": error_bars([(column.low, column.centre, column.high)], width=7),
        "meta": {"role": "centre", "token": column.style.token},
    }


def error_bars(points: Sequence[tuple[float | None, float | None, float | None]], *, width: int) -> Figure:
    """Of each point its low end, its value and its high end."""
    above = [_distance(value, high) for _, value, high in points]
    below = [_distance(low, value) for low, value, _ in points]
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "visible": any(one is not None for one in (*above, *below)),
        "thickness": 2,
        "width": width,
    }


def _distance(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else high - low


def legend(letter: str, name: str, has_data: bool = True) -> str:
    """The letter tells apart what is cut to the same text."""
    if len(name) > LONGEST_NAME:
        half = LONGEST_NAME // 2
        name = f"{name[: half - 1]}…{name[-half:]}"
    text = f"{letter} {escaped(name)}"
    return text if has_data else f"{text} (no data)"


def escaped(text: str) -> str:
    """Plotly reads some HTML tags in names."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def tall(height: int, lines: int) -> Figure:
    """Height and margins with a legend of so many lines below the plot, long names taking one each."""
    extra = LEGEND_LINE_PX * lines
    return {"height": height + extra, "margin": {**LAYOUT["margin"], "b": LAYOUT["margin"]["b"] + extra}}


def share_axis(values: Iterable[float | None]) -> Figure:
    """All of 0 to 1, and more where an interval reaches beyond: it is never cut off."""
    known = measured(values)
    low, high = min([0.0, *known]), max([1.0, *known])
    return {"range": [low - 0.05, high + 0.05], "dtick": 0.25}


def _layout(columns: Sequence[Series], title: str, share: bool) -> Figure:
    axis_x = {
        **LAYOUT["xaxis"],
        "tickmode": "array",
        "tickvals": list(range(len(columns))),
        "ticktext": [column.letter for column in columns],
        "range": [-0.5, len(columns) - 0.5],
    }
    axis_y: Figure = {**LAYOUT["yaxis"], "title": {"text": title}}
    if share:
        axis_y |= share_axis(end for column in columns for end in (column.low, column.high, *column.values))
    else:
        axis_y["rangemode"] = "tozero"
    return {**LAYOUT, **tall(300, len(columns)), "xaxis": axis_x, "yaxis": axis_y}
