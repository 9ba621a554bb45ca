"""The latency view: how soon each configuration answers, and by how much B is later at its fastest and slowest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from runs_app.charts import style
from runs_app.charts_latency import DECILES, SHARES, Curve, Shift, curve_chart, shift_chart
from runs_app.comparing.loading import Column
from runs_app.comparing.page import Page
from runs_app.comparing.picture import Line, Number, Picture, number
from runs_app.comparing.turn_times import KINDS, TurnTimes, turn_times
from runs_app.comparing.words import plural, signed_text
from runs_app.stats.bootstrap import draws_of, quantile_interval, quantiles
from runs_app.stats.rows import LATENCY
from runs_app.stats.survival import quantile, survival
from runs_app.stats.tails import FEWEST_OF_PAIR, Side, TailInput, TailInputs
from runs_app.stats.trials import Flags
from runs_app.templatetags.figures import ms

MOST_VALUES: Final = 6_000  # of both sides: nine bands of more would keep a reader waiting


@dataclass(frozen=True)
class Keyed:
    """Equal when the content is: another look at the same trials finds its bands made."""

    key: str
    found: TailInput = field(compare=False)


def latency_pictures(page: Page) -> list[Picture]:
    if page.pair is None:
        return [_curves(page)]
    times = turn_times(page, _among(page))
    return [_curves(page), _shift_of_trials(page, times.why), *_shifts_of_turns(page, times)]


def _at(side: Side, percent: int) -> float | None:
    """Null where nothing was measured, or where so many were never answered."""
    found = quantile(side.ms, side.censored, percent / 100)
    return None if found is None or found.at_least else found.value


def _curves(page: Page) -> Picture:
    curves = [_curve(page, column) for column in page.columns]
    return Picture(
        key="latency-curve",
        title=f"{LATENCY}: answered within",
        figure=curve_chart(curves),
        head=("of the trials", *(f"{curve.letter} {curve.name}" for curve in curves)),
        lines=tuple(
            Line(f"{percent} %", tuple(_late(curve, place) for curve in curves)) for place, percent in enumerate(SHARES)
        ),
        note="; ".join(
            f"{curve.letter}: {plural(curve.n, 'trial')} answered, {plural(curve.timeouts, 'time-out')}"
            for curve in curves
        ),
        wide=True,
    )


def _curve(page: Page, column: Column) -> Curve:
    assert page.comparison is not None
    side = TailInputs(page.comparison.measured.trials).configuration(column.place, among=_among(page)).sides[0]
    timeouts = int(np.count_nonzero(side.censored))
    at = tuple(_at(side, percent) for percent in SHARES)
    return Curve(column.letter, column.label, style(column.place), at, len(side.ms) - timeouts, timeouts, _end(side))


def _end(side: Side) -> tuple[float, float] | None:
    """Where the curve stops short of all: the per cent that were answered, and how long the rest was waited for."""
    if not side.censored.any() or (left := float(survival(side.censored)[-1])) <= 0:
        return None
    return 100 * (1 - left), float(side.ms[side.censored][-1])


def _among(page: Page) -> Flags | None:
    """The scenarios that are not filtered out; None when all are there."""
    assert page.comparison is not None
    if len(page.rows) == len(page.comparison.scenarios):
        return None
    return np.isin(page.comparison.measured.trials.scenario_ids, [row.scenario_id for row in page.rows])


def _late(curve: Curve, place: int) -> Number:
    value = curve.at[place]
    if value is None and curve.end is not None:
        return Number(f"> {ms(curve.end[1])}", None)
    return number(value, ms)


def _shift_of_trials(page: Page, more: str) -> Picture:
    assert page.compared is not None
    measured, pairing = page.compared.source
    found = TailInputs(measured.trials).pair(pairing, among=_among(page))
    return _shift(page, found, "latency-shift", "tenth by tenth", of="trial", more=more)


def _shifts_of_turns(page: Page, times: TurnTimes) -> list[Picture]:
    """One for each kind of turn, where there are several."""
    if len(times.inputs) < 2:
        return []
    return [
        _shift(page, found, f"latency-shift-{kind}", KINDS[kind], of="turn") for kind, found in times.inputs.items()
    ]


def _shift(page: Page, found: TailInput, key: str, name: str, *, of: str, more: str = "") -> Picture:
    assert page.pair is not None
    a, b = page.pair
    shifts, why = _banded(found)
    counted = "; ".join(
        f"{side.letter}: {plural(len(own.ms), of)}" for side, own in zip(page.pair, found.sides, strict=True)
    )
    return Picture(
        key=key,
        title=f"{b.letter} minus {a.letter}, {name}",
        figure=shift_chart(shifts, letters=(a.letter, b.letter), style=style(b.place)),
        head=(f"of the {of}s, fastest first", f"{b.letter} minus {a.letter}", "from", "to"),
        lines=tuple(
            Line(f"{shift.percent} %", tuple(number(one, _signed) for one in (shift.value, shift.low, shift.high)))
            for shift in shifts
        ),
        note=" ".join(filter(None, (f"{counted}.", why, more))),
        wide=of == "trial",
    )


def _signed(value: float) -> str:
    return signed_text(LATENCY, value)


def _banded(found: TailInput) -> tuple[list[Shift], str]:
    """With 95 % bands, or the reason why there are none."""
    values = [tuple(_at(side, percent) for side in found.sides) for percent in DECILES]
    shifts = [
        Shift(percent, None if a is None or b is None else b - a)
        for percent, (a, b) in zip(DECILES, values, strict=True)
    ]
    scenarios = min(side.timed for side in found.sides)
    fewest = FEWEST_OF_PAIR["p50"]
    if scenarios < fewest:
        return shifts, f"{plural(scenarios, 'scenario')} are too few for a band; {fewest} would have one."
    if sum(len(side.ms) for side in found.sides) > MOST_VALUES:
        return shifts, "Too many trials to draw the bands of while you wait."
    bands = _bands(Keyed(found.key, found))
    return [
        Shift(shift.percent, shift.value, *(band if band and _is_told(shift, scenarios) else (None, None)))
        for shift, band in zip(shifts, bands, strict=True)
    ], f"The band is at 95 % for each tenth, by a bootstrap over {plural(scenarios, 'scenario')}."


def _is_told(shift: Shift, scenarios: int) -> bool:
    """Near the ends an interval needs as many scenarios as that of p95."""
    is_end = shift.percent in (DECILES[0], DECILES[-1])
    return shift.value is not None and scenarios >= FEWEST_OF_PAIR["p95" if is_end else "p50"]


@lru_cache(maxsize=32)
def _bands(wanted: Keyed) -> tuple[tuple[float, float] | None, ...]:
    found = wanted.found
    draws = draws_of(found.scenario_ids)
    sides = [quantiles(side.ms, side.at, [percent / 100 for percent in DECILES], draws) for side in found.sides]
    made = [quantile_interval(both, draws) for both in zip(*sides, strict=True)]
    return tuple((one[0], one[1]) if one else None for one in made)
