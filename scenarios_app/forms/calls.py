"""Expected tool calls as rows of a form. Empty rows are dropped, untouched ones stay exactly as given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios_app.forms.slots import ABSENT, Document, NotShown, as_sent, in_field, put, unchanged, value_at
from scenarios_app.presentation import pretty_json
from scenarios_app.spec.errors import Problem, SpecError, path_of
from scenarios_app.spec.jsontext import load
from scenarios_app.spec.numbers import number_of

MOST_ROWS = 200  # a request has at most 1,000 fields
PARTS = ("name", "arguments", "status")


@dataclass(frozen=True)
class Calls:
    """Rows named PREFIX-0-name and so on, for the list at `path` of a document."""

    prefix: str
    path: tuple[str, ...]

    def field(self, row: int, part: str) -> str:
        return f"{self.prefix}-{row}-{part}"

    def show(self, document: Document) -> list[dict[str, str]]:
        """Raises NotShown for entries that are no calls."""
        entries = value_at(document, self.path)
        if entries is ABSENT:
            return []
        if not isinstance(entries, list):
            raise NotShown(path_of(self.path), "a list")
        if len(entries) >= MOST_ROWS:
            raise NotShown(path_of(self.path), f"a list of fewer than {MOST_ROWS} calls")
        return [self._row(entry, index) for index, entry in enumerate(entries)]

    def _row(self, entry: Any, index: int) -> dict[str, str]:
        place = path_of((*self.path, index))
        if not isinstance(entry, dict) or not set(entry) <= set(PARTS):
            raise NotShown(place, "an object of name, arguments and status")
        name, status = entry.get("name", ""), entry.get("status", "")
        if not isinstance(name, str) or not isinstance(status, str):
            raise NotShown(place, "an object whose name and status are text")
        return {
            "name": name,
            "arguments": pretty_json(entry["arguments"]) if "arguments" in entry else "",
            "status": status,
        }

    def rows_sent(self, data: Mapping[str, Any]) -> int:
        """How many rows the browser sent."""
        keys = (key.split("-")[1] for key in data if key.startswith(f"{self.prefix}-") and key.count("-") == 2)
        rows = max((index + 1 for key in keys if (index := number_of(key)) is not None), default=0)
        return min(rows, MOST_ROWS)

    def merge(self, document: Document, merged: Document, sent: Mapping[str, str], rows: int) -> Merged:
        """Puts the rows into `merged`, a copy of `document`."""
        shown = self.show(document)
        given = value_at(document, self.path)
        entries: list[Any] = []
        owners: list[int] = []
        problems: list[Problem] = []
        for row in range(rows):
            texts = {part: as_sent(sent.get(self.field(row, part), "")) for part in PARTS}
            if row < len(shown) and all(unchanged(shown[row][part], texts[part]) for part in PARTS):
                entry = given[row]
            elif not texts["name"].strip() and not texts["arguments"].strip():
                continue
            else:
                entry, found = self._entry(texts, len(entries))
                problems += found
            entries.append(entry)
            owners.append(row)
        if entries != ([] if given is ABSENT else given):
            put(merged, self.path, entries or ABSENT)
        return Merged(tuple(owners), tuple(problems))

    def _entry(self, texts: dict[str, str], index: int) -> tuple[dict[str, Any], list[Problem]]:
        entry: dict[str, Any] = {"name": texts["name"].strip()}
        problems: list[Problem] = []
        if texts["arguments"].strip():
            try:
                entry["arguments"] = load(texts["arguments"])
            except SpecError as error:
                place = path_of((*self.path, index, "arguments"))
                problems = [Problem(place, in_field(problem)) for problem in error.problems]
        if texts["status"]:
            entry["status"] = texts["status"]
        return entry, problems

    def paths(self, owners: tuple[int, ...]) -> dict[str, str]:
        """Field by path in the merged document: entry n stands in row owners[n]."""
        found = {path_of(self.path): self.field(0, "name")}
        for index, row in enumerate(owners):
            found[path_of((*self.path, index))] = self.field(row, "name")
            found |= {path_of((*self.path, index, part)): self.field(row, part) for part in PARTS}
        return found


@dataclass(frozen=True)
class Merged:
    owners: tuple[int, ...]  # row of each entry
    problems: tuple[Problem, ...]
