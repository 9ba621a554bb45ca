"""The conversation as the clerk reads it: who said what, what was called, what came back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs_app.simulator.wire import Json


@dataclass(frozen=True)
class Said:
    """Words of the "user", the "assistant" or the "system". None: spoken, but not understood."""

    role: str
    text: str | None


@dataclass(frozen=True)
class Called:
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answered:
    call_id: str
    output: str


Line = Said | Called | Answered


def lines_of(items: Iterable[dict[str, Json]], heard: Mapping[str, str | None]) -> list[Line]:
    """Items as lines; spoken user items by what was heard (None: not understood)."""
    return [_line(item, heard) for item in items if item.get("status") != "in_progress"]


def _line(item: dict[str, Json], heard: Mapping[str, str | None]) -> Line:
    if item["type"] == "function_call":
        return Called(item["call_id"], item["name"], item["arguments"])
    if item["type"] == "function_call_output":
        return Answered(item["call_id"], item["output"])
    if item["id"] in heard:
        return Said(item["role"], heard[item["id"]])
    words = [part.get("text") or part.get("transcript") or "" for part in item["content"]]
    return Said(item["role"], " ".join(words))
