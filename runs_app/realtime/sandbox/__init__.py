"""Declared tool answers: jinja2 texts and expressions that turn a call into JSON, under hard limits.

jinja2's own sandbox keeps a template away from Python's insides, but not from the machine: `{{ 'x' * 10**10 }}`, two
nested loops or one wide format fill the memory or stop the worker, and no thread can be killed. So every step of a
template is counted here: operators, loops, calls, filters and texts are rewritten or wrapped to spend from a budget,
sizes are checked before they are built, and what cannot be counted (macros, imports, recursion) does not exist.

Data is data: `args.items` is the argument of that name and never Python's method, unless it is called.
"""

from __future__ import annotations

from collections.abc import Mapping

from runs_app.realtime.record import Json
from runs_app.realtime.sandbox.budget import LimitError, TemplateError, limits
from runs_app.realtime.sandbox.environment import Function, Names, compiled, compiled_expression
from runs_app.realtime.sandbox.values import as_text, guarded, plain

__all__ = [
    "Function",
    "LimitError",
    "Names",
    "TemplateError",
    "condition",
    "limits",
    "prepare",
    "prepare_condition",
    "render",
]


def render(value: Json, names: Names) -> Json:
    """A fresh copy of the value with every text in it, keys too, rendered. Call it inside `limits()`.

    A text that is one single `{{expression}}` becomes the value of it, with its type; what is undefined is null there
    and "" within a longer text. Raises TemplateError, and LimitError when the budget is spent.
    """
    if isinstance(value, str):
        return guarded(lambda: plain(compiled(value)(names))) if _is_template(value) else value
    if isinstance(value, Mapping):
        return {_key(key, names): render(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [render(item, names) for item in value]
    return value


def condition(expression: str, names: Names) -> bool:
    """Whether a bare expression such as `args.party_size > 6` holds. Call it inside `limits()`. Errors as render."""
    return bool(guarded(lambda: plain(compiled_expression(expression)(names))))


def prepare(value: Json) -> None:
    """Compile every text of a value, so that rendering starts at once. Raises TemplateError for the first bad one."""
    if isinstance(value, str):
        if _is_template(value):
            compiled(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            prepare(key)
            prepare(item)
    elif isinstance(value, list | tuple):
        for item in value:
            prepare(item)


def prepare_condition(expression: str) -> None:
    """Compile an expression. Raises TemplateError."""
    compiled_expression(expression)


def _is_template(text: str) -> bool:
    return "{{" in text or "{%" in text or "{#" in text


def _key(key: str, names: Names) -> str:
    if not _is_template(key):
        return key
    return str(guarded(lambda: as_text(compiled(key)(names))))
