"""From what a template made to JSON and to text, and from Python's errors to ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jinja2
from jinja2.runtime import LoopContext, Undefined

from runs_app.realtime.record import Json
from runs_app.realtime.sandbox.budget import MAX_DEPTH, LimitError, TemplateError, spend


def plain(value: Any, depth: int = 0) -> Json:
    """The value as JSON alone, copied: nothing that a template made can reach into the state later."""
    spend()
    if depth > MAX_DEPTH:
        raise LimitError(f"its result is nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, str):
        spend(len(value) // 16)
        return str(value)
    if isinstance(value, Undefined):
        return None
    if isinstance(value, Mapping):
        return {as_text(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, LoopContext):
        return [plain(item, depth + 1) for item in value]
    raise TemplateError(f"its result is a {type(value).__name__}, which is no JSON")


def as_text(value: Any) -> str:
    """A value within a longer text: JSON for what is not text, nothing for null and undefined."""
    made = plain(value)
    if made is None:
        return ""
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def guarded(work: Callable[[], Any]) -> Any:
    """Do it, and raise TemplateError or LimitError for whatever jinja2 and Python raise about a template."""
    try:
        return work()
    except jinja2.TemplateError as error:
        raise TemplateError(error.message or type(error).__name__) from error
    except (RecursionError, MemoryError) as error:
        raise LimitError("it is nested too deep") from error
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, SyntaxError) as error:
        raise TemplateError(f"{type(error).__name__}: {error}"[:300]) from error


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise TemplateError(f"its result is {value}, which is no JSON")
    return value
