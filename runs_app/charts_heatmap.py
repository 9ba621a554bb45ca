"""Scenarios down, configurations across: how good each cell is. A cell without a value is left open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runs_app.charts import LAYOUT, Figure, escaped

ROW_PX: Final = 24
AROUND_PX: Final = 60
LONGEST_ID: Final = 28


def heatmap_chart(
    scenarios: Sequence[str],
    letters: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    *,
    ends: tuple[float, float],
    is_better_high: bool,
) -> Figure:
    """`values` and `texts`: per scenario, one per configuration. `ends`: values with the palest and the fullest colour
    of the scale; `is_better_high` says which of them is good."""
    low, high = ends
    return {
        "data": [_column(place, scenarios, letters, values, texts, low, high) for place in range(len(letters))],
        "layout": {
            **LAYOUT,
            "height": AROUND_PX + ROW_PX * max(1, len(scenarios)),
            "margin": {"l": 60, "r": 60, "t": 30, "b": 10},
            "showlegend": False,
            "barmode": "overlay",
            "bargap": 0.08,
            "xaxis": {
                **LAYOUT["xaxis"],
                "side": "top",
                "range": [0, len(letters)],
                "tickvals": [place + 0.5 for place in range(len(letters))],
                "ticktext": list(letters),
            },
            "yaxis": {
                **LAYOUT["yaxis"],
                "autorange": "reversed",
                "type": "category",
                "tickvals": list(scenarios),
                "ticktext": [_short(name) for name in scenarios],
            },
            "meta": {"good": "high" if is_better_high else "low"},
        },
    }


def _column(
    place: int,
    scenarios: Sequence[str],
    letters: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    low: float,
    high: float,
) -> Figure:
    """Bars of one length laid side by side: the small bundle of plotly draws no heat map of its own."""
    own = [row[place] for row in values]
    return {
        "type": "bar",
        "orientation": "h",
        "name": letters[place],
        "y": list(scenarios),
        "base": [place] * len(own),
        "x": [None if value is None else 0.97 for value in own],
        "text": [row[place] for row in texts],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "customdata": list(scenarios),
        "hovertemplate": f"%{{y}}<br>{letters[place]}: %{{text}}<extra></extra>",
        "marker": {"color": own, "cmin": low, "cmax": high, "line": {"width": 0}},
        "meta": {"role": "cells", "token": "--ink", "values": own},
    }


def _short(name: str) -> str:
    text = name if len(name) <= LONGEST_ID else f"{name[: LONGEST_ID - 1]}…"
    return escaped(text)
