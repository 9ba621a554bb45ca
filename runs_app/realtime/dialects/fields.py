"""Fields of what a server sends, one reader for each kind. A field of another kind than it should be is not there."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable

from runs_app.realtime.dialects.base import Body, Fault, Incoming, NoMeaning, Unreadable
from runs_app.realtime.record import Usage


def text_in(body: Body, key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def whole_in(body: Body, key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number_in(body: Body, key: str) -> float | None:
    """A finite one: "1e999" is JSON."""
    value = body.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < math.inf else None


def object_in(body: Body, key: str) -> Body:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def objects_in(body: Body, key: str) -> list[Body]:
    value = body.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def sound_in(body: Body, name: str, made: Callable[[bytes], Incoming]) -> Incoming:
    """`made` of the bytes in a delta; servers leave out the padding. `name`: how the event is called when told of."""
    delta = text_in(body, "delta")
    if not delta:
        return NoMeaning()
    try:
        return made(base64.b64decode(delta + "=" * (-len(delta) % 4), validate=True))
    except (binascii.Error, ValueError) as exc:
        return Unreadable(name, f"bad base64: {exc}")


def fault_in(body: Body, *, event_id: str | None) -> Fault:
    """Of an error event, nested as documented or flat. `event_id`: of the event of ours that it is about."""
    error = object_in(body, "error") or body
    return Fault(
        code=text_in(error, "code"),
        kind=text_in(error, "type"),
        message=text_in(error, "message") or "no message",
        param=text_in(error, "param"),
        event_id=event_id,
    )


def response_usage_in(body: Body) -> Usage | None:
    """Of a response of the Responses API; None where it tells none."""
    told = body.get("usage")
    if not isinstance(told, dict):
        return None
    return Usage(
        input_tokens=whole_in(told, "input_tokens"),
        output_tokens=whole_in(told, "output_tokens"),
        total_tokens=whole_in(told, "total_tokens"),
        input_cached_tokens=whole_in(object_in(told, "input_tokens_details"), "cached_tokens"),
    )
