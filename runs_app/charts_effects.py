"""Effects of factors as points with their intervals, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.charts import LAYOUT, Figure, error_bars, escaped

ROW_PX: Final = 18  # and for each line of its name
LINE_PX: Final = 15
AROUND_PX: Final = 90


@dataclass(frozen=True)
class Bar:
    """One effect: `value` null where it cannot be told."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def effects_chart(bars: Sequence[Bar], *, title: str) -> Figure:
    names = [_in_lines(escaped(bar.name)) for bar in bars]
    most = max((name.count("<br>") + 1 for name in names), default=1)
    return {
        "data": [_points(bars, names)],
        "layout": {
            **LAYOUT,
            "height": AROUND_PX + (ROW_PX + most * LINE_PX) * max(1, len(bars)),
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


def _in_lines(name: str) -> str:
    """A name in one line would leave the points no room on a phone."""
    return name.replace(" → ", "<br>→ ").replace(" with ", "<br>with ")


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
