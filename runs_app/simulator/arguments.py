"""How the clerk fills a tool's arguments from what was said: parameter by parameter, by kind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from runs_app.simulator.free_text import choice_in, flag_in, text_in
from runs_app.simulator.kinds import Kind, kind_of
from runs_app.simulator.pick import Picker
from runs_app.simulator.replies import UNKNOWN
from runs_app.simulator.tool_fit import Tool, meanings, split_words
from runs_app.simulator.wire import Json

_LAST_WORDS = {"end", "to", "until", "till", "checkout", "departure", "return", "due", "last"}
_FROM_STATE: tuple[Kind, ...] = ("id", "name", "phone", "email")
_PLAIN: tuple[Kind, ...] = ("phone", "email", "name", "id", "date", "time")


@dataclass(frozen=True)
class Source:
    """Where values may come from. `own` are the words that ask for this very tool, `whole` the caller's whole turn,
    `earlier` the caller's turns before (newest first) that belong to the same request, `replies` what was answered."""

    own: str
    whole: str = ""
    earlier: tuple[str, ...] = ()
    summary: str = ""
    replies: tuple[str, ...] = ()
    state: dict[str, Json] = field(default_factory=dict)
    reference_date: str | None = None


@dataclass(frozen=True)
class Filled:
    """The values that were heard, by parameter; `missing` are required and were not."""

    values: dict[str, Json]
    missing: list[str]
    kinds: dict[str, Kind]

    def with_unknown(self) -> dict[str, Json]:
        """All required parameters in the tool's own order, `unknown` where nothing was heard."""
        every = self.values | dict.fromkeys(self.missing, UNKNOWN)
        return {name: every[name] for name in self.kinds if name in every} | every

    def by_kind(self, kind: Kind) -> list[str]:
        return [str(value) for name, value in self.values.items() if self.kinds[name] == kind]


def fill(tool: Tool, source: Source, *, corrected: bool) -> Filled:
    """Arguments of `tool`. `corrected`: what the caller said last holds; otherwise what was said first."""
    filler = _Filler(source, corrected)
    required = set(tool.required)
    kinds = {name: kind_of(name, schema) for name, schema in tool.properties.items()}
    values = {}
    # Required parameters choose first: an optional one gets what they left.
    for name, schema in sorted(tool.properties.items(), key=lambda one: one[0] not in required):
        value = filler.value(name, schema, needed=name in required)
        if value is not None:
            values[name] = value
    ordered = {name: values[name] for name in tool.properties if name in values}
    return Filled(ordered, [name for name in tool.required if name not in values], kinds)


class _Filler:
    """One call's arguments under way: a thing that was named fills one parameter only."""

    def __init__(self, source: Source, corrected: bool) -> None:
        self._source, self._corrected = source, corrected
        self._picker = Picker(_date(source.reference_date), corrected)

    def value(self, name: str, schema: dict[str, Json], *, needed: bool) -> Json:
        """The value of one parameter, None when it was not heard."""
        kind = kind_of(name, schema)
        if kind == "group":
            return self._group(schema)
        if kind == "list":
            items = schema.get("items")
            one = self.value(name, items if isinstance(items, dict) else {}, needed=needed)
            return None if one is None else [one]
        for bare in (False, True):  # a number without a noun counts only where no text has a better one
            for text in self._texts(kind) if kind == "count" or not bare else ():
                if (found := self._in_text(kind, name, schema, text, needed=needed, bare=bare)) is not None:
                    return _as_type(found, schema)
        if kind in _FROM_STATE and (found := _from_state(name, kind, self._source.state)) is not None:
            return _as_type(found, schema)
        return schema.get("default") if needed else None

    def _texts(self, kind: Kind) -> Iterator[str]:
        """Where to look, best place first. Who does not heed corrections takes what was said earliest."""
        source = self._source
        now = [source.own] if source.own == source.whole else [source.own, source.whole]
        before = [*source.earlier, source.summary]
        if not self._corrected and kind not in ("id", "text"):
            yield from (text for text in [*reversed(before), *now] if text)
        else:
            yield from (text for text in [*now, *before] if text)
        yield from source.replies

    def _in_text(self, kind: Kind, name: str, schema: dict[str, Json], text: str, *, needed: bool, bare: bool) -> Json:
        if kind in _PLAIN:
            last = bool(set(split_words(name)) & _LAST_WORDS)
            return self._picker.mention(text, kind, last=last)
        if kind == "moment":
            return self._picker.moment(text)
        if kind == "count":
            return self._picker.amount(text, name, schema, bare=bare)
        if kind == "choice":
            return choice_in(text, schema["enum"], last=self._corrected)
        if kind == "flag":
            return flag_in(text, name)
        current = text in (self._source.own, self._source.whole)
        return text_in(text, name, whole=needed and current)

    def _group(self, schema: dict[str, Json]) -> Json:
        inner = Tool("", "", schema)
        found = {name: self.value(name, one, needed=name in inner.required) for name, one in inner.properties.items()}
        heard = {name: value for name, value in found.items() if value is not None}
        return heard | {name: UNKNOWN for name in inner.required if name not in heard} if heard else None


def _from_state(name: str, kind: Kind, state: dict[str, Json]) -> Json:
    """A value that stands in the state under the parameter's own name; for an id also the only one that is allowed."""
    under_name = list(_scalars(name, state))
    if len(set(map(str, under_name))) == 1:
        return under_name[0]
    if kind != "id":
        return None
    about = meanings(name)
    lists = [value for key, value in state.items() if isinstance(value, list) and about & meanings(key)]
    return lists[0][0] if len(lists) == 1 and len(lists[0]) == 1 else None


def _scalars(name: str, node: Any) -> Iterator[str | int]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == name and isinstance(value, str | int) and not isinstance(value, bool):
                yield value
            else:
                yield from _scalars(name, value)


def _as_type(value: Json, schema: dict[str, Json]) -> Json:
    """`value` in the type that the schema names, where that says the same."""
    wanted = schema.get("type")
    if wanted == "string":
        return value if isinstance(value, str) else str(value)
    if wanted in ("integer", "number") and isinstance(value, str):
        digits = "".join(filter(str.isdigit, value))
        return int(digits) if digits else None
    return value


def _date(text: str | None) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        return None
