"""Latency in full: how many answers came within which time, and by how much B is later at every tenth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.charts import LAYOUT, Figure, Style, legend, tall

SHARES: Final = tuple(range(5, 100, 5))  # per cent at which the curve is drawn
FAR: Final = 1.5  # times the slowest answer
DECILES: Final = tuple(range(10, 100, 10))


@dataclass(frozen=True)
class Curve:
    """`at`: ms by the percentages of SHARES, null where so many were never reached. `end`: the per cent that were
    reached, and the limit in ms until which the others were waited for; null without time-outs there."""

    letter: str
    name: str
    style: Style
    at: tuple[float | None, ...]
    n: int
    timeouts: int
    end: tuple[float, float] | None = None


@dataclass(frozen=True)
class Shift:
    """B minus A at one percentage, ms; the interval is null where there is none."""

    percent: int
    value: float | None
    low: float | None = None
    high: float | None = None


def curve_chart(curves: Sequence[Curve]) -> Figure:
    return {
        "data": [*map(_curve, curves), *(_end(one, one.end) for one in curves if one.end)],
        "layout": {
            **LAYOUT,
            **tall(360, len(curves)),
            "xaxis": {**LAYOUT["xaxis"], "showgrid": True, **_reach(curves), "title": {"text": "ms"}},
            "yaxis": {
                **LAYOUT["yaxis"],
                "range": [0, 100],
                "ticksuffix": " %",
                "title": {"text": "answered within"},
            },
        },
    }


def _reach(curves: Sequence[Curve]) -> Figure:
    """A limit far off would press the answers into the first tenth of the axis: its line then leaves the picture."""
    longest = max((ms for curve in curves for ms in curve.at if ms is not None), default=0.0)
    limits = [curve.end[1] for curve in curves if curve.end]
    if longest and limits and max(limits) > FAR * longest:
        return {"range": [0, FAR * longest]}
    return {"rangemode": "tozero"}


def _curve(curve: Curve) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": legend(curve.letter, curve.name, bool(curve.n)),
        "x": list(curve.at),
        "y": list(SHARES),
        "connectgaps": False,
        "hovertemplate": f"{curve.letter}: %{{y}} % within %{{x:.0f}} ms<extra></extra>",
        "line": {"width": 2, "dash": curve.style.dash},
        "marker": {"size": 5, "symbol": curve.style.symbol},
        "meta": {"role": "values", "token": curve.style.token},
    }


def _end(curve: Curve, end: tuple[float, float]) -> Figure:
    """From the last time that was reached on, the share stays as it is until nobody waited any longer."""
    share, limit = end
    reached = [ms for ms in curve.at if ms is not None]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"{curve.letter}: time-outs",
        "showlegend": False,
        "x": [reached[-1] if reached else 0.0, limit],
        "y": [share, share],
        "hovertemplate": f"{curve.letter}: {100 - share:.0f} % not answered within %{{x:.0f}} ms<extra></extra>",
        "line": {"width": 1, "dash": "dot"},
        "marker": {"size": [0, 9], "symbol": "line-ns-open"},
        "meta": {"role": "end", "token": curve.style.token},
    }


def shift_chart(shifts: Sequence[Shift], *, letters: tuple[str, str], style: Style) -> Figure:
    """Above 0 B is later. Where there is a band it is drawn behind."""
    banded = [shift for shift in shifts if shift.low is not None and shift.high is not None]
    data = [_band(banded)] if banded else []
    return {
        "data": [*data, _line(shifts, style)],
        "layout": {
            **LAYOUT,
            "height": 320,
            "showlegend": False,
            "xaxis": {
                **LAYOUT["xaxis"],
                "tickvals": list(DECILES),
                "ticksuffix": " %",
                "title": {"text": "of the answers, fastest first"},
            },
            "yaxis": {
                **LAYOUT["yaxis"],
                "zeroline": True,
                "title": {"text": f"{letters[1]} minus {letters[0]}, ms"},
            },
        },
    }


def _band(shifts: Sequence[Shift]) -> Figure:
    percents = [shift.percent for shift in shifts]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*percents, *reversed(percents)],
        "y": [*(shift.low for shift in shifts), *(shift.high for shift in reversed(shifts))],
        "fill": "toself",
        "hoverinfo": "skip",
        "line": {"width": 0},
        "meta": {"role": "band", "token": "--line-strong"},
    }


def _line(shifts: Sequence[Shift], style: Style) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "shift",
        "x": [shift.percent for shift in shifts],
        "y": [shift.value for shift in shifts],
        "connectgaps": False,
        "hovertemplate": "at %{x} %: %{y:+.0f} ms<extra></extra>",
        "line": {"width": 2},
        "marker": {"size": 8, "symbol": style.symbol},
        "meta": {"role": "values", "token": style.token},
    }
