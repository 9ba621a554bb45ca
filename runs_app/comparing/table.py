"""One row per scenario, of the baseline and one other configuration: repeats, tools, latency and the difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from runs_app.comparing.cards import RULES, direction
from runs_app.comparing.choice import Choice
from runs_app.comparing.loading import Column, Fact, Loaded
from runs_app.comparing.words import LATENCY, signed_text
from runs_app.stats.comparison import Cell, Comparison, ScenarioRow
from runs_app.stats.pair import PairComparison

BAR_REM = 5.0  # the longest latency bar


@dataclass(frozen=True)
class Side:
    """One configuration's part of a row; `cell` is None where it never ran the scenario."""

    column: Column
    cell: Cell | None
    trials: tuple[Fact, ...]
    matched: int | None
    expected: int | None
    latency_ms: float | None
    bar_rem: float

    @property
    def tools(self) -> str:
        return "–" if self.matched is None else f"{self.matched}/{self.expected}"

    @property
    def heard(self) -> list[Fact]:
        return [trial for trial in self.trials if trial.has_audio]


@dataclass(frozen=True)
class Row:
    """`delta` is B minus A of the chosen metric, `note` says why the row is outside the paired totals."""

    scenario_id: str
    title: str
    critical: bool
    sides: tuple[Side, ...]
    delta: float | None
    delta_text: str
    direction: str
    note: str


def rows(comparison: Comparison, loaded: Loaded, choice: Choice, *, metric: str, other: Column | None) -> list[Row]:
    """Cut and ordered as the address says. `other`: the configuration beside the baseline; None when it is alone."""
    columns = [loaded.columns[0], *([other] if other else [])]
    pair = comparison.pair(columns[0].key, other.key) if other else None
    longest = max((_latency(row, column) or 0.0 for row in comparison.scenarios for column in columns), default=0.0)
    facts = _by_place(loaded.facts)
    made = [
        _row(scenario, columns, pair, metric, facts, longest)
        for scenario in comparison.scenarios
        if any(_cell(scenario, column) for column in columns)
    ]
    return _ordered([row for row in made if _wanted(row, choice)], choice, metric)


def _by_place(facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.row.repeat, fact.run)):
        found.setdefault((fact.row.scenario_id, fact.row.configuration_key), []).append(fact)
    return found


def _cell(scenario: ScenarioRow, column: Column) -> Cell | None:
    return next((cell for cell in scenario.cells if cell and cell.configuration_key == column.key), None)


def _latency(scenario: ScenarioRow, column: Column) -> float | None:
    cell = _cell(scenario, column)
    return cell.means[LATENCY] if cell else None


def _row(
    scenario: ScenarioRow,
    columns: Sequence[Column],
    pair: PairComparison | None,
    metric: str,
    facts: dict[tuple[str, str], list[Fact]],
    longest: float,
) -> Row:
    own = {column.key: facts.get((scenario.scenario_id, column.key), []) for column in columns}
    newest = max((fact for trials in own.values() for fact in trials), key=lambda fact: (fact.version, fact.pk))
    delta = pair.differences.get(scenario.scenario_id, {}).get(metric) if pair else None
    return Row(
        scenario_id=scenario.scenario_id,
        title=newest.title,
        critical=newest.critical,
        sides=tuple(_side(scenario, column, own[column.key], longest) for column in columns),
        delta=delta,
        delta_text=signed_text(metric, delta),
        direction=direction(RULES[metric], delta),
        note=_note(scenario.scenario_id, columns, pair),
    )


def _side(scenario: ScenarioRow, column: Column, trials: Sequence[Fact], longest: float) -> Side:
    latency = _latency(scenario, column)
    matched, expected = matched_calls(trials)
    return Side(
        column=column,
        cell=_cell(scenario, column),
        trials=tuple(trials),
        matched=matched,
        expected=expected,
        latency_ms=latency,
        bar_rem=round(BAR_REM * latency / longest, 2) if latency and longest else 0.0,
    )


def matched_calls(trials: Iterable[Fact]) -> tuple[int | None, int | None]:
    """Expected calls that were made as they should be, and expected calls, summed over the graded trials.

    Tool accuracy is matched / the longer list, to four digits, so the count can be had back from it. Null when no
    graded trial has a value.
    """
    matched = expected = 0
    found = False
    for trial in trials:
        accuracy, wanted = trial.row.metrics.get("tool_accuracy"), trial.tool_calls_expected
        if not trial.row.graded or accuracy is None or wanted is None:
            continue
        found = True
        expected += int(wanted)
        if wanted and trial.tool_calls:
            matched += round(accuracy * max(wanted, trial.tool_calls))
    return (matched, expected) if found else (None, None)


def _note(scenario_id: str, columns: Sequence[Column], pair: PairComparison | None) -> str:
    if pair is None:
        return ""
    a, b = columns
    if scenario_id in pair.changed:
        return "the scenario differs between the sides: outside the totals"
    if scenario_id in pair.only_a:
        return f"only {a.letter} ran it: outside the totals"
    return f"only {b.letter} ran it: outside the totals" if scenario_id in pair.only_b else ""


def _wanted(row: Row, choice: Choice) -> bool:
    text = f"{row.scenario_id} {row.title}".casefold()
    return choice.search.casefold() in text and (not choice.show or row.direction == choice.show)


def _ordered(found: list[Row], choice: Choice, metric: str) -> list[Row]:
    key = choice.sort.removeprefix("-")
    down = choice.sort.startswith("-")
    if key == "scenario":
        return sorted(found, key=lambda row: row.scenario_id, reverse=down)
    if choice.sort == "-delta":
        return sorted(found, key=lambda row: (not _harms_critical(row), *_by_size(row)))
    number = _sort_number(key, metric)
    known = sorted((row for row in found if number(row) is not None), key=lambda row: number(row) or 0, reverse=down)
    # what has no value comes last, whichever way the column is sorted
    return known + [row for row in found if number(row) is None]


def _harms_critical(row: Row) -> bool:
    return row.critical and row.direction == "worse"


def _by_size(row: Row) -> tuple[bool, float, str]:
    return row.delta is None, -abs(row.delta or 0), row.scenario_id


def _sort_number(key: str, metric: str) -> Callable[[Row], float | None]:
    def of_side(place: int) -> Callable[[Row], float | None]:
        def mean(row: Row) -> float | None:
            cell = row.sides[place].cell if place < len(row.sides) else None
            return cell.means[metric] if cell else None

        return mean

    def latency(row: Row) -> float | None:
        values = [side.latency_ms for side in row.sides]
        if len(values) == 1:
            return values[0]
        return values[1] - values[0] if values[0] is not None and values[1] is not None else None

    def delta(row: Row) -> float | None:
        return None if row.delta is None else abs(row.delta)

    return {"a": of_side(0), "b": of_side(1), "latency": latency}.get(key, delta)
