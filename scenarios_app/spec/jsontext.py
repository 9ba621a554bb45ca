"""JSON without surprises: strict when read, never NaN when written, and text that every database keeps.

`load` refuses what other readers would take differently (NaN, 1e999, a key given twice) and names the place.
`clean` and `finite` mend what came from outside and must be kept anyhow: transcripts, tool outputs, metrics.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.spec.jsonplaces import MAX_DEPTH, Place, clean_text, line_at, walk

__all__ = ["MAX_DEPTH", "Json", "canonical", "clean", "clean_text", "decode", "dumps", "finite", "load", "problems_in"]

Json = Any  # parsed JSON: null, bool, number, text, list or dict

MAX_DIGITS = 1000  # of one integer
_MOST_PROBLEMS = 100

_MAYBE_UNCLEAN = re.compile("[\ud800-\udfff]|\\\\u")  # in JSON text, before it is parsed
_UNCLEAN = re.compile("[\ud800-\udfff]|\\\\u0000")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, ""),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, ""),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SYNTAX = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": 'a key in "double quotes" is missing here',
    "Expecting ',' delimiter": "a comma is missing before this",
    "Expecting ':' delimiter": "a colon is missing before this",
    "Extra data": "there is more text after the end of the JSON",
    "Unterminated string starting at": "this text has no closing quote",
    "Invalid control character at": "a raw control character in a text (write \\n for a line break)",
    "Illegal trailing comma before end of object": "a comma before the end of an object",
    "Illegal trailing comma before end of array": "a comma before the end of a list",
}


def decode(data: bytes | str) -> str:
    """UTF-8, or UTF-8 and UTF-16 with a byte order mark. Raises SpecError that names the line of the first bad byte."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    mark, codec = next(((mark, codec) for mark, codec in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    if not codec or (not mark and b"\0" in data[:4]):
        raise SpecError([Problem("", "save the file as UTF-8, or as UTF-16 with a byte order mark", 1)])
    try:
        return data[len(mark) :].decode(codec)
    except UnicodeDecodeError as error:
        line = data[: len(mark) + error.start].count(b"\n") + 1
        name = codec[:6].rstrip("-").upper()
        raise SpecError([Problem("", f"this is not {name} text; save the file as UTF-8", line)]) from None


def load(data: bytes | str) -> Json:
    """Parsed JSON, cleaned. Raises SpecError with path and line for each thing refused."""
    text = decode(data)
    refused: list[str] = []
    value = _parse(text, refused)
    if refused or _depth(value) > MAX_DEPTH:
        found = list(islice(_refusals(text), _MOST_PROBLEMS))
        raise SpecError(found or [Problem("", f"nested deeper than {MAX_DEPTH} levels")])
    return clean(value) if _MAYBE_UNCLEAN.search(text) else value


def _parse(text: str, refused: list[str]) -> Json:
    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        result = {clean_text(key): value for key, value in items}
        if len(result) != len(items):
            refused.append("key")
        return result

    def number(convert: Callable[[str], float]) -> Callable[[str], float | None]:
        def read(token: str) -> float | None:
            if _number_problem(token):
                refused.append(token)
                return None
            return convert(token)

        return read

    try:
        return json.loads(
            text,
            object_pairs_hook=pairs,
            parse_float=number(float),
            parse_int=number(int),
            parse_constant=refused.append,
        )
    except json.JSONDecodeError as error:
        raise SpecError([_syntax_problem(text, error)]) from None
    except RecursionError:
        refused.append("depth")
        return None


def _syntax_problem(text: str, error: json.JSONDecodeError) -> Problem:
    if not text.strip():
        return Problem("", "the file is empty", 1)
    parts: tuple[Part, ...] = ()
    for place in walk(text):
        if place.offset > error.pos:
            break
        parts = place.parts
    line = line_at(text, error.pos)
    return Problem(
        path_of(parts), f"this is not JSON: {_SYNTAX.get(error.msg, error.msg)} (column {error.colno})", line
    )


def _number_problem(token: str) -> str | None:
    if token in ("NaN", "Infinity", "-Infinity"):
        return f"{token} is not a JSON number"
    if not any(mark in token for mark in ".eE"):
        return f"a number of more than {MAX_DIGITS} digits" if len(token) > MAX_DIGITS else None
    return f"{token[:20]} is larger than any number that can be kept" if math.isinf(float(token)) else None


def _refusals(text: str) -> Iterator[Problem]:
    """What a text that `json` can read must not hold."""
    keys: dict[tuple[int, Part], int] = {}
    for place in walk(text):
        if place.is_key:
            before = keys.setdefault((place.owner, place.parts[-1]), place.offset)
            message = None if before == place.offset else f"this key was given before, in line {line_at(text, before)}"
        else:
            message = _value_problem(place)
        if message:
            path = path_of(place.parts) if len(place.parts) < MAX_DEPTH else ""
            yield Problem(path, message, line_at(text, place.offset))


def _value_problem(place: Place) -> str | None:
    # only the first level too many: what lies deeper is the same mistake
    if len(place.parts) == MAX_DEPTH and place.token in ("{", "["):
        return f"nested deeper than {MAX_DEPTH} levels"
    return _number_problem(place.token) if place.token[0] in "-0123456789NI" else None


def _children(value: Json) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else list(value)


def _depth(value: Json) -> int:
    """Levels of lists and objects, counted to one more than allowed. Level by level: a recursion could end first."""
    depth, level = 0, [value]
    while depth <= MAX_DEPTH and (level := [item for item in level if isinstance(item, (dict, list, tuple))]):
        depth += 1
        level = [child for item in level for child in _children(item)]
    return depth


def _rebuild(value: Json, text: Callable[[str], str], leaf: Callable[[Json], Json]) -> Json:
    """A copy with every text and key through `text` and every other leaf through `leaf`. Keys that become equal stay
    apart. Without recursion: what an agent sends may be nested deeper than Python can call."""
    out = [value]
    slots: list[tuple[Json, Json]] = [(out, 0)]
    while slots:
        holder, key = slots.pop()
        item = holder[key]
        if isinstance(item, str):
            holder[key] = text(item)
        elif isinstance(item, dict):
            holder[key] = _with_keys(item, text)
            slots.extend((holder[key], name) for name in holder[key])
        elif isinstance(item, (list, tuple)):
            holder[key] = list(item)
            slots.extend((holder[key], index) for index in range(len(item)))
        else:
            holder[key] = leaf(item)
    return out[0]


def _with_keys(item: dict[str, Json], text: Callable[[str], str]) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for key, value in item.items():
        name = text(key) if isinstance(key, str) else key
        while name in result:
            name += "\ufffd"
        result[name] = value
    return result


def _same(value: Json) -> Json:
    return value


def clean(value: Json) -> Json:
    """A copy in which every text and key went through clean_text. Tuples become lists."""
    return _rebuild(value, clean_text, _same)


def finite(value: Json) -> Json:
    """A copy in which NaN and the infinities are None: not measured, never 0."""
    return _rebuild(value, _same, lambda leaf: None if _not_finite(leaf) else leaf)


def _not_finite(value: Json) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def problems_in(value: Json) -> list[Problem]:
    """Why a Python value is not JSON: NaN, keys that are not text, other types, too many levels."""
    if _depth(value) > MAX_DEPTH:
        return [Problem("", f"nested deeper than {MAX_DEPTH} levels")]
    return [Problem(path_of(parts), message) for parts, message in _faults((), value)]


def _faults(parts: tuple[Part, ...], value: Json) -> Iterator[tuple[tuple[Part, ...], str]]:
    if _not_finite(value):
        yield parts, f"{value} is not a JSON number"
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _faults((*parts, key), item)
            else:
                yield parts, f"the key {key!r} is not text"
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _faults((*parts, index), item)
    elif value is not None and not isinstance(value, (str, int, float, bool)):
        yield parts, f"{type(value).__name__} is not a JSON value"


def dumps(value: Json, *, indent: int | None = None, sort_keys: bool = False, compact: bool = False) -> str:
    """JSON text that any strict reader and any UTF-8 store accepts. Raises ValueError that names the path of
    a value that is not JSON; put `finite` around what may hold NaN."""
    try:
        text = _encode(value, indent, sort_keys, compact)
    except (ValueError, TypeError, RecursionError):
        raise ValueError("; ".join(map(str, problems_in(value))) or "this value is not JSON") from None
    return _encode(clean(value), indent, sort_keys, compact) if _UNCLEAN.search(text) else text


def _encode(value: Json, indent: int | None, sort_keys: bool, compact: bool) -> str:
    separators = (",", ":") if compact else None
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys, separators=separators
    )


def canonical(value: Json) -> bytes:
    """One spelling of a value, for hashes: sorted keys, no spaces, UTF-8, and 12.0 written as 12 (a browser's
    editor does that too, and it must not make a new version)."""
    return dumps(_rebuild(value, clean_text, _whole), sort_keys=True, compact=True).encode()


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value
