"""An expected value in words, for the sentence that says why something did not match."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from scenarios_app.spec.matchers import is_operator

Json = Any
Words = Callable[[Json, dict[str, Json]], str]


def in_words(value: Json) -> str:
    """`{"$date": "2027-05-22"}` -> `the date 2027-05-22`; a plain value as JSON; operators may lie inside both."""
    if is_operator(value):
        name = next(key for key in value if key.startswith("$"))
        options = {key: option for key, option in value.items() if key != name}
        words = _WORDS.get(name)
        return words(value[name], options) if words else _json(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(key)}: {in_words(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(in_words(inner) for inner in value) + "]"
    return _json(value)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _several(values: Json, joint: str) -> str:
    return joint.join(in_words(value) for value in values) if isinstance(values, list) else in_words(values)


_WORDS: Final[dict[str, Words]] = {
    "$any_of": lambda value, options: _several(value, " or "),
    "$regex": lambda value, options: f"text like /{value}/",
    "$exact": lambda value, options: f"exactly {_json(value)}",
    "$approx": lambda value, options: f"{_json(value)} ± {_json(options.get('tolerance'))}",
    "$unordered": lambda value, options: f"[{_several(value, ', ')}] in any order",
    "$numeric_text": lambda value, options: f"{_json(value)}, also as text",
    "$date": lambda value, options: f"the date {value}",
    "$time": lambda value, options: f"the time {value}",
    "$phone": lambda value, options: f"the phone number {value}",
    "$present": lambda value, options: "anything" if value else "nothing",
    "$absent": lambda value, options: "nothing" if value else "anything",
    "$not": lambda value, options: f"not {in_words(value)}",
    "$text": lambda value, options: f"the text {_json(value)}",
}
