"""Rows of a form as a browser sends them: fields named PREFIX-NUMBER-REST, and what the buttons beside them do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenarios_app.spec.numbers import number_of

MOST_ROWS = 200  # of one group; a request has at most DATA_UPLOAD_MAX_NUMBER_FIELDS fields

Row = dict[str, str]  # text by REST; a group inside a row stands in it as further PREFIX-NUMBER-REST


def rows_in(data: Mapping[str, str], prefix: str) -> list[Row]:
    """The rows in the order of their numbers, which may have gaps; of more than MOST_ROWS the first."""
    return _all_rows(data, prefix)[:MOST_ROWS]


def overfull(data: Mapping[str, str], prefix: str) -> int:
    """How many rows were sent, where they are more than a group holds; else 0."""
    count = len(_all_rows(data, prefix))
    return count if count > MOST_ROWS else 0


def _all_rows(data: Mapping[str, str], prefix: str) -> list[Row]:
    head = f"{prefix}-"
    found: dict[int, Row] = {}
    for name, text in data.items():
        if not name.startswith(head):
            continue
        number, dash, rest = name.removeprefix(head).partition("-")
        index = number_of(number)
        if dash and index is not None:
            found.setdefault(index, {})[rest] = text
    return [found[index] for index in sorted(found)]


def named(prefix: str, rows: Iterable[Row]) -> dict[str, str]:
    """The rows as fields, numbered from 0."""
    return {f"{prefix}-{index}-{rest}": text for index, row in enumerate(rows) for rest, text in row.items()}


def with_rows(data: Mapping[str, str], prefix: str, rows: Iterable[Row]) -> dict[str, str]:
    """The same fields with these rows in place of those that `prefix` had."""
    kept = {name: text for name, text in data.items() if not name.startswith(f"{prefix}-")}
    return kept | named(prefix, rows)


def pressed(data: Mapping[str, str], action: str) -> dict[str, str]:
    """The fields after a button: add:PREFIX, or remove, up and down with :PREFIX:NUMBER. Any other changes nothing, and
    neither does adding to a full group."""
    verb, _, where = action.partition(":")
    if verb == "add":
        rows = rows_in(data, where)
        return dict(data.items()) if len(rows) >= MOST_ROWS else with_rows(data, where, [*rows, {"at": ""}])
    prefix, _, number = where.rpartition(":")
    rows, index = rows_in(data, prefix), number_of(number)
    if verb not in ("remove", "up", "down") or index is None or index >= len(rows):
        return dict(data.items())
    row = rows.pop(index)
    if verb != "remove":
        rows.insert(max(index + (1 if verb == "down" else -1), 0), row)
    return with_rows(data, prefix, rows)
