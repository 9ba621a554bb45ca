"""pydantic's errors in words that a QA engineer can act on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scenarios_app.spec.errors import Part, Problem, path_of

_NOT_TYPE = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "a list",
    "list_type": "a list",
}
_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda ctx: "this field is required",
    "string_too_short": lambda ctx: "must not be empty",
    "string_too_long": lambda ctx: f"must have at most {ctx['max_length']} characters",
    "too_short": lambda ctx: (
        "must not be empty" if ctx["min_length"] == 1 else f"needs {ctx['min_length']} or more entries"
    ),
    "too_long": lambda ctx: f"has {ctx['actual_length']} entries, at most {ctx['max_length']} are allowed",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']}",
    "greater_than_equal": lambda ctx: f"must be {ctx['ge']} or more",
    "less_than_equal": lambda ctx: f"must be {ctx['le']} or less",
    "value_error": lambda ctx: str(ctx["error"]),
}


# A default that is made from another field cannot be made while that one is wrong: its own problem says all.
_FOLLOWS_FROM_ANOTHER = "default_factory_not_called"


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One problem per error, with paths that begin at the model."""
    return [
        Problem(path_of(_parts(entry)), _message(entry, model))
        for entry in error.errors(include_url=False)
        if entry["type"] != _FOLLOWS_FROM_ANOTHER
    ]


def _parts(entry: ErrorDetails) -> tuple[Part, ...]:
    return tuple(part for part in entry["loc"] if part != "[key]")


def _message(entry: ErrorDetails, model: type[BaseModel]) -> str:
    kind, value = entry["type"], entry["input"]
    if kind == "extra_forbidden":
        return _unknown_field(entry, model)
    if kind in _NOT_TYPE:
        return f"must be {_NOT_TYPE[kind]}, not {kind_of(value)}"
    if kind == "literal_error":
        shown = f'"{value[:40]}"' if isinstance(value, str) else kind_of(value)
        return f"must be {entry['ctx']['expected'].replace(chr(39), '')}, not {shown}"
    words = _WORDS.get(kind)
    return words(entry.get("ctx", {})) if words else entry["msg"]


def kind_of(value: Any) -> str:
    """What a JSON value is, in a word or two. Never the value itself: it may be a key or a name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "a number"
    return "a list" if isinstance(value, (list, tuple)) else "an object"


def _unknown_field(entry: ErrorDetails, model: type[BaseModel]) -> str:
    *way, name = entry["loc"]
    known = _fields_at(model, way)
    close = difflib.get_close_matches(str(name), known, n=1)
    if close:
        return f"there is no such field; did you mean {close[0]}?"
    return f"there is no such field; known are {', '.join(known)}" if known else "there is no such field"


def _fields_at(model: type[BaseModel], way: list[Part]) -> list[str]:
    """Names of the fields of the model that `way` leads to from `model`."""
    for part in way:
        if isinstance(part, int) or part not in model.model_fields:
            continue
        inner = next(_models_in(model.model_fields[part].annotation), None)
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def suggestion(name: str, known: list[str]) -> str:
    """`; did you mean X?`, or nothing when no known name is close."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
