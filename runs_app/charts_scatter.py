"""B over A: a point per scenario, above the diagonal where B has the larger value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs_app.charts import LAYOUT, Figure, escaped, share_axis, tall

# direction -> what it is called, its colour and its shape; "" is without a word, as for a metric that nothing judges
KINDS: Final = {
    "better": ("better", "--pass", "triangle-up"),
    "worse": ("worse", "--fail", "triangle-down"),
    "same": ("same", "--ink-3", "circle"),
}
MOST_NAMES: Final = 8  # of scenarios at one spot, in its label


@dataclass(frozen=True)
class Point:
    scenario: str
    a: float
    b: float
    direction: str


def scatter_chart(points: Sequence[Point], *, letters: tuple[str, str], title: str, share: bool) -> Figure:
    """Scenarios of the same values share a point, which is larger and names them."""
    traces = [_trace(kind, [point for point in points if point.direction == kind], letters) for kind in KINDS]
    ends = [end for point in points for end in (point.a, point.b)]
    axis = share_axis(ends) if share else {"range": [0, 1.08 * max(ends, default=1.0)]}
    low, high = axis["range"]
    return {
        "data": [_diagonal(low, high), *(trace for trace in traces if trace["x"])],
        "layout": {
            **LAYOUT,
            **tall(380, 1),
            "xaxis": {**LAYOUT["xaxis"], **axis, "showgrid": True, "title": {"text": f"{letters[0]}, {title}"}},
            "yaxis": {**LAYOUT["yaxis"], **axis, "title": {"text": f"{letters[1]}, {title}"}},
        },
    }


def _diagonal(low: float, high: float) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high],
        "y": [low, high],
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"width": 1, "dash": "dot"},
        "meta": {"role": "diagonal", "token": "--ink-3"},
    }


def _trace(kind: str, points: Sequence[Point], letters: tuple[str, str]) -> Figure:
    name, token, symbol = KINDS[kind]
    spots: dict[tuple[float, float], list[str]] = {}
    for point in points:
        spots.setdefault((point.a, point.b), []).append(point.scenario)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{name} ({len(points)})",
        "x": [a for a, _ in spots],
        "y": [b for _, b in spots],
        "text": [_names(names) for names in spots.values()],
        "customdata": [names[0] for names in spots.values()],
        "hovertemplate": f"%{{text}}<br>{letters[0]} %{{x}}, {letters[1]} %{{y}}<extra></extra>",
        "marker": {"size": [_size(len(names)) for names in spots.values()], "symbol": symbol, "opacity": 0.75},
        "meta": {"role": "values", "token": token, "counts": [len(names) for names in spots.values()]},
    }


def _size(count: int) -> float:
    return round(7 + 3 * count**0.5, 1)


def _names(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return "<br>".join([*map(escaped, names[:MOST_NAMES]), *more])
