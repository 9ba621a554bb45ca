"""Ids, error events and refusals of the realtime wire."""

from __future__ import annotations

import json
import uuid
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

Json = Any


class Refusal(Exception):
    """A client event that cannot be done; it becomes an `error` event and the session goes on."""

    def __init__(
        self, code: str | None, message: str, *, param: str | None = None, type: str = "invalid_request_error"
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.param, self.type = code, message, param, type

    def about(self, param: str) -> Refusal:
        """The same, of a parameter that is called otherwise."""
        message = self.message.replace(self.param, param) if self.param else self.message
        return Refusal(self.code, message, param=param, type=self.type)

    def event(self, event_id: str | None) -> dict[str, Json]:
        return error_event(self.code, self.message, param=self.param, type=self.type, event_id=event_id)


def new_id(prefix: str) -> str:
    """A fresh id of at most 32 characters: `item_`, `resp_`, `call_` and so on plus 24 hex digits."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def read_json(text: str) -> Json:
    """A frame of the client. Raises Refusal."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid_json", f"The frame is not JSON: {error}.") from error


def error_event(
    code: str | None,
    message: str,
    *,
    param: str | None = None,
    type: str = "invalid_request_error",
    event_id: str | None = None,
) -> dict[str, Json]:
    """An `error` event; `event_id` is the client's own, echoed."""
    error = {"type": type, "code": code, "message": message, "param": param, "event_id": event_id}
    return {"type": "error", "error": error}


def refusal_of(error: ValidationError, raw: Json, prefix: str = "") -> Refusal:
    """What a server says about the first thing that is wrong with `raw`, with the path of the field as `param`."""
    found = sorted(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")[0]
    param = _path(found["loc"], raw, missing=found["type"] == "missing", prefix=prefix)
    if found["type"] == "extra_forbidden":
        return Refusal("unknown_parameter", f"Unknown parameter: '{param}'.", param=param)
    if found["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return _untold_kind(found, f"{param}.type")
    if found["type"] == "missing":
        return Refusal("missing_required_parameter", f"Missing required parameter: '{param}'.", param=param)
    if found["type"] == "string_too_long":
        limit = found["ctx"]["max_length"]
        message = f"Invalid '{param}': string too long. Expected at most {limit} characters."
        return Refusal("string_above_max_length", message, param=param)
    return Refusal("invalid_value", f"Invalid '{param}': {found['msg']}.", param=param)


def _untold_kind(found: ErrorDetails, param: str) -> Refusal:
    """An object whose `type` is not there or is none of those that there are."""
    if found["type"] == "union_tag_not_found":
        return Refusal("missing_required_parameter", f"Missing required parameter: '{param}'.", param=param)
    asked, known = found["ctx"]["tag"], found["ctx"]["expected_tags"]
    return Refusal("invalid_value", f"Invalid value: '{asked}'. Supported values are: {known}.", param=param)


def _path(loc: tuple[int | str, ...], raw: Json, *, missing: bool, prefix: str) -> str:
    """`session.tools[0].name`: the steps of `loc` that are really in `raw` (pydantic adds the members of unions)."""
    path, node = prefix, raw
    for number, step in enumerate(loc):
        there = (isinstance(node, dict) and step in node) or (isinstance(node, list) and isinstance(step, int))
        if not there and not (missing and number == len(loc) - 1):
            continue
        node = node[step] if there else None
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path
