"""YAML 1.2 (the core schema) read as JSON values, with the same strictness as JSON: no key twice, no NaN, no depth
without end, and no tag but the plain ones. Aliases are read until they multiply.

Built from the parser's events: its own constructors follow YAML 1.1, where `no` is false and 12:30 is 750.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.spec.jsonplaces import clean_text, line_at
from scenarios_app.spec.jsontext import MAX_DEPTH, MAX_DIGITS, Json, decode
from scenarios_app.spec.sources import Source, lines_by_parts

MOST_REPEATED = 100_000  # values that all aliases of a file stand for

_TAG = "tag:yaml.org,2002:"
_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_ODD = re.compile("[\r\x85\u2028\u2029\ufeff\t]|[^\\S\n]\n|\n[^\\S\n]|^\\s|\\s$")


@dataclass
class _Open:
    """A list or mapping whose end was not met yet. `key` is the next part of the path; None: a key must come."""

    value: Json
    parts: tuple[Part, ...]
    anchor: str | None
    before: int
    key: Part | None = None
    key_lines: dict[str, int] = field(default_factory=dict)


@dataclass
class _Reader:
    lines: dict[tuple[Part, ...], int] = field(default_factory=dict)
    anchors: dict[str, tuple[Json, int]] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    root: Json = None
    documents: int = 0
    count: int = 0
    repeated: int = 0

    def read(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise SpecError([Problem("", "a second document begins here; a file holds one", line)])
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor), line)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._open(event, line)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close()

    def _scalar(self, event: Any, line: int) -> None:
        if self._wants_key():
            self._key(event, line)
            return
        path = self._path()
        value, problem = _value(event)
        if problem:
            self.problems.append(Problem(path_of(path), problem, line))
        self._put(value, path, line)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)

    def _wants_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None

    def _key(self, event: Any, line: int) -> None:
        top = self.stack[-1]
        value, _ = _value(event)
        key = value if isinstance(value, str) else event.value
        if not isinstance(value, str):
            message = f'the key {event.value or "(empty)"} is not text: write "{event.value}"'
            self.problems.append(Problem(path_of(top.parts), message, line))
        if key in top.key_lines:
            message = f"this key was given before, in line {top.key_lines[key]}"
            self.problems.append(Problem(path_of((*top.parts, key)), message, line))
        top.key_lines.setdefault(key, line)
        top.key = key
        if event.anchor:
            self.anchors[event.anchor] = (key, 1)

    def _path(self) -> tuple[Part, ...]:
        if not self.stack:
            return ()
        top = self.stack[-1]
        return (*top.parts, top.key if top.key is not None else "")

    def _alias(self, name: str, line: int) -> None:
        path = self._path()
        if name not in self.anchors:
            raise SpecError([Problem(path_of(path), f"there is no finished &{name} before this *{name}", line)])
        if self._wants_key():
            raise SpecError([Problem(path_of(self.stack[-1].parts), "an alias cannot be a key here", line)])
        value, size = self.anchors[name]
        self.repeated += size
        if self.repeated > MOST_REPEATED:
            message = f"the aliases up to here stand for more than {MOST_REPEATED:,} values: write them out"
            raise SpecError([Problem(path_of(path), message, line)])
        self._put(value, path, line)
        self.count += size - 1

    def _open(self, event: Any, line: int) -> None:
        path = self._path()
        if self._wants_key():
            raise SpecError([Problem(path_of(self.stack[-1].parts), "a key must be text", line)])
        if len(self.stack) >= MAX_DEPTH:
            raise SpecError([Problem("", f"nested deeper than {MAX_DEPTH} levels", line)])
        is_map = isinstance(event, yaml.MappingStartEvent)
        if message := _tag_problem(event.tag, ("map",) if is_map else ("seq",)):
            self.problems.append(Problem(path_of(path), message, line))
        value: Json = {} if is_map else []
        before = self.count
        self._put(value, path, line)
        self.stack.append(_Open(value, path, event.anchor, before, None if is_map else 0))

    def _close(self) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.anchors[done.anchor] = (done.value, self.count - done.before)

    def _put(self, value: Json, path: tuple[Part, ...], line: int) -> None:
        self.count += 1
        if not self.stack:
            self.root, self.lines[()] = value, line
            return
        top = self.stack[-1]
        if isinstance(top.key, int):
            top.value.append(value)
            top.key += 1
            self.lines[path] = line
        else:
            top.value[top.key] = value
            self.lines[path] = top.key_lines.get(str(top.key), line)
            top.key = None


def yaml_source(data: bytes | str) -> Source:
    """One YAML document. Raises SpecError with path and line for each thing refused."""
    text = decode(data)
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.read(event)
    except yaml.MarkedYAMLError as error:
        raise SpecError([_syntax_problem(error)]) from None
    except yaml.reader.ReaderError as error:
        line = line_at(text, min(error.position, len(text)))
        raise SpecError([Problem("", "a control character that YAML does not allow", line)]) from None
    if not reader.documents or (reader.root is None and not text.strip()):
        raise SpecError([Problem("", "the file is empty", 1)])
    if reader.problems:
        raise SpecError(reader.problems)
    return Source(reader.root, lines_by_parts(reader.lines))


def _syntax_problem(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    column = f" (column {mark.column + 1})" if mark else ""
    return Problem("", f"this is not YAML: {error.problem or error.context}{column}", mark.line + 1 if mark else None)


def _tag_problem(tag: str | None, allowed: tuple[str, ...]) -> str:
    if tag in (None, "!") or str(tag).removeprefix(_TAG) in allowed:
        return ""
    return f"the tag {str(tag).replace(_TAG, '!!')} is not read here: leave it out"


def _value(event: Any) -> tuple[Json, str]:
    """The value of a scalar and what is wrong with it, or ""."""
    text, plain = clean_text(event.value), event.implicit[0]
    if problem := _tag_problem(event.tag, ("str", "null", "bool", "int", "float")):
        return text, problem
    if event.tag == f"{_TAG}str" or (event.tag in (None, "!") and not plain):
        return text, ""
    return _plain(text)


def _plain(text: str) -> tuple[Json, str]:
    if _NULL.fullmatch(text):
        return None, ""
    if _BOOL.fullmatch(text):
        return text.lower() == "true", ""
    if _INT.fullmatch(text):
        if len(text) > MAX_DIGITS:
            return None, f"a number of more than {MAX_DIGITS} digits"
        return int(text, 10 if text[:2] not in ("0o", "0x") else 0), ""
    if _NO_NUMBER.fullmatch(text) or (_FLOAT.fullmatch(text) and abs(float(text)) == float("inf")):
        return None, f"{text[:20]} is not a number that can be kept"
    return (float(text), "") if _FLOAT.fullmatch(text) else (text, "")


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Quotes what either YAML 1.1 or 1.2 would read as something else than text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: Any, text: str) -> Any:
    style = '"' if _ODD.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar(f"{_TAG}str", text, style=style)


_Dumper.add_representer(str, _text_node)
for _kind, _pattern in (("int", _INT), ("float", _FLOAT), ("float", _NO_NUMBER)):
    _Dumper.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(rf"(?:{_pattern.pattern})\Z"), list("-+0123456789."))


def dump_yaml(value: Json) -> str:
    """YAML that reads back as the same value, under 1.2 as under 1.1."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)
    return text
