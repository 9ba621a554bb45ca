"""A file as it was read: its value as JSON, and the lines on which the parts of that value stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from scenarios_app.spec.errors import Part, Problem, parts_of
from scenarios_app.spec.jsonplaces import lines_of
from scenarios_app.spec.jsontext import Json, decode, load

FORMATS = ("json", "yaml", "csv")
_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".csv": "csv", ".tsv": "csv"}


@dataclass(frozen=True)
class Source:
    """`lines` gives the line (from 1) of each path; a path that is not in the file has that of its nearest parent."""

    value: Json
    lines: Callable[[Iterable[str]], dict[str, int]]

    def placed(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The same problems, each with its line (those that have one keep it)."""
        listed = tuple(problems)
        if not listed:
            return ()
        lines = self.lines(problem.path for problem in listed if problem.line is None)
        return tuple(p if p.line is not None else replace(p, line=lines[p.path]) for p in listed)


def json_source(data: bytes | str) -> Source:
    """Raises SpecError with path and line for each thing refused."""
    text = decode(data)
    return Source(load(text), lambda paths: lines_of(text, paths))


def lines_by_parts(known: Mapping[tuple[Part, ...], int]) -> Callable[[Iterable[str]], dict[str, int]]:
    """`Source.lines` of a reader that noted the lines itself."""

    def lines(paths: Iterable[str]) -> dict[str, int]:
        return {path: _nearest(known, parts_of(path)) for path in set(paths)}

    return lines


def _nearest(known: Mapping[tuple[Part, ...], int], parts: tuple[Part, ...]) -> int:
    return next((known[parts[:n]] for n in range(len(parts), -1, -1) if parts[:n] in known), 1)


def format_of(name: str, data: bytes) -> str:
    """The format that a file's name tells; without such a name JSON when the text begins as JSON does, else YAML."""
    if known := _SUFFIXES.get(PurePath(name.lower()).suffix):
        return known
    begin = data[:200].decode("utf-8", "replace")
    return "json" if begin.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", "") else "yaml"
