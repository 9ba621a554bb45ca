"""One row per scenario: what each configuration came to, and the difference of the pair that is held together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from runs_app.comparing.choice import Choice
from runs_app.comparing.differences import RULES, direction
from runs_app.comparing.heads import Places, Shown
from runs_app.comparing.loading import Column
from runs_app.comparing.reading import Head
from runs_app.comparing.words import signed_text
from runs_app.stats.comparison import Cell, Comparison, ScenarioRow
from runs_app.stats.flags import RowFlag
from runs_app.stats.pair import PairComparison
from runs_app.stats.rows import LATENCY

BAR_REM = 5.0  # the longest latency bar
NO_HEAD = Head("", False)

Pair = tuple[Column, Column]


@dataclass(frozen=True)
class Side:
    """One configuration's part of a row; `cell` is None where it never ran the scenario."""

    column: Column
    cell: Cell | None
    trials: tuple[Shown, ...]
    matched: int | None
    expected: int | None
    latency_ms: float | None
    bar_rem: float

    @property
    def tools(self) -> str:
        return "–" if self.matched is None else f"{self.matched}/{self.expected}"

    @property
    def heard(self) -> list[Shown]:
        return [trial for trial in self.trials if trial.has_audio]


@dataclass(frozen=True)
class Row:
    """`delta` is B minus A of the chosen metric, of the pair; `note` says why the row is outside the paired totals.

    `is_lost`: critical, passed by A and never by B. `sides` is empty until the row is filled for the page or the
    export.
    """

    scenario: ScenarioRow
    title: str
    critical: bool
    delta: float | None
    delta_text: str
    direction: str
    note: str
    flag: RowFlag | None
    is_lost: bool = False
    tags: tuple[str, ...] = ()
    sides: tuple[Side, ...] = ()

    @property
    def scenario_id(self) -> str:
        return self.scenario.scenario_id

    @property
    def suspicion(self) -> str:
        """worse or better where the pass counts make it likely, though one row alone proves nothing; else empty."""
        if self.flag is None or not self.flag.suspected:
            return ""
        return "worse" if self.flag.posterior > 0.5 else "better"

    @property
    def certainty(self) -> str:
        """How likely the suspicion is, in per cent."""
        if self.flag is None:
            return ""
        return f"{100 * max(self.flag.posterior, 1 - self.flag.posterior):.0f}\u202f%"


def rows(
    comparison: Comparison,
    heads: Mapping[str, Head],
    choice: Choice,
    columns: Sequence[Column],
    *,
    metric: str,
    pair: Pair | None,
    compared: PairComparison | None,
    kinds: Mapping[str, Collection[str]],
) -> list[Row]:
    """Cut and ordered as the address says. `pair` with its comparison; both None with one configuration alone. `kinds`
    of failures by scenario id."""
    places = {column.key: place for place, column in enumerate(columns)}
    made = [_row(scenario, heads, metric, pair, compared) for scenario in comparison.scenarios]
    return _ordered([row for row in made if _wanted(row, choice, kinds)], choice, metric, pair, places)


def _row(
    scenario: ScenarioRow,
    heads: Mapping[str, Head],
    metric: str,
    pair: Pair | None,
    compared: PairComparison | None,
) -> Row:
    key = scenario.scenario_id
    head = heads.get(key, NO_HEAD)
    delta = compared.differences.get(key, {}).get(metric) if compared else None
    return Row(
        scenario=scenario,
        title=head.title,
        critical=head.critical,
        delta=delta,
        delta_text=signed_text(metric, delta),
        direction=direction(RULES[metric], delta),
        note=_note(key, pair, compared),
        flag=compared.flags.get(key) if compared else None,
        is_lost=compared is not None and key in compared.critical,
        tags=head.tags,
    )


def filled(found: Iterable[Row], columns: Sequence[Column], trials: Places, comparison: Comparison) -> list[Row]:
    """The rows with a side for each configuration; latency bars are to one scale over the whole comparison."""
    every = (cell.means[LATENCY] for row in comparison.scenarios for cell in row.cells if cell)
    longest = max((mean for mean in every if mean is not None), default=0.0)
    return [replace(row, sides=tuple(_sides(row.scenario, columns, trials, longest))) for row in found]


def _sides(scenario: ScenarioRow, columns: Sequence[Column], trials: Places, longest: float) -> Iterable[Side]:
    for column, cell in zip(columns, scenario.cells, strict=True):
        own = trials.get((scenario.scenario_id, column.key), [])
        latency = cell.means[LATENCY] if cell else None
        matched, expected = matched_calls(own)
        bar = round(BAR_REM * latency / longest, 2) if latency and longest else 0.0
        yield Side(column, cell, tuple(own), matched, expected, latency, bar)


def matched_calls(trials: Iterable[Shown]) -> tuple[int | None, int | None]:
    """Expected calls that were made as they should be, and expected calls, summed over the graded trials.

    Tool accuracy is matched / the longer list, to four digits, so the count can be had back from it. Null when no
    graded trial has a value.
    """
    matched = expected = 0
    found = False
    for trial in trials:
        accuracy, wanted = trial.metrics.get("tool_accuracy"), trial.tool_calls_expected
        if not trial.graded or accuracy is None or wanted is None:
            continue
        found = True
        expected += int(wanted)
        if wanted and trial.tool_calls:
            matched += round(accuracy * max(wanted, trial.tool_calls))
    return (matched, expected) if found else (None, None)


def _note(scenario_id: str, pair: Pair | None, compared: PairComparison | None) -> str:
    if pair is None or compared is None:
        return ""
    a, b = pair
    if scenario_id in compared.changed:
        return "the scenario differs between the sides: outside the totals"
    if scenario_id in compared.only_a:
        return f"only {a.letter} ran it: outside the totals"
    if scenario_id in compared.only_b:
        return f"only {b.letter} ran it: outside the totals"
    return "" if scenario_id in compared.differences else f"neither {a.letter} nor {b.letter} ran it"


def _wanted(row: Row, choice: Choice, kinds: Mapping[str, Collection[str]]) -> bool:
    own = kinds.get(row.scenario_id, ())
    return (
        choice.search.casefold() in f"{row.scenario_id} {row.title}".casefold()
        and choice.show in ("", row.direction)
        and set(choice.tags) <= set(row.tags)
        and (not choice.kinds or any(kind in own for kind in choice.kinds))
    )


def _ordered(found: list[Row], choice: Choice, metric: str, pair: Pair | None, places: Mapping[str, int]) -> list[Row]:
    key = choice.sort.removeprefix("-")
    down = choice.sort.startswith("-")
    if key == "scenario":
        return sorted(found, key=lambda row: row.scenario_id, reverse=down)
    if choice.sort == "-delta":
        return sorted(found, key=lambda row: (not row.is_lost, not _harms_critical(row), *_by_size(row)))
    number = _sort_number(key, metric, pair, places)
    known = sorted((row for row in found if number(row) is not None), key=lambda row: number(row) or 0, reverse=down)
    # what has no value comes last, whichever way the column is sorted
    return known + [row for row in found if number(row) is None]


def _harms_critical(row: Row) -> bool:
    return row.critical and row.direction == "worse"


def _by_size(row: Row) -> tuple[bool, float, str]:
    return row.delta is None, -abs(row.delta or 0), row.scenario_id


def _sort_number(key: str, metric: str, pair: Pair | None, places: Mapping[str, int]) -> Callable[[Row], float | None]:
    own = [places[column.key] for column in pair] if pair else [0]

    def mean(row: Row, side: int, name: str) -> float | None:
        cell = row.scenario.cells[own[side]] if side < len(own) else None
        return cell.means[name] if cell else None

    def latency(row: Row) -> float | None:
        first, second = mean(row, 0, LATENCY), mean(row, 1, LATENCY)
        if len(own) == 1:
            return first
        return second - first if first is not None and second is not None else None

    def delta(row: Row) -> float | None:
        return None if row.delta is None else abs(row.delta)

    return {
        "a": lambda row: mean(row, 0, metric),
        "b": lambda row: mean(row, 1, metric),
        "latency": latency,
    }.get(key, delta)
