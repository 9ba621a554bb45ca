"""A form whose fields lie over a JSON document: single places, and groups of rows."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from scenarios_app.forms.cards import draw_pairs, draw_rows, pair_fields, row_fields
from scenarios_app.forms.hints import Hint, Offers
from scenarios_app.forms.pairs import Merged, Pairs
from scenarios_app.forms.posted import MOST_ROWS, named, overfull, pressed, rows_in, with_rows
from scenarios_app.forms.rows import Rows
from scenarios_app.forms.slots import Document, Slot, merge
from scenarios_app.spec.errors import Problem, path_of

TOO_MANY = (
    f"{{count}} rows were sent, and {MOST_ROWS} are the most: those after them are not here. Write long lists as JSON"
)


class Section:
    """Fields under one heading; `note` says what they are for."""

    def __init__(self, form: SlotForm, title: str, note: str, names: Sequence[str]) -> None:
        self.title, self.note = title, note
        self.fields = [form.group(name) for name in names]


class SlotForm(forms.Form):
    """Fields that show and change places of a JSON document.

    `document` is what they lie over: what no field shows is taken from there. Raises NotShown when the document
    holds something that a field cannot show.
    """

    slots: tuple[Slot, ...] = ()
    groups: tuple[Rows | Pairs, ...] = ()
    layout: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # heading, note, fields
    offers = Offers()
    tools_from = ""  # the field that names the application whose tools are offered
    # No HTML validation: the server names every problem at its field.
    use_required_attribute = False

    def __init__(self, document: Document, data: Mapping[str, str] | None = None) -> None:
        initial = {slot.field: slot.show(document) for slot in self.slots}
        self.application_label = (initial if data is None else data).get(self.tools_from, "")
        spread = {name: text for group in self.groups for name, text in self._spread(group, document).items()}
        self.rows = spread if data is None else _rows_of(self.groups, data)
        sent = None if data is None else dict(data.items()) | self.rows
        super().__init__(data=sent, initial=initial | spread)
        self.document = document
        for group in self.groups:
            self.fields.update(
                row_fields(group, self.rows) if isinstance(group, Rows) else pair_fields(group, self.rows)
            )

    def _spread(self, group: Rows | Pairs, document: Document) -> dict[str, str]:
        return group.spread(document, self.hints) if isinstance(group, Rows) else group.spread(document)

    def hints(self, tool: str) -> list[Hint]:
        return self.offers.arguments(self.application_label, tool)

    @classmethod
    def arranged(cls, data: Mapping[str, str], action: str) -> dict[str, str]:
        """What the browser sent, after a button: each card has a row for every argument of its tool then."""
        label = data.get(cls.tools_from, "")
        sent = pressed(data, action)
        if not action:  # checked while it is typed: the page keeps the rows that it has
            return sent
        for group in cls.groups:
            if isinstance(group, Rows):
                sent = group.completed(sent, lambda tool: cls.offers.arguments(label, tool))
        return sent

    @classmethod
    def overfull(cls, data: Mapping[str, str]) -> list[Problem]:
        """A problem for each group of which more rows were sent than it holds."""
        found = [(path_of(group.path), overfull(data, group.prefix)) for group in cls.groups]
        for group in cls.groups:
            if isinstance(group, Rows) and group.pairs:
                rows = enumerate(rows_in(data, group.prefix))
                found += [
                    (path_of((*group.path, n, *group.pairs.path)), overfull(row, group.pairs.prefix)) for n, row in rows
                ]
        return [Problem(path, TOO_MANY.format(count=count)) for path, count in found if count]

    def merged(self) -> tuple[Document, list[Problem]]:
        """The document with what was sent in it, and the problems of fields that could not be read."""
        sent = {name: self.data.get(name, "") for name in self.fields}
        document, problems = merge(self.document, self.slots, sent)
        for found in self._merge_groups(document):
            problems += found.problems
        return document, problems

    def _merge_groups(self, document: Document) -> list[Merged]:
        return [group.merge(self.document, document, self.rows) for group in self.groups]

    def field_of(self) -> dict[str, str]:
        """Field by path in the document."""
        found = {slot.place: slot.field for slot in self.slots}
        for group in self._merge_groups(copy.deepcopy(self.document)):
            found |= group.fields
        return found

    def group(self, name: str) -> Any:
        """What a template draws under that name: a field, or a group of rows."""
        group = next((group for group in self.groups if group.prefix == name), None)
        if group is None:
            return self[name]
        return draw_rows(self, group, self.rows) if isinstance(group, Rows) else draw_pairs(self, group, self.rows)

    @property
    def sections(self) -> list[Section]:
        return [Section(self, *entry) for entry in self.layout]


def _rows_of(groups: Sequence[Rows | Pairs], data: Mapping[str, str]) -> dict[str, str]:
    """The rows that were sent, numbered without gaps."""
    found: dict[str, str] = {}
    for group in groups:
        rows = rows_in(data, group.prefix)
        if isinstance(group, Rows) and group.pairs:
            rows = [with_rows(row, group.pairs.prefix, rows_in(row, group.pairs.prefix)) for row in rows]
        found |= named(group.prefix, rows)
    return found
