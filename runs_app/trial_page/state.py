"""The application's state before and after the conversation, path by path."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.record import Record


@dataclass(frozen=True)
class StateRow:
    """One path of the application's state, before and after the conversation, as JSON text. None: it was not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        return self.before != self.after


def state_rows(record: Record) -> list[StateRow]:
    return rows_between(record.initial_state, record.final_state)


def rows_between(old: dict[str, Any], new: dict[str, Any]) -> list[StateRow]:
    before, after = dict(_leaves(old)), dict(_leaves(new))
    paths = [*before, *(path for path in after if path not in before)]
    return [StateRow(path, before.get(path), after.get(path)) for path in paths]


def _leaves(value: Any, path: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    elif path:
        yield path, json.dumps(value, ensure_ascii=False)
