"""Where the values of a JSON text stand: paths and lines, for messages only. The values themselves come from `json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from scenarios_app.spec.errors import Part, Problem, parts_of

MAX_DEPTH = 100  # levels of lists and objects

_TOKEN = re.compile(
    r"""[ \t\r\n]* (?: ("[^"\\]*(?:\\.[^"\\]*)*") | ([{}\[\],:]) | ([^\s{}\[\],:"]+) )""", re.DOTALL | re.VERBOSE
)
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Place:
    """A value, or the key of an object (`is_key`), at `offset` characters into the text. `token` is how it begins,
    `owner` the offset of the list or object it stands in (-1 for the outermost value)."""

    parts: tuple[Part, ...]
    offset: int
    token: str
    owner: int
    is_key: bool = False


def line_at(text: str, offset: int) -> int:
    return sum(1 for _ in _LINE_END.finditer(text, 0, offset)) + 1


def walk(text: str) -> Iterator[Place]:
    """Every key and value in order, but for what lies deeper than one level too many. Ends early, without a complaint,
    where the text stops being JSON."""
    path: list[Part] = []
    kinds: list[str] = []
    owners = [-1]
    key_next = False
    for match in _TOKEN.finditer(text):
        token, offset = match[match.lastindex or 0], match.start(match.lastindex or 0)
        if token == ":":
            continue
        if token in (",", "}", "]") and not kinds:
            return
        if token == ",":
            key_next = _next_entry(path, kinds[-1])
        elif token in ("}", "]"):
            key_next = False
            kinds.pop()
            path.pop()
            owners.pop()
        elif key_next:
            key = _key(token)
            if key is None:
                return
            path[-1], key_next = key, False
            if len(path) <= MAX_DEPTH:
                yield Place(tuple(path), offset, token, owners[-1], is_key=True)
        else:
            if len(path) <= MAX_DEPTH:
                yield Place(tuple(path), offset, token, owners[-1])
            if token in ("{", "["):
                kinds.append(token)
                owners.append(offset)
                path.append("" if token == "{" else 0)
                key_next = token == "{"


def _next_entry(path: list[Part], kind: str) -> bool:
    """Step to the next list entry; True when a key must follow instead."""
    last = path[-1]
    if kind == "[" and isinstance(last, int):
        path[-1] = last + 1
    return kind == "{"


def _key(token: str) -> str | None:
    if token[0] == '"' and "\\" not in token:
        return clean_text(token[1:-1])
    try:
        key = json.loads(token)
    except ValueError:
        return None
    return clean_text(key) if isinstance(key, str) else None


def clean_text(text: str) -> str:
    """The text as every store and reader can keep it: halves of a surrogate pair joined, a lonely half and NUL become
    U+FFFD. Characters are never lost otherwise."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")


def lines_of(text: str, paths: Iterable[str]) -> dict[str, int]:
    """Line of each path; a path that is not in the text gets the line of its nearest ancestor that is."""
    wanted = {path: parts_of(path) for path in set(paths)}
    ancestors = {parts[:length] for parts in wanted.values() for length in range(len(parts) + 1)}
    found: dict[tuple[Part, ...], int] = {}
    line, counted = 1, 0
    for place in walk(text):
        if place.parts in ancestors and place.parts not in found:
            line += sum(1 for _ in _LINE_END.finditer(text, counted, place.offset))
            counted = place.offset
            found[place.parts] = line
            if len(found) == len(ancestors):
                break
    return {path: _nearest(found, parts) for path, parts in wanted.items()}


def _nearest(found: dict[tuple[Part, ...], int], parts: tuple[Part, ...]) -> int:
    for length in range(len(parts), -1, -1):
        if parts[:length] in found:
            return found[parts[:length]]
    return 1


def with_lines(problems: Iterable[Problem], text: str) -> tuple[Problem, ...]:
    """The same problems, each with its line in the text (those that have one keep it)."""
    listed = tuple(problems)
    if not listed:
        return ()
    lines = lines_of(text, (problem.path for problem in listed if problem.line is None))
    return tuple(p if p.line is not None else replace(p, line=lines[p.path]) for p in listed)
