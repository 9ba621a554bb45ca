"""Find and replace in scenarios: pure text, in the fields that people choose. Ids, names of tools and keys stay."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.spec.jsontext import Json

Path = tuple[Part, ...]
ANY = "*"  # every entry of a list, every value of an object
DEEP = "**"  # every text below, at any depth

# name -> label, and the places that it stands for
FIELDS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "says": ("What the caller says", (("input", "text"), ("input", "turns", ANY, "text"))),
    "title": ("Title", (("title",),)),
    "before": ("What went before", (("input", "context", "summary"), ("input", "context", "history", ANY, "text"))),
    "answer": ("Expected answer and criteria", (("expected", "answer"), ("expected", "criteria", ANY))),
    "arguments": (
        "Values of expected tool calls",
        (
            ("expected", "tools", "required", ANY, "arguments", DEEP),
            ("expected", "tools", "prohibited", ANY, "arguments", DEEP),
            ("assertions", ANY, "tool_called", "args", DEEP),
        ),
    ),
    "state": ("Values of states", (("application", "initial_state", DEEP), ("expected", "state", DEEP))),
    "judged": ("Assertions that a judge decides", (("assertions", ANY, "judge"),)),
    "notes": ("Owner, source and notes", (("owner",), ("source",), ("notes",))),
}


@dataclass(frozen=True)
class Wanted:
    """What to look for, and where: names of FIELDS."""

    find: str
    put: str
    fields: tuple[str, ...]
    match_case: bool = False
    whole_words: bool = False

    def pattern(self) -> re.Pattern[str]:
        text = re.escape(self.find)
        if self.whole_words:
            text = rf"(?<!\w){text}(?!\w)"
        return re.compile(text, 0 if self.match_case else re.IGNORECASE)


@dataclass(frozen=True)
class Change:
    place: str
    old: str
    new: str


def parse_wanted(data: Mapping[str, str], fields: Iterable[str]) -> Wanted:
    """Of a form with `find`, `put`, `case` and `words`. Raises SpecError."""
    chosen = tuple(name for name in FIELDS if name in set(fields))
    problems = []
    if not data.get("find", "").strip():
        problems.append(Problem("find", "say what to look for"))
    if not chosen:
        problems.append(Problem("fields", "choose at least one field to look in"))
    if problems:
        raise SpecError(problems)
    return Wanted(data["find"], data.get("put", ""), chosen, bool(data.get("case")), bool(data.get("words")))


def replaced(content: Mapping[str, Json], wanted: Wanted) -> tuple[dict[str, Json], list[Change]]:
    """A copy with everything replaced, and each text that changed, in the order of FIELDS."""
    document = copy.deepcopy(dict(content))
    pattern, changes = wanted.pattern(), []

    def put(path: Path, text: str) -> str:
        new = pattern.sub(lambda match: wanted.put, text)
        if new != text:
            changes.append(Change(path_of(path), text, new))
        return new

    for name in wanted.fields:
        for place in FIELDS[name][1]:
            _walk(document, place, (), put)
    return document, changes


def _walk(value: Json, place: tuple[str, ...], path: Path, put: Callable[[Path, str], str]) -> Json:
    """The value with its texts at `place` put through `put`; objects and lists are changed where they stand."""
    if isinstance(value, str) and place in ((), (DEEP,)):
        return put(path, value)
    head, rest = (place[0], place[1:]) if place else ("", ())
    deeper = place if head == DEEP else rest
    if isinstance(value, dict):
        for key in [key for key in value if head in (ANY, DEEP, key)]:
            value[key] = _walk(value[key], deeper, (*path, key), put)
    elif isinstance(value, list) and head in (ANY, DEEP):
        value[:] = [_walk(entry, deeper, (*path, index), put) for index, entry in enumerate(value)]
    return value
