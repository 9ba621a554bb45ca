"""Named values of an object as rows of a form: arguments of a call, the state. What nobody changed stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scenarios_app.forms.hints import Hint
from scenarios_app.forms.matching import PLAIN, UNCHECKED, Cells, cells_of, plain_cells, read_cells, same
from scenarios_app.forms.posted import MOST_ROWS, Row, named, rows_in, with_rows
from scenarios_app.forms.slots import ABSENT, Document, NotShown, as_sent, in_field, put, unchanged, value_at
from scenarios_app.spec.errors import Part, Problem, SpecError, parts_of, path_of
from scenarios_app.spec.jsontext import MAX_DEPTH, Json, clean_text
from scenarios_app.spec.matchers import is_operator
from scenarios_app.spec.numbers import number_of

MOST_DEEP = 60  # values of a state with a row each; of a larger one each top-level key has a row


@dataclass(frozen=True)
class Merged:
    """`fields` are field names by path."""

    problems: tuple[Problem, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pairs:
    """`word` names the key of a row. `deep`: a row for each value inside objects too, its key a path. Without
    `matches` a row has a value alone."""

    prefix: str
    path: tuple[str, ...]
    label: str
    help_text: str
    word: str
    add: str
    matches: bool = True
    deep: bool = False

    def leaves(self, holder: Document) -> list[tuple[str, Json]]:
        """Raises NotShown when there is something else than an object."""
        value = value_at(holder, self.path)
        if value is ABSENT or value is None:
            return []
        if not isinstance(value, dict):
            raise NotShown(path_of(self.path), "an object")
        found = list(_leaves(value)) if self.deep else list(value.items())
        if self.deep and len(found) > MOST_DEEP:
            found = [(path_of([key]), inner) for key, inner in value.items()]
        if len(found) > MOST_ROWS:
            raise NotShown(path_of(self.path), f"an object of at most {MOST_ROWS} keys")
        return found

    def spread(self, holder: Document, hints: Sequence[Hint] = ()) -> dict[str, str]:
        """The fields as an untouched form sends them, those of `hints` included."""
        kinds = {hint.name: hint.kind for hint in hints}
        rows = [self._row(at, *leaf, kinds.get(leaf[0], "")) for at, leaf in enumerate(self.leaves(holder))]
        return self.completed(named(self.prefix, rows), hints)

    def _row(self, at: int, key: str, value: Json, kind: str) -> Row:
        cells = self._cells(value, kind)
        row = {"at": str(at), "key": key, "kind": kind, "value": cells.value}
        return row | ({"match": cells.match, "option": cells.option} if self.matches else {})

    def _cells(self, value: Json, kind: str) -> Cells:
        return cells_of(value, kind) if self.matches else plain_cells(value)

    def completed(self, data: Mapping[str, str], hints: Sequence[Hint]) -> dict[str, str]:
        """A row for each hint that has none; rows of other tools' arguments go while nothing is in them."""
        known = {hint.name: hint for hint in hints}
        rows = [row for row in rows_in(data, self.prefix) if self._is_kept(row, known)]
        rows = [row | {"kind": known[row["key"]].kind} if _is_fresh(row, known) else row for row in rows]
        there = {row.get("key", "") for row in rows}
        fresh = [self._fresh(hint) for hint in hints if hint.name not in there]
        return with_rows(data, self.prefix, [*rows, *fresh])

    def _is_kept(self, row: Row, known: Mapping[str, Hint]) -> bool:
        key = row.get("key", "")
        return not (self.matches and key and _is_blank(row) and key not in known)

    def _fresh(self, hint: Hint) -> Row:
        return {"at": "", "key": hint.name, "kind": hint.kind, "match": UNCHECKED, "value": "", "option": ""}

    def merge(self, base: Document, merged: Document, data: Mapping[str, str], place: tuple[Part, ...] = ()) -> Merged:
        """Puts the rows into `merged`, a copy of `base`; both stand at `place` of the document."""
        leaves, rows = self.leaves(base), rows_in(data, self.prefix)
        top = (*place, *self.path)
        result: Document = {}
        problems: list[Problem] = []
        fields: dict[str, str] = {path_of(top): f"{self.prefix}-0-value"} if rows else {}
        for index, row in enumerate(rows):
            original = _original(row, leaves)
            key = _key(row, original)
            if self._is_left_out(row, key):
                continue
            parts, wrong = self._parts(key, is_new=original is None)
            fields.setdefault(path_of((*top, *parts)), f"{self.prefix}-{index}-value")
            try:
                value = self._value(row, original)
            except SpecError as error:
                problems += [Problem(path_of((*top, *parts)), in_field(problem)) for problem in error.problems]
                value = original[1] if original else None
            wrong = wrong or _insert(result, parts, value)
            problems += [Problem(path_of((*top, *parts)), wrong)] if wrong else []
        given = value_at(base, self.path)
        if not same(result, {} if given is ABSENT or given is None else given):
            put(merged, self.path, result or ABSENT)
        return Merged(tuple(problems), fields)

    def _is_left_out(self, row: Row, key: str) -> bool:
        if self.matches and _is_blank(row):
            return True
        return not key.strip() and row.get("at", "") == "" and not row.get("value", "").strip()

    def _parts(self, key: str, *, is_new: bool) -> tuple[tuple[str, ...], str]:
        if not self.deep:
            return (key,), "this value needs a name" if is_new and not key.strip() else ""
        try:
            parts = parts_of(key.strip())
        except ValueError:
            return (key,), f"write names with dots between them, and others as {path_of(['such a name'])}"
        if not parts:
            return (key,), "this value needs a name"
        if not all(isinstance(part, str) for part in parts):
            return (key,), "write a list as JSON: its entries have no rows"
        if len(parts) > MAX_DEPTH:
            return (key,), f"lies deeper than {MAX_DEPTH} levels"
        return tuple(clean_text(str(part)) for part in parts), ""

    def _value(self, row: Row, original: tuple[str, Json] | None) -> Json:
        kind = row.get("kind", "")
        sent = Cells(row.get("match", PLAIN), row.get("value", ""), row.get("option", ""))
        if original is not None:
            shown = self._cells(original[1], kind)
            if shown.match == sent.match and unchanged(shown.value, sent.value) and shown.option == sent.option:
                return original[1]
        return read_cells(replace(sent, value=as_sent(sent.value)), kind)


def _is_blank(row: Row) -> bool:
    return row.get("match", UNCHECKED) == UNCHECKED and not row.get("value", "").strip()


def _is_fresh(row: Row, known: Mapping[str, Hint]) -> bool:
    return row.get("at", "") == "" and row.get("key", "") in known and not row.get("value", "")


def _original(row: Row, leaves: Sequence[tuple[str, Json]]) -> tuple[str, Json] | None:
    at = number_of(row.get("at", ""))
    return leaves[at] if at is not None and at < len(leaves) else None


def _key(row: Row, original: tuple[str, Json] | None) -> str:
    key = row.get("key", "")
    return original[0] if original is not None and unchanged(original[0], key) else key


def _leaves(value: dict[str, Json], above: tuple[str, ...] = ()) -> Iterator[tuple[str, Json]]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and not is_operator(inner):
            yield from _leaves(inner, (*above, key))
        else:
            yield path_of((*above, key)), inner


def _insert(result: Document, parts: Sequence[str], value: Json) -> str:
    """What stands against it, or "" when the value is in its place."""
    holder: Any = result
    for part in parts[:-1]:
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            return "lies inside another row's value: give one of the two"
    if parts[-1] in holder:
        return "is given twice"
    holder[parts[-1]] = value
    return ""
