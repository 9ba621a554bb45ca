"""Entries of a list, or of an object by name, as cards of a form. They can be added, moved and removed; what an entry
holds beside its columns stays in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms

from scenarios_app.forms.hints import Hint
from scenarios_app.forms.matching import same
from scenarios_app.forms.pairs import Merged, Pairs
from scenarios_app.forms.posted import MOST_ROWS, Row, named, rows_in, with_rows
from scenarios_app.forms.slots import ABSENT, Document, NotShown, Slot, as_sent, merge, put, unchanged, value_at
from scenarios_app.spec.errors import Part, Problem, join_path, path_of
from scenarios_app.spec.numbers import number_of

Hints = Callable[[str], Sequence[Hint]]  # of a tool


@dataclass(frozen=True)
class Column:
    """`slot` is a place inside an entry; `make` gives the field that shows it. `preset`: it says something from the
    start, which alone makes no entry."""

    slot: Slot
    make: Callable[[], forms.Field]
    preset: bool = False


@dataclass(frozen=True)
class Rows:
    """`word` names one entry, `add` the button that makes one. `keyed`: the entries of an object, `key` says what their
    names are. `pairs` are named values inside each entry."""

    prefix: str
    path: tuple[Part, ...]
    label: str
    help_text: str
    word: str
    add: str
    columns: tuple[Column, ...]
    key: str = ""
    pairs: Pairs | None = None

    def entries(self, document: Document) -> list[tuple[str, Document]]:
        """Name ("" in a list) and content. Raises NotShown for what is no list of objects."""
        value = value_at(document, self.path)
        if value is ABSENT or value is None:
            return []
        if not isinstance(value, dict if self.key else list):
            raise NotShown(path_of(self.path), "an object" if self.key else "a list")
        if len(value) > MOST_ROWS:
            raise NotShown(path_of(self.path), f"a list of at most {MOST_ROWS} entries")
        found = list(value.items()) if isinstance(value, dict) else [("", entry) for entry in value]
        for index, (name, entry) in enumerate(found):
            if not isinstance(entry, dict):
                raise NotShown(path_of((*self.path, name if self.key else index)), "an object")
        return found

    def spread(self, document: Document, hints: Hints) -> dict[str, str]:
        """The fields as an untouched form sends them."""
        entries = self.entries(document)
        return named(self.prefix, [self._row(at, *entry, hints) for at, entry in enumerate(entries)])

    def _row(self, at: int, name: str, entry: Document, hints: Hints) -> Row:
        place = path_of((*self.path, name if self.key else at))
        try:
            row = {"at": str(at)} | ({"key": name} if self.key else {})
            row |= {column.slot.field: column.slot.show(entry) for column in self.columns}
            nested = self.pairs.spread(entry, hints(row.get("name", ""))) if self.pairs else {}
        except NotShown as error:
            raise NotShown(join_path(place, error.path), error.wanted) from None
        return row | nested

    def completed(self, data: Mapping[str, str], hints: Hints) -> dict[str, str]:
        """With a row for every argument of the tool that a card names."""
        if self.pairs is None:
            return dict(data.items())
        rows = [self.pairs.completed(row, hints(row.get("name", ""))) for row in rows_in(data, self.prefix)]
        return with_rows(data, self.prefix, rows)

    def inside(self, index: int) -> Pairs | None:
        """The named values of one card, under the names that its fields have in the form."""
        return replace(self.pairs, prefix=f"{self.prefix}-{index}-{self.pairs.prefix}") if self.pairs else None

    def merge(self, document: Document, merged: Document, data: Mapping[str, str]) -> Merged:
        """Puts the rows into `merged`, a copy of `document`."""
        known = self.entries(document)
        found: list[tuple[str, Document]] = []
        problems: list[Problem] = []
        fields: dict[str, str] = {}
        for index, row in enumerate(rows_in(data, self.prefix)):
            at = number_of(row.get("at", ""))
            name, base = known[at] if at is not None and at < len(known) else ("", None)
            blank = not any(text.strip() for rest, text in row.items() if self._says(rest))
            if blank and (base is None or self._showed(name, base)):
                continue
            renamed = bool(self.key) and (base is None or not unchanged(name, row.get("key", "")))
            if renamed:
                name = as_sent(row.get("key", "")).strip()
            place = (*self.path, name if self.key else len(found))
            entry, wrong = self._entry(base or {}, row, index, place, fields)
            problems += wrong
            if renamed and not name:
                problems.append(Problem(path_of(place), f"{self.key}: say which"))
            elif self.key and any(name == other for other, _ in found):
                problems.append(Problem(path_of(place), f"{self.key} {name} has an entry already"))
            found.append((name, entry))
        self._put(document, merged, found)
        return Merged(tuple(problems), fields)

    def _says(self, rest: str) -> bool:
        """Whether a field of a row holds words of a person: not where it came from, nor what was there at first."""
        preset = {column.slot.field for column in self.columns if column.preset}
        last = rest.rpartition("-")[2]
        return rest not in preset and last not in ("at", "kind") and not (last == "key" and rest != "key")

    def _showed(self, name: str, base: Document) -> bool:
        """Whether there was something in the card that is empty now."""
        shown = [name, *(column.slot.show(base) for column in self.columns)]
        return any(text.strip() for text in shown) or bool(self.pairs and self.pairs.leaves(base))

    def _put(self, document: Document, merged: Document, found: list[tuple[str, Document]]) -> None:
        given = value_at(document, self.path)
        result: Any = dict(found) if self.key else [entry for _, entry in found]
        if not same(result, type(result)() if given is ABSENT or given is None else given):
            put(merged, self.path, result or ABSENT)

    def _entry(
        self, base: Document, row: Row, index: int, place: tuple[Part, ...], fields: dict[str, str]
    ) -> tuple[Document, list[Problem]]:
        """The entry as the row says, its problems below `place`, and its fields put into `fields`."""
        slots = [column.slot for column in self.columns]
        entry, problems = merge(base, slots, row)
        problems = [problem.under(path_of(place)) for problem in problems]
        first = "key" if self.key else slots[0].field
        fields.setdefault(path_of(self.path), f"{self.prefix}-{index}-{first}")
        fields[path_of(place)] = f"{self.prefix}-{index}-{first}"
        fields |= {path_of((*place, *slot.path)): f"{self.prefix}-{index}-{slot.field}" for slot in slots}
        if self.pairs:
            nested = self.pairs.merge(base, entry, row, place)
            problems += nested.problems
            fields |= {path: f"{self.prefix}-{index}-{name}" for path, name in nested.fields.items()}
        return entry, problems
