"""The few kinds of input that the editors use. Text is never stripped: what a field shows is what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms

from scenarios_app.forms.calls import PARTS, Calls
from scenarios_app.forms.slots import Document, Slot, merge
from scenarios_app.spec.errors import Problem

CALL_STATUS = (("", "default: completed"), ("completed", "completed"), ("any", "any: may fail"))


def line(label: str, help_text: str = "", **attrs: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"dir": "auto", "autocomplete": "off", **attrs})
    return forms.CharField(label=label, help_text=help_text, required=False, strip=False, widget=widget)


def code_line(label: str, help_text: str = "", **attrs: Any) -> forms.CharField:
    return line(label, help_text, dir="ltr", spellcheck="false", **{"class": "mono", **attrs})


def prose(label: str, help_text: str = "", rows: int = 3, **attrs: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"dir": "auto", "rows": rows, **attrs})
    return forms.CharField(label=label, help_text=help_text, required=False, strip=False, widget=widget)


def code(label: str, help_text: str = "", rows: int = 4, **attrs: Any) -> forms.CharField:
    """Several lines of JSON."""
    return prose(label, help_text, rows, dir="ltr", spellcheck="false", **{"class": "mono code", **attrs})


def choice(label: str, options: Iterable[tuple[str, str]], help_text: str = "") -> forms.CharField:
    """A list to choose from. The contract judges the value, so that a stored one outside the list is kept and shown."""
    widget = OpenSelect(choices=list(options))
    return forms.CharField(label=label, help_text=help_text, required=False, widget=widget)


def flag(label: str, help_text: str = "") -> forms.CharField:
    widget = forms.CheckboxInput(check_test=bool)
    return forms.CharField(label=label, help_text=help_text, required=False, widget=widget)


class OpenSelect(forms.Select):
    """A select that also offers the value it was given, so that opening and saving a form changes nothing."""

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> list[Any]:
        known = {str(option) for option, _ in self.choices}
        extra = [(given, given) for given in value if given and given not in known]
        if extra:
            self.choices = [*self.choices, *extra]
        return super().optgroups(name, value, attrs)


class CallRows:
    """The rows of one list of tool calls, for the template."""

    is_calls = True

    def __init__(self, form: SlotForm, calls: Calls, rows: int) -> None:
        self.prefix = calls.prefix
        self.label, self.help_text = form.call_labels[calls.prefix]
        self.rows = [[form[calls.field(row, part)] for part in PARTS] for row in range(rows)]


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
    calls: tuple[Calls, ...] = ()
    call_labels: dict[str, tuple[str, str]] = {}
    layout: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # heading, note, fields
    # No HTML validation: the server names every problem at its field.
    use_required_attribute = False

    def __init__(self, document: Document, data: Mapping[str, str] | None = None, more_rows: str = "") -> None:
        initial = {slot.field: slot.show(document) for slot in self.slots}
        shown = {calls: calls.show(document) for calls in self.calls}
        super().__init__(data=data, initial=initial)
        self.document = document
        self.rows = {}
        self.owners: dict[Calls, tuple[int, ...]] = {}
        for calls, entries in shown.items():
            count = len(entries) if data is None else calls.rows_sent(data)
            self.rows[calls] = max(count, 1) + (1 if more_rows == calls.prefix else 0)
            self._add_rows(calls, entries)

    def _add_rows(self, calls: Calls, entries: Sequence[Mapping[str, str]]) -> None:
        for row in range(self.rows[calls]):
            entry = entries[row] if row < len(entries) else {}
            made = {
                "name": code_line("Tool", list="known-tools"),
                "arguments": code("Arguments", rows=min(max(entry.get("arguments", "").count("\n") + 1, 2), 12)),
                "status": choice("Status", CALL_STATUS),
            }
            for part, field in made.items():
                field.initial = entry.get(part, "")
                self.fields[calls.field(row, part)] = field

    def merged(self) -> tuple[Document, list[Problem]]:
        """The document with what was sent in it, and the problems of fields that could not be read."""
        sent = {name: self.data.get(name, "") for name in self.fields}
        document, problems = merge(self.document, self.slots, sent)
        for calls in self.calls:
            result = calls.merge(self.document, document, sent, self.rows[calls])
            self.owners[calls] = result.owners
            problems += result.problems
        return document, problems

    def field_of(self) -> dict[str, str]:
        """Field by path in the document."""
        found = {slot.place: slot.field for slot in self.slots}
        for calls in self.calls:
            found |= calls.paths(self.owners.get(calls, tuple(range(self.rows[calls]))))
        return found

    def group(self, name: str) -> Any:
        calls = next((calls for calls in self.calls if calls.prefix == name), None)
        return CallRows(self, calls, self.rows[calls]) if calls else self[name]

    @property
    def sections(self) -> list[Section]:
        return [Section(self, *entry) for entry in self.layout]
