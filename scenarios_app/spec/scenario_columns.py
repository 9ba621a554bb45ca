"""Scenarios as rows of a table: which columns there are, which of a file's columns they likely are, and both ways.

What has no column of its own, or no plain spelling in its cell, stands as JSON in the column `more`: nothing is lost.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scenarios_app.spec.csvtext import Row, Table
from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.spec.jsontext import Json, dumps, load
from scenarios_app.spec.sources import Source, lines_by_parts

_TAG_BREAK = re.compile(r"[,;\r\n]")


@dataclass(frozen=True)
class Column:
    """`read` turns a cell into a value (ValueError says why not), `write` a value into a cell."""

    name: str
    label: str
    path: tuple[str, ...]
    read: Callable[[str], Json]
    write: Callable[[Json], str]
    also: tuple[str, ...] = ()  # headers that likely mean it


def _read_list(pattern: re.Pattern[str]) -> Callable[[str], Json]:
    return lambda cell: [part.strip() for part in pattern.split(cell) if part.strip()]


def _read_json(cell: str) -> Json:
    try:
        return load(cell)
    except SpecError as error:
        raise ValueError(f"{error.problems[0].message} (the column takes JSON)") from None


def _read_flag(cell: str) -> Json:
    word = cell.strip().lower()
    if word in ("yes", "true", "1", "x"):
        return True
    if word in ("no", "false", "0"):
        return False
    raise ValueError(f'must be yes or no, not "{cell[:40]}"')


def _flag(value: Json) -> str:
    return "yes" if value else "no"


def _column(name: str, label: str, path: str, *also: str) -> Column:
    return Column(name, label, tuple(path.split(".")), str, str, also)


def _json_column(name: str, label: str, path: str, *also: str) -> Column:
    return Column(name, label, tuple(path.split(".")), _read_json, dumps, also)


COLUMNS = (
    _column("id", "Id", "id", "scenario", "scenario_id", "test_id", "key", "case"),
    _column("title", "Title", "title", "name", "summary"),
    _column("says", "Caller says", "input.text", "text", "utterance", "input", "caller", "caller_says", "question"),
    _column("answer", "Expected answer", "expected.answer", "expected", "expected_answer", "expected_result"),
    Column("tags", "Tags", ("tags",), _read_list(_TAG_BREAK), ", ".join, ("tag", "labels")),
    _column("type", "Type", "type", "kind", "category"),
    _column("interaction", "Interaction", "interaction"),
    _column("delegation", "Delegation", "expected.delegation"),
    Column("criteria", "Criteria", ("expected", "criteria"), _read_list(re.compile(r"[\r\n]")), "\n".join),
    _json_column("tools", "Expected tool calls (JSON)", "expected.tools", "expected_tools"),
    _json_column("state", "Expected state (JSON)", "expected.state", "expected_state"),
    _json_column("initial_state", "State at the start (JSON)", "application.initial_state", "start_state"),
    _column("reference_date", "Reference date", "reference_date", "date"),
    Column("critical", "Critical (yes or no)", ("critical",), _read_flag, _flag),
    _column("mode", "Mode", "mode"),
    _column("owner", "Owner", "owner"),
    _column("notes", "Notes", "notes", "note", "comment"),
    _column("source", "Source", "source", "bug", "ticket"),
    _json_column("more", "Everything else (JSON)", ""),
)
NEEDED = ("id", "title", "says")
_BY_NAME = {column.name: column for column in COLUMNS}


def guess_columns(header: Sequence[str]) -> dict[str, int]:
    """Which column of the file each of ours likely is, by its name; the exact names win."""
    found: dict[str, int] = {}
    plain = [re.sub(r"[^\w.]+", "_", name.strip().lower()).strip("_") for name in header]
    for wanted in (lambda c: (c.name, path_of(c.path), c.label.lower().replace(" ", "_")), lambda c: c.also):
        for column in COLUMNS:
            spots = [n for n, name in enumerate(plain) if name in wanted(column) and n not in found.values()]
            if column.name not in found and spots:
                found[column.name] = spots[0]
    return found


def table_source(table: Table, mapping: Mapping[str, int]) -> Source:
    """The table as a scenario file. `mapping`: our column's name to the place (from 0) in the header.
    Raises SpecError with the line and the column of each cell that cannot be read."""
    problems = [
        Problem("", f'no column is chosen for "{_BY_NAME[name].label}": every scenario needs it', 1)
        for name in NEEDED
        if name not in mapping and "more" not in mapping
    ]
    if not problems and not table.rows:
        problems = [Problem("", "there is a header and no row under it", 1)]
    if problems:
        raise SpecError(problems)
    scenarios: list[Json] = []
    lines: dict[tuple[Part, ...], int] = {}
    for index, row in enumerate(table.rows):
        lines["scenarios", index] = row.line
        scenario, wrong = _scenario(row, mapping)
        scenarios.append(scenario)
        problems += [
            Problem(
                path_of(("scenarios", index, *column.path)), f'in the column "{table.header[place]}": {said}', row.line
            )
            for column, place, said in wrong
        ]
    if problems:
        raise SpecError(problems)
    return Source({"schema_version": "1.1", "scenarios": scenarios}, lines_by_parts(lines))


def read_cells(cells: Mapping[str, str]) -> tuple[dict[str, Json], list[Problem]]:
    """A scenario of cells by column, and the problems of cells that cannot be read, at their places in it."""
    names = list(cells)
    row = Row(0, tuple(cells.values()))
    scenario, wrong = _scenario(row, {name: place for place, name in enumerate(names)})
    return scenario, [Problem(path_of(column.path), said) for column, _, said in wrong]


def _scenario(row: Row, mapping: Mapping[str, int]) -> tuple[dict[str, Json], list[tuple[Column, int, str]]]:
    scenario: dict[str, Json] = {}
    wrong: list[tuple[Column, int, str]] = []
    for column in (_BY_NAME["more"], *COLUMNS[:-1]):
        place = mapping.get(column.name)
        if place is None or not row.cells[place].strip():
            continue
        try:
            _put(scenario, column.path, column.read(row.cells[place]))
        except ValueError as error:
            wrong.append((column, place, str(error)))
    scenario.setdefault("interaction", "single_turn")
    return scenario, wrong


def _put(scenario: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    if path == ("",):
        if not isinstance(value, dict):
            raise ValueError("must be a JSON object of the scenario's other fields")
        scenario.update(value)
        return
    holder = scenario
    for part in path[:-1]:
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            raise ValueError(f'the column more has "{part}" that is no object')
    holder[path[-1]] = value


def scenario_rows(scenarios: Iterable[Mapping[str, Json]]) -> tuple[list[str], list[list[str]]]:
    """Header and rows. Columns that no scenario fills are left out."""
    written = [scenario_cells(scenario) for scenario in scenarios]
    used = [c.name for c in COLUMNS if c.name in NEEDED or any(cells.get(c.name) for cells in written)]
    return used, [[cells.get(name, "") for name in used] for cells in written]


def scenario_cells(scenario: Mapping[str, Json], names: Collection[str] = tuple(_BY_NAME)) -> dict[str, str]:
    """The cells of these columns that the scenario fills, and `more`, which has all the rest."""
    rest = copy.deepcopy(dict(scenario))
    cells: dict[str, str] = {}
    for column in (column for column in COLUMNS[:-1] if column.name in names):
        holder = rest
        for part in column.path[:-1]:
            holder = holder.get(part, {})
        if column.path[-1] in holder and (cell := _cell(column, holder[column.path[-1]])):
            cells[column.name] = cell
            del holder[column.path[-1]]
    for name in ("input", "application", "expected"):
        if rest.get(name) == {} and any(c.path[0] == name for c in COLUMNS if c.name in cells):
            del rest[name]
    return {**cells, "more": dumps(rest) if rest else ""}


def _cell(column: Column, value: Json) -> str:
    """The value's spelling, "" when the cell would read back as anything else."""
    try:
        cell = column.write(value)
        return cell if cell.strip() and column.read(cell) == value else ""
    except (ValueError, TypeError):
        return ""
