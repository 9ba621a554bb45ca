"""What is wrong with a document, where it is, and how pages find the form field that a problem belongs to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

Part = str | int

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_PART = re.compile(r'\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([A-Za-z_$][A-Za-z0-9_$-]*)', re.DOTALL)
_SHOWN = 20


def path_of(parts: Iterable[Part]) -> str:
    """`("tools", 0, "first name")` -> `tools[0]["first name"]`."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{json.dumps(part, ensure_ascii=False)}]"
    return path


def parts_of(path: str) -> tuple[Part, ...]:
    """Inverse of path_of. Raises ValueError for a text that path_of cannot have written."""
    parts: list[Part] = []
    position = 0
    while position < len(path):
        match = _PART.match(path, position)
        if match is None:
            raise ValueError(f"not a path: {path!r}")
        index, quoted, plain = match.groups()
        parts.append(int(index) if index is not None else json.loads(quoted) if quoted is not None else plain)
        position = match.end()
    return tuple(parts)


def join_path(prefix: str, path: str) -> str:
    dot = "." if prefix and path and not path.startswith("[") else ""
    return f"{prefix}{dot}{path}"


@dataclass(frozen=True)
class Problem:
    """One thing that a person has to mend.

    `path` points into the document (`scenarios[3].input.text`, "" for all of it), `message` reads well after it,
    `line` is the line of the file (from 1) where there is a file.
    """

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = [f"line {self.line}"] if self.line is not None else []
        place += [self.path] if self.path else []
        return f"{', '.join(place)}: {self.message}" if place else self.message

    @property
    def parts(self) -> tuple[Part, ...]:
        return parts_of(self.path)

    @property
    def field(self) -> str:
        """The top-level field: `input` for `input.text`, "" for the document itself."""
        first = next(iter(self.parts), "")
        return first if isinstance(first, str) else ""

    def under(self, prefix: str) -> Problem:
        return replace(self, path=join_path(prefix, self.path))


class SpecError(Exception):
    """A document breaks its contract. `problems` has at least one entry."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            shown.append(f"and {len(self.problems) - _SHOWN} more")
        super().__init__("\n".join(shown))


def refuse_if(problems: Sequence[Problem]) -> None:
    if problems:
        raise SpecError(problems)


def by_field(problems: Iterable[Problem], fields: Iterable[str]) -> dict[str, list[str]]:
    """Messages by form field. `fields` are paths such as `name` or `input.text`; the longest one that a problem's
    path starts with gets it, and "" gets the rest. A problem that lies deeper than its field says where."""
    known = sorted((parts_of(field) for field in fields), key=len, reverse=True)
    messages: dict[str, list[str]] = {}
    for problem in problems:
        parts = problem.parts
        owner = next((field for field in known if parts[: len(field)] == field), ())
        rest = path_of(parts[len(owner) :])
        messages.setdefault(path_of(owner), []).append(f"{rest}: {problem.message}" if rest else problem.message)
    return messages
