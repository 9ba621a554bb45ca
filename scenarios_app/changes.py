"""What changed between two versions, at a glance: one entry for each field, prompts by their lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scenarios_app.diffing import count_lines
from scenarios_app.presentation import Json, plain
from scenarios_app.spec.errors import Part, path_of

LONGEST_SHOWN = 60
ABSENT = "–"


@dataclass(frozen=True)
class Changed:
    """A field that differs. Of a text of several lines `before` and `after` are empty and the lines are counted."""

    path: str
    before: str = ""
    after: str = ""
    added: int = 0
    removed: int = 0

    @property
    def by_lines(self) -> bool:
        return bool(self.added or self.removed)

    def __str__(self) -> str:
        told = f"+{self.added} −{self.removed} lines" if self.by_lines else f"{self.before} → {self.after}"
        return f"{self.path} {told}"


def content_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[Changed, ...]:
    """In the order of the fields, those of `old` first. Lists are compared whole."""
    return tuple(_changes((), old, new))


def _changes(way: tuple[Part, ...], old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Changed]:
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        if before == after and (key in old) == (key in new):
            continue
        place = (*way, key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _changes(place, before, after)
        elif _is_long(before) or _is_long(after):
            added, removed = count_lines(_text(before), _text(after))
            yield Changed(path_of(place), added=added, removed=removed)
        else:
            yield Changed(path_of(place), _shown(before, key in old), _shown(after, key in new))


def _is_long(value: Json) -> bool:
    return isinstance(value, str) and ("\n" in value or len(value) > LONGEST_SHOWN)


def _text(value: Json) -> str:
    return "" if value is None else plain(value)


def _shown(value: Json, given: bool) -> str:
    if not given:
        return ABSENT
    text = plain(value) or '""'
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
