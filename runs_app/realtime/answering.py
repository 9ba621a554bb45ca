"""What declared answers are made of: outcomes, the plain map of tool_results, and effects on the state."""

from __future__ import annotations

import json
import re

from runs_app.realtime.record import Json
from runs_app.realtime.tools import ToolOutcome

# `{{args.order-id}}` is an argument of that name in a plain tool_results map; to jinja2 it is a subtraction.
_PLAIN_ARGUMENT = re.compile(r"\{\{\s*args\.([A-Za-z0-9_]*-[A-Za-z0-9_-]*)\s*\}\}")


def completed(result: Json, *, delay_ms: float = 0.0) -> ToolOutcome:
    return ToolOutcome("completed", result, result if isinstance(result, str) else None, delay_ms=float(delay_ms))


def failed(message: str, *, output: Json = None, delay_ms: float = 0.0) -> ToolOutcome:
    answer = {"ok": False, "error": message} if output is None else output
    text = answer if isinstance(answer, str) else None
    return ToolOutcome("failed", answer, text, error=message, delay_ms=float(delay_ms))


def words(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def merge_patch(target: Json, patch: Json) -> Json:
    """RFC 7396: the target changed by the patch, as a new value. null removes; lists are replaced whole."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def plain_result(value: Json) -> Json:
    """A value of a plain tool_results map, with `{{args.any-key}}` written so that it means the argument."""
    if isinstance(value, str):
        return _PLAIN_ARGUMENT.sub(r'{{args["\1"]}}', value)
    if isinstance(value, dict):
        return {key: plain_result(item) for key, item in value.items()}
    return [plain_result(item) for item in value] if isinstance(value, list) else value
