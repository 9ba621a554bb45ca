"""Effects of factors as points with their intervals, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.charts import LAYOUT, Figure, error_bars, escaped

ROW_PX: Final = 34
AROUND_PX: Final = 90


@dataclass(frozen=True)
class Bar:
    """One effect: `value` null where it cannot be told."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def effects_chart(bars: Sequence[Bar], *, title: str) -> Figure:
    names = [escaped(bar.name) for bar in bars]
    return {
        "data": [_points(bars, names)],
        "layout": {
            **LAYOUT,
            "height": AROUND_PX + ROW_PX * max(1, len(bars)),
            "showlegend": False,
            "xaxis": {
                **LAYOUT["xaxis"],
                "showgrid": True,
                "zeroline": True,
                "rangemode": "tozero",
                "title": {"text": title},
            },
            "yaxis": {**LAYOUT["yaxis"], "type": "category", "autorange": "reversed"},
        },
    }


def _points(bars: Sequence[Bar], names: Sequence[str]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [bar.value for bar in bars],
        "y": list(names),
        "hovertemplate": "%{y}: %{x}<extra></extra>",
        "marker": {"size": 9},
        "error_x": error_bars([(bar.low, bar.value, bar.high) for bar in bars], width=6),
        "meta": {"role": "values", "token": "--accent"},
    }
