"""What a tool answer may compute with: jinja2's filters, operators and a few methods, none of which can grow large.

Sizes are checked before a thing is made: afterwards is too late, for the memory and for a loop inside of C code that
nothing can interrupt.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2.filters import FILTERS
from jinja2.runtime import LoopContext, Undefined

from runs_app.realtime.sandbox.budget import MAX_BITS, LimitError, check_size, size, spend

MAX_ARGUMENT = 1_000  # width, precision, count
MAX_FILTER_TEXT = 100

# Not offered: attributes of Python objects, chance, what HTML and print need, and what grows before it can be checked.
_LEFT_OUT = frozenset(
    {"attr", "random", "safe", "escape", "e", "forceescape", "xmlattr", "urlize", "striptags", "wordwrap", "pprint"}
)
_FREE_ARGUMENTS = frozenset({"default", "d", "replace", "join", "format"})

_TEXT_METHODS = (
    *("lower", "upper", "title", "capitalize", "casefold", "strip", "lstrip", "rstrip", "replace", "find", "count"),
    *("startswith", "endswith", "split", "rsplit", "splitlines", "partition", "rpartition", "removeprefix"),
    *("removesuffix", "isdigit", "isalpha", "isalnum", "isspace"),
)
_METHODS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (str, _TEXT_METHODS),
    (Mapping, ("get", "keys", "values", "items")),
    (list, ("count", "index")),
    (tuple, ("count", "index")),
    (LoopContext, ("cycle", "changed")),
)


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Raises LimitError before `left operator right` is computed, if its result would be too large."""
    if operator == "%" and isinstance(left, str):
        raise TypeError("% is for numbers, use the format filter")
    if operator == "+":
        check_size(size(left) + size(right), "value")
    elif operator == "*":
        _check_product(left, right)
    elif operator == "**" and isinstance(left, int) and isinstance(right, int) and right > 0:
        check_size(left.bit_length() * right, "number of bits", MAX_BITS)


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        check_size(left.bit_length() + right.bit_length(), "number of bits", MAX_BITS)
    elif isinstance(left, int) or isinstance(right, int):
        times, value = (left, right) if isinstance(left, int) else (right, left)
        check_size(size(value) * max(times, 0), "value")


def method(obj: Any, name: str) -> Callable[..., Any] | None:
    """The method of a text, list, tuple, object or loop, if a template may call it."""
    if isinstance(obj, str) and name == "replace":
        return functools.partial(_replace, obj)
    allowed = any(isinstance(obj, kind) and name in names for kind, names in _METHODS)
    return getattr(obj, name) if allowed else None


def filters() -> dict[str, Callable[..., Any]]:
    """jinja2's filters, checked and paid for."""
    known = {name: function for name, function in FILTERS.items() if name not in _LEFT_OUT}
    known |= {"tojson": _tojson, "replace": _replace}
    return {name: _checked(name, function) for name, function in known.items()}


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # Some filters take jinja2's context or environment first; the mark for it is copied by wraps.
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0
    check: Callable[..., Any] = _CHECKS.get(name, _nothing)

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        value, *others = arguments[skipped:]
        spend(1 + size(value) // 16)
        if name not in _FREE_ARGUMENTS:
            _check_arguments([*others, *named.values()])
        value = check(value, *others, **named)
        result = function(*arguments[:skipped], value, *others, **named)
        check_size(size(result), "value")
        spend(size(result) // 16)
        return result

    return run


def _check_arguments(arguments: list[Any]) -> None:
    for argument in arguments:
        if isinstance(argument, int) and abs(argument) > MAX_ARGUMENT:
            raise LimitError(f"an argument of a filter is {argument} (at most {MAX_ARGUMENT})")
        if isinstance(argument, str):
            check_size(len(argument), "text as an argument of a filter", MAX_FILTER_TEXT)


def _nothing(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _joinable(value: Any, d: Any = "", attribute: Any = None) -> Any:
    items = list(value)
    check_size(sum(size(item) for item in items) + size(d) * len(items), "text")
    return items


def _format(value: Any, *others: Any, **named: Any) -> Any:
    text = str(value)
    if re.search(r"%[^%a-zA-Z]*([0-9]{3}|\*)", text):
        raise LimitError("a width or precision in a format is over 99")
    if named:
        raise TypeError("the format filter takes its values in their order")
    longest = max((len(str(other)) for other in others), default=0)
    check_size(len(text) + text.count("%") * max(longest, 99), "text")
    return text


def _summable(value: Any, attribute: Any = None, start: Any = 0) -> Any:
    if not isinstance(start, int | float):
        raise TypeError("the sum filter adds numbers")
    return value


_CHECKS: dict[str, Callable[..., Any]] = {"join": _joinable, "format": _format, "sum": _summable}


def _tojson(value: Any) -> str:
    """Plain JSON, without jinja2's escapes for HTML."""
    return "null" if isinstance(value, Undefined) else json.dumps(value, ensure_ascii=False)


def _replace(value: Any, old: str, new: str, count: int = -1) -> str:
    text = str(value)
    found = text.count(old) if count < 0 else min(text.count(old), count)
    check_size(len(text) + found * (len(new) - len(old)), "text")
    return text.replace(old, new, count)
