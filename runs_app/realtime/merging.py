"""Settings laid over settings."""

from __future__ import annotations

from collections.abc import Mapping

from runs_app.realtime.dialects.base import Body
from runs_app.realtime.record import Json


def merge(base: Body, over: Mapping[str, Json]) -> Body:
    """`over` on top of `base`: objects are merged key by key, everything else is replaced, null included. So is an
    object of another `type`: the rate of PCM says nothing of G.711."""
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, Mapping) and _one_type(before, value)
        merged[key] = merge(before or {}, value) if both else value
    return merged


def _one_type(before: Body, over: Mapping[str, Json]) -> bool:
    return "type" not in before or over.get("type", before["type"]) == before["type"]
