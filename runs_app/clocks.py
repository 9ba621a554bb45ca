"""Two clocks of one latency: by the protocol's events and by the recording. How far they part in a run."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from runs_app.charts import LAYOUT, Figure, style
from runs_app.grading.metrics import CLOCKS_DIFFER_MS
from runs_app.models import Run, RunConfiguration, Trial
from runs_app.stats.summary import Summary, summarise

WIDTHS_MS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
MOST_BINS: Final = 30
MOST_TRIALS: Final = 100


@dataclass(frozen=True)
class Bin:
    """Differences from `low_ms` up to but not including `high_ms`, counted per configuration."""

    low_ms: float
    high_ms: float
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Clocks:
    """`summaries` stand in the order of `labels`. `apart` counts the trials beyond CLOCKS_DIFFER_MS."""

    labels: tuple[str, ...]
    summaries: tuple[Summary, ...]
    bins: tuple[Bin, ...]
    apart: int
    trials: tuple[Trial, ...]  # those that are furthest apart, at most MOST_TRIALS

    @property
    def measured(self) -> int:
        return sum(summary.n for summary in self.summaries)


def clocks_of(run: Run) -> Clocks:
    """Of the graded trials, in ms: latency in the recording minus latency by events."""
    entries = list(run.configurations.select_related("configuration_version__configuration").order_by("position"))
    columns = [_differences(run, entry) for entry in entries]
    known = [[value for _, value in column if value is not None] for column in columns]
    distances = {pk: abs(value) for column in columns for pk, value in column if value is not None}
    apart = {pk: distance for pk, distance in distances.items() if distance > CLOCKS_DIFFER_MS}
    return Clocks(
        labels=tuple(str(entry.configuration_version) for entry in entries),
        summaries=tuple(summarise(np.array([value for _, value in column], dtype=np.float64)) for column in columns),
        bins=tuple(bins(known)),
        apart=len(apart),
        trials=tuple(_furthest(apart)),
    )


def _differences(run: Run, entry: RunConfiguration) -> list[tuple[int, float | None]]:
    own = run.trials.filter(configuration_version=entry.configuration_version_id, outcome__in=("passed", "failed"))
    return list(own.order_by("position").values_list("pk", "metrics__latency_difference_ms"))


def _furthest(apart: dict[int, float]) -> list[Trial]:
    chosen = sorted(apart, key=lambda pk: (-apart[pk], pk))[:MOST_TRIALS]
    found = Trial.objects.with_versions().defer("record").in_bulk(chosen)
    return [found[pk] for pk in chosen]


def bins(columns: Sequence[Sequence[float]]) -> list[Bin]:
    """As wide as it takes to have at most MOST_BINS of them, with an edge at 0. Nothing of nothing."""
    everything = [value for column in columns for value in column]
    if not everything:
        return []
    low, high = min(everything), max(everything)
    width = next((w for w in WIDTHS_MS if high // w - low // w < MOST_BINS), None) or (high - low) / (MOST_BINS - 2)
    edges = _edges(low, high, width)
    found = [[0] * len(columns) for _ in edges[1:]]
    for place, column in enumerate(columns):
        for value in column:
            found[bisect_right(edges, value) - 1][place] += 1
    return [Bin(low, high, tuple(counts)) for (low, high), counts in zip(pairwise(edges), found, strict=True)]


def _edges(low: float, high: float, width: float) -> list[float]:
    """Multiples of `width` around both, the last one above `high`; a division alone can miss by a rounding."""
    first, last = math.floor(low / width), math.floor(high / width) + 1
    first -= first * width > low
    last += last * width <= high
    return [place * width for place in range(first, last + 1)]


def histogram(clocks: Clocks) -> Figure:
    """A bar for each bin and configuration, side by side, and a line where a difference is worth a look."""
    centres = [(one.low_ms + one.high_ms) / 2 for one in clocks.bins]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": label,
            "x": centres,
            "y": [one.counts[place] for one in clocks.bins],
            "customdata": [[one.low_ms, one.high_ms] for one in clocks.bins],
            "hovertemplate": "%{customdata[0]} to %{customdata[1]} ms: %{y}<extra></extra>",
            "marker": {"opacity": 0.85},
            "meta": {"role": "counts", "token": style(place).token},
        }
        for place, label in enumerate(clocks.labels)
    ]
    data += [_limit(at, clocks) for at in (-CLOCKS_DIFFER_MS, CLOCKS_DIFFER_MS) if _in_sight(at, clocks)]
    axis_x = {**LAYOUT["xaxis"], "title": {"text": "recording minus events, ms"}}
    axis_y = {**LAYOUT["yaxis"], "title": {"text": "trials"}, "rangemode": "tozero"}
    return {"data": data, "layout": {**LAYOUT, "barmode": "group", "bargap": 0.05, "xaxis": axis_x, "yaxis": axis_y}}


def _in_sight(at: float, clocks: Clocks) -> bool:
    return bool(clocks.bins) and clocks.bins[0].low_ms <= at <= clocks.bins[-1].high_ms


def _limit(at: float, clocks: Clocks) -> dict[str, Any]:
    top = max(max(one.counts) for one in clocks.bins)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{at:+.0f} ms",
        "showlegend": False,
        "x": [at, at],
        "y": [0, top],
        "hovertemplate": f"{at:+.0f} ms: beyond it a trial is worth a look<extra></extra>",
        "line": {"width": 2, "dash": "dash"},
        "meta": {"role": "limit", "token": "--invalid"},
    }
