"""Form fields over a JSON document, without loss.

A slot ties one form field to one place in a document. What the browser sends back is compared with what the field
showed: if nobody changed it, the document is left alone at that place, so that whatever a form cannot express (a
missing key beside an empty list, `60s` beside 60, a lone carriage return) stays as it was.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scenarios_app.presentation import inline_json, pretty_json
from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.spec.jsontext import load
from scenarios_app.spec.numbers import number_of

Json = Any
Document = dict[str, Any]
ABSENT: Any = object()


class NotShown(Exception):
    """The document holds something at `path` that this field cannot show; JSON mode can."""

    def __init__(self, path: str, wanted: str) -> None:
        self.path, self.wanted = path, wanted
        self.reason = f"must be {wanted} before the form can show it: mend it here"
        super().__init__(f"{path} {self.reason}")


@dataclass(frozen=True)
class Kind:
    """How a value is shown as text, and read from it. `show` gives None for a value of another kind."""

    wanted: str
    show: Callable[[Json], str | None]
    read: Callable[[str], Json]


def _show_text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _reads_back(read: Callable[[str], Json], shown: str, value: Json) -> bool:
    """Whether this text gives the value again: an entry that begins like JSON would not."""
    try:
        return bool(read(shown) == value)
    except SpecError:
        return False


def _show_entries(separator: str) -> Callable[[Json], str | None]:
    def show(value: Json) -> str | None:
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            return None
        shown = separator.join(value)
        return shown if _reads_back(_read_entries(separator), shown, value) else inline_json(value)

    return show


def _read_entries(separator: str) -> Callable[[str], Json]:
    def read(text: str) -> Json:
        if text.lstrip().startswith("["):
            return load(text)
        return [entry.strip() for entry in text.split(separator.strip(" ")) if entry.strip()]

    return read


def _show_number(value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return value if isinstance(value, str) else inline_json(value)


def _read_number(text: str) -> Json:
    """A number where it is one; `60s` stays text, and the contract judges it."""
    try:
        value = load(text.strip())
    except SpecError:
        return text.strip()
    return value if isinstance(value, int | float) else text.strip()


def _show_text_or_json(value: Json) -> str | None:
    return value if isinstance(value, str) and _reads_back(_read_text_or_json, value, value) else inline_json(value)


def _read_text_or_json(text: str) -> Json:
    return load(text) if text.lstrip().startswith(("{", "[", '"')) else text.strip()


def _show_reference(value: Json) -> str | None:
    """{name, version} as NAME@VERSION."""
    if not isinstance(value, dict) or not set(value) <= {"name", "version"} or not isinstance(value.get("name"), str):
        return None
    version = value.get("version")
    return value["name"] if version is None else f"{value['name']}@{version}"


def _read_reference(text: str) -> Json:
    name, at, version = text.strip().rpartition("@")
    if not at:
        return {"name": version}
    number = number_of(version)
    return {"name": name, "version": version if number is None else number}


TEXT = Kind("text", _show_text, lambda text: text)
LINE = Kind("text", _show_text, lambda text: text.strip())
LINES = Kind("a list of texts", _show_entries("\n"), _read_entries("\n"))
COMMAS = Kind("a list of texts", _show_entries(", "), _read_entries(","))
NUMBER = Kind("a number", _show_number, _read_number)
JSON = Kind("JSON", pretty_json, load)
TEXT_OR_JSON = Kind("text or JSON", _show_text_or_json, _read_text_or_json)
FLAG = Kind("true or false", lambda value: ("on" if value else "") if isinstance(value, bool) else None, bool)
PRESENCE = Kind("an object", lambda value: "on" if isinstance(value, dict) else None, lambda text: {})
REFERENCE = Kind("an object with name and version", _show_reference, _read_reference)


@dataclass(frozen=True)
class Slot:
    """`field` of a form shows the value at `path` of a document."""

    field: str
    path: tuple[Part, ...]
    kind: Kind = LINE

    @property
    def place(self) -> str:
        return path_of(self.path)

    def show(self, document: Document) -> str:
        """The text of the field; "" when the document has nothing there. Raises NotShown."""
        value = value_at(document, self.path)
        if value is ABSENT or (value is None and self.kind is not JSON):
            return ""
        shown = self.kind.show(value)
        if shown is None:
            raise NotShown(self.place, self.kind.wanted)
        return shown


def value_at(document: Document, path: Sequence[Part]) -> Json:
    """ABSENT when there is none. Raises NotShown when something on the way is no object, or no list for a number."""
    value: Any = document
    for depth, key in enumerate(path):
        if value is None:
            return ABSENT
        if not isinstance(value, list if isinstance(key, int) else dict):
            raise NotShown(path_of(path[:depth]), "a list" if isinstance(key, int) else "an object")
        if key not in (range(len(value)) if isinstance(key, int) else value):
            return ABSENT
        value = value[key]  # type: ignore[index]
    return value


def as_sent(text: str) -> str:
    """The text as it comes back from a browser: its line ends are one kind, and only one."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def unchanged(shown: str, sent: str) -> bool:
    """A one-line input loses line breaks on its way through the browser: that is no change either."""
    return as_sent(shown) == as_sent(sent) or as_sent(shown).replace("\n", "") == sent


def merge(document: Document, slots: Sequence[Slot], sent: Mapping[str, str]) -> tuple[Document, list[Problem]]:
    """A copy of the document with every changed field in it, and the problems of fields that could not be read."""
    merged: Document = copy.deepcopy(document)
    problems: list[Problem] = []
    for slot in slots:
        text = sent.get(slot.field, "")
        if unchanged(slot.show(document), text):
            continue
        try:
            value = slot.kind.read(as_sent(text)) if text.strip() else ABSENT
        except SpecError as error:
            problems += [Problem(slot.place, in_field(problem)) for problem in error.problems]
            continue
        put(merged, slot.path, value)
    return merged, problems


def in_field(problem: Problem) -> str:
    """The message of a problem whose line counts from the top of its field."""
    place = f"line {problem.line}: " if problem.line else ""
    return f"{place}{problem.message}"


def put(document: Document, path: Sequence[Part], value: Json) -> None:
    """Sets the value, or for ABSENT removes it along with the objects below the top level that it leaves empty. Lists
    grow by empty objects; their entries are never removed."""
    holders: list[Any] = [document]
    for key, inner in pairwise(path):
        fresh: Json = [] if isinstance(inner, int) else {}
        if isinstance(key, int):
            holders[-1].extend({} for _ in range(len(holders[-1]), key + 1))
        elif holders[-1].get(key) is None:
            holders[-1][key] = fresh
        holders.append(holders[-1][key])
    if value is not ABSENT:
        holders[-1][path[-1]] = value
        return
    holders[-1].pop(path[-1], None)
    for depth in range(len(holders) - 1, 1, -1):
        if not holders[depth] and isinstance(holders[depth - 1], dict):
            del holders[depth - 1][path[depth - 1]]
