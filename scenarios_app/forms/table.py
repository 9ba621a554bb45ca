"""Scenarios as rows of cells: what a table shows, what comes back, and at which cell each problem stands.

The cells are those of the CSV columns. What has no cell is taken from the version that the row shows: nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios_app.forms.slots import ABSENT, as_sent, unchanged, value_at
from scenarios_app.models import ScenarioVersion
from scenarios_app.spec.errors import Problem, SpecError, by_field, path_of
from scenarios_app.spec.numbers import number_of
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.spec.scenario_columns import COLUMNS, Column, read_cells, scenario_cells

MOST_ROWS = 100  # every cell is a field of the request: DATA_UPLOAD_MAX_NUMBER_FIELDS has to hold them
BLANK_ROWS = 5
SHOWN = ("id", "title", "says", "answer", "criteria", "tags", "type", "notes")
SHOWN_COLUMNS = tuple(column for name in SHOWN for column in COLUMNS if column.name == name)
_PATHS = {path_of(column.path): column.name for column in SHOWN_COLUMNS} | {"input": "says", "expected": "answer"}


@dataclass(frozen=True)
class Cell:
    """One input of the page."""

    name: str
    label: str
    value: str
    errors: tuple[str, ...]
    fixed: bool
    kept: bool  # it holds something that a cell cannot spell


@dataclass
class TableRow:
    """`base` is the version that the row shows, None for a new scenario; errors by column, "" for the whole row."""

    index: int
    cells: dict[str, str]
    base: ScenarioVersion | None = None
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return self.index + 1

    @property
    def is_empty(self) -> bool:
        return self.base is None and not any(cell.strip() for cell in self.cells.values())

    @property
    def key(self) -> str:
        return self.base.scenario.key if self.base else self.cells["id"].strip()

    @property
    def inputs(self) -> list[Cell]:
        return [
            Cell(
                f"cell-{self.index}-{column.name}",
                f"{column.label}, row {self.number}",
                self.cells.get(column.name, ""),
                tuple(self.errors.get(column.name, ())),
                column.name == "id" and self.base is not None,
                self._is_kept(column),
            )
            for column in SHOWN_COLUMNS
        ]

    def _is_kept(self, column: Column) -> bool:
        if self.base is None or self.cells.get(column.name):
            return False
        return bool(value_at(self.base.content, column.path) not in (ABSENT, "", []))

    @property
    def row_errors(self) -> list[str]:
        return self.errors.get("", [])

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Problems whose paths lead into the scenario."""
        for path, messages in by_field(problems, _PATHS).items():
            self.errors.setdefault(_PATHS.get(path, ""), []).extend(messages)


def rows_of(versions: Sequence[ScenarioVersion], blank: int = BLANK_ROWS) -> list[TableRow]:
    """A row for each, and blank ones below as far as the table takes them."""
    rows = [TableRow(n, scenario_cells(one.content, SHOWN), one) for n, one in enumerate(versions[:MOST_ROWS])]
    return with_blanks(rows, blank)


def with_blanks(rows: list[TableRow], blank: int = BLANK_ROWS) -> list[TableRow]:
    end = min(len(rows) + blank, MOST_ROWS)
    return rows + [TableRow(index, dict.fromkeys(SHOWN, "")) for index in range(len(rows), end)]


def read_rows(data: Mapping[str, Any]) -> list[TableRow]:
    """The rows that the browser sent, empty ones left out. Raises SpecError for rows of versions that are not there."""
    numbers = sorted({n for key in data if key.startswith("cell-") and (n := _row_of(key)) is not None})
    bases = _bases(data, numbers)
    rows: list[TableRow] = []
    for number in numbers[:MOST_ROWS]:
        cells = {name: as_sent(data.get(f"cell-{number}-{name}", "")) for name in SHOWN}
        row = TableRow(len(rows), cells, bases.get(number))
        if row.base is not None:
            row.cells["id"] = row.base.scenario.key
        if not row.is_empty:
            rows.append(row)
    return rows


def _row_of(key: str) -> int | None:
    return number_of(key.split("-")[1])


def _bases(data: Mapping[str, Any], numbers: Iterable[int]) -> dict[int, ScenarioVersion]:
    wanted = {row: pk for row in numbers if (pk := number_of(data.get(f"base-{row}", ""))) is not None}
    found = ScenarioVersion.objects.select_related("scenario").in_bulk(wanted.values())
    if missing := [row + 1 for row, pk in wanted.items() if pk not in found]:
        raise SpecError([Problem("", f"row {missing[0]} shows a version that is not there: load the table again")])
    return {row: found[pk] for row, pk in wanted.items()}


def read_contents(rows: Sequence[TableRow]) -> dict[int, dict[str, Any]]:
    """Content by index of its row; problems are noted at the cells. An untouched row is its version as it is."""
    contents: dict[int, dict[str, Any]] = {}
    for row in rows:
        content, wrong = _content(row)
        contents[row.index] = content
        if wrong:
            row.refuse(wrong)
        else:
            _check(row, content)
    _refuse_twins(rows)
    return contents


def _content(row: TableRow) -> tuple[dict[str, Any], list[Problem]]:
    if row.base is None:
        return read_cells(row.cells)
    shown = scenario_cells(row.base.content, SHOWN)
    if all(unchanged(shown.get(name, ""), row.cells[name]) for name in SHOWN):
        return row.base.content, []
    # a browser changes line ends: a cell that nobody touched is what it was
    kept = {name: shown.get(name, "") for name in SHOWN if unchanged(shown.get(name, ""), row.cells[name])}
    return read_cells({**row.cells, **kept, "more": shown["more"]})


def _check(row: TableRow, content: dict[str, Any]) -> None:
    try:
        parse_scenario(content)
    except SpecError as error:
        row.refuse(error.problems)


def _refuse_twins(rows: Sequence[TableRow]) -> None:
    seen: dict[str, int] = {}
    for row in rows:
        first = seen.setdefault(row.key.lower(), row.number)
        if first != row.number and row.key:
            row.errors.setdefault("id", []).append(f"row {first} has this id already")
