"""The fields of groups of rows, and the same fields laid out for the templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from scenarios_app.forms.hints import Hint
from scenarios_app.forms.inputs import choice, code_line, hidden, line
from scenarios_app.forms.matching import MATCHERS, OPTIONS
from scenarios_app.forms.pairs import Pairs
from scenarios_app.forms.posted import MOST_ROWS, Row, rows_in
from scenarios_app.forms.rows import Rows

_LONG = 60  # characters of a value above which it gets a text area


def row_fields(rows: Rows, data: Mapping[str, str]) -> Iterator[tuple[str, forms.Field]]:
    """Fields by name, for every row that `data` has."""
    for index, row in enumerate(rows_in(data, rows.prefix)):
        head = f"{rows.prefix}-{index}"
        yield f"{head}-at", hidden()
        if rows.key:
            yield f"{head}-key", code_line(rows.key, list=f"known-{rows.key.lower()}s")
        for column in rows.columns:
            yield f"{head}-{column.slot.field}", column.make()
        if nested := rows.inside(index):
            yield from pair_fields(nested, {f"{head}-{rest}": text for rest, text in row.items()})


def pair_fields(pairs: Pairs, data: Mapping[str, str]) -> Iterator[tuple[str, forms.Field]]:
    for index, row in enumerate(rows_in(data, pairs.prefix)):
        head = f"{pairs.prefix}-{index}"
        yield f"{head}-at", hidden()
        yield f"{head}-kind", hidden()
        yield f"{head}-key", code_line(pairs.word)
        if pairs.matches:
            yield f"{head}-match", choice("Matcher", MATCHERS)
        yield f"{head}-value", _value_field(row, f"id_{head}-value-choices")
        if pairs.matches:
            placeholder = OPTIONS.get(row.get("match", ""), " / ".join(OPTIONS.values()))
            yield f"{head}-option", code_line("Option", placeholder=placeholder)


def _value_field(row: Row, choices_id: str) -> forms.CharField:
    text, key = row.get("value", ""), row.get("key", "")
    label = f"Value of {key}" if key else "Value"
    if len(text) > _LONG:
        widget: forms.Widget = forms.Textarea(attrs={"dir": "auto", "rows": min(text.count("\n") + 2, 8)})
        return forms.CharField(label=label, required=False, strip=False, widget=widget)
    return line(label, list=choices_id)


@dataclass(frozen=True)
class DrawnPair:
    key: BoundField
    match: BoundField | None
    value: BoundField
    option: BoundField | None
    hidden: tuple[BoundField, ...]
    hint: Hint | None
    place: str  # PREFIX:NUMBER, for its buttons

    @property
    def parts(self) -> list[BoundField]:
        return [part for part in (self.key, self.match, self.value, self.option) if part is not None]


@dataclass(frozen=True)
class DrawnPairs:
    label: str
    help_text: str
    prefix: str
    add: str
    rows: tuple[DrawnPair, ...]
    matches: bool
    is_pairs: bool = True

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= MOST_ROWS


@dataclass(frozen=True)
class DrawnRow:
    fields: tuple[BoundField, ...]
    hidden: BoundField
    pairs: DrawnPairs | None
    place: str
    title: str
    is_first: bool
    is_last: bool


@dataclass(frozen=True)
class DrawnRows:
    label: str
    help_text: str
    prefix: str
    add: str
    rows: tuple[DrawnRow, ...]
    ordered: bool
    is_rows: bool = True

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= MOST_ROWS


def draw_pairs(form: Any, pairs: Pairs, data: Mapping[str, str], hints: Sequence[Hint] = ()) -> DrawnPairs:
    known = {hint.name: hint for hint in hints}
    drawn = []
    for index, row in enumerate(rows_in(data, pairs.prefix)):
        head = f"{pairs.prefix}-{index}"
        drawn.append(
            DrawnPair(
                key=form[f"{head}-key"],
                match=form[f"{head}-match"] if pairs.matches else None,
                value=form[f"{head}-value"],
                option=form[f"{head}-option"] if pairs.matches else None,
                hidden=(form[f"{head}-at"], form[f"{head}-kind"]),
                hint=known.get(row.get("key", "")),
                place=f"{pairs.prefix}:{index}",
            )
        )
    return DrawnPairs(pairs.label, pairs.help_text, pairs.prefix, pairs.add, tuple(drawn), pairs.matches)


def draw_rows(form: Any, rows: Rows, data: Mapping[str, str]) -> DrawnRows:
    sent = rows_in(data, rows.prefix)
    drawn = []
    for index, row in enumerate(sent):
        head = f"{rows.prefix}-{index}"
        names = (["key"] if rows.key else []) + [column.slot.field for column in rows.columns]
        nested = rows.inside(index)
        hints = form.hints(row.get("name", ""))
        drawn.append(
            DrawnRow(
                fields=tuple(form[f"{head}-{name}"] for name in names),
                hidden=form[f"{head}-at"],
                pairs=draw_pairs(form, nested, data, hints) if nested else None,
                place=f"{rows.prefix}:{index}",
                title=f"{rows.word} {index + 1}",
                is_first=index == 0,
                is_last=index + 1 == len(sent),
            )
        )
    return DrawnRows(rows.label, rows.help_text, rows.prefix, rows.add, tuple(drawn), ordered=not rows.key)
