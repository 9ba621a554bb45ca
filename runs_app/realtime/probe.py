"""A session opened as for a trial and closed before a word is said, and what the server made of our settings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from runs_app.realtime.plan import Plan, Timeouts
from runs_app.realtime.record import Ending, Event, Json, Record
from runs_app.realtime.session import converse
from scenarios_app.spec.errors import Part, path_of

LONGEST_S = 10.0  # of each single wait: somebody looks at the page
LONGEST_SHOWN = 200


@dataclass(frozen=True)
class Change:
    """One setting that the server confirmed otherwise. `told` is None when it said nothing of it (`is_told` False)."""

    path: str
    asked: str
    told: str
    is_told: bool = True


@dataclass(frozen=True)
class Probe:
    """`ready_ms`: from the open socket to a session that can be spoken to; None when it never came so far."""

    record: Record
    events: tuple[Event, ...]
    ready_ms: float | None

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """(name, detail), as a trial's timeline would have them."""
        found = [event.payload for event in self.events if event.type == "warning"]
        return [(str(payload["name"]), str(payload["detail"])) for payload in found]


async def probe(plan: Plan, *, deadline_s: float) -> Probe:
    """Raises nothing for what the other side does: the record's ending tells it, in the words of a trial."""
    events: list[Event] = []
    stop = asyncio.Event()
    silent = replace(plan, turns=(), history=(), timeouts=_impatient(plan.timeouts))
    alarm = asyncio.get_running_loop().call_later(deadline_s, stop.set)
    try:
        conversation = await converse(silent, emit=events.append, stop=stop)
    finally:
        alarm.cancel()
    record = conversation.record
    if record.ending.kind == "cancelled":
        late = Ending("invalid", "connect", "timeout", f"nothing came of it within {deadline_s:g} s")
        record = replace(record, ending=late)
    return Probe(record, tuple(events), _ready_ms(events))


def session_changes(asked: Mapping[str, Json], told: Mapping[str, Json]) -> list[Change]:
    """What we asked for and the server confirmed otherwise, then what it did not mention. Its own additions are no
    change; a setting that we switched off with null need not be mentioned."""
    found = list(_changes((), asked, told))
    return sorted(found, key=lambda change: not change.is_told)


def _impatient(times: Timeouts) -> Timeouts:
    return replace(
        times,
        connect_s=min(times.connect_s, LONGEST_S),
        session_ready_s=min(times.session_ready_s, LONGEST_S),
        turn_s=min(times.turn_s, LONGEST_S),
    )


def _ready_ms(events: list[Event]) -> float | None:
    moments = {event.type: event.t_ms for event in events if event.type in ("session.opened", "session.ready")}
    return moments["session.ready"] - moments["session.opened"] if len(moments) == 2 else None


def _changes(way: tuple[Part, ...], asked: Json, told: Json) -> Iterator[Change]:
    if isinstance(asked, Mapping) and isinstance(told, Mapping):
        for key, value in asked.items():
            if key in told:
                yield from _changes((*way, key), value, told[key])
            elif value is not None:
                yield Change(path_of((*way, key)), _shown(value), "", is_told=False)
    elif isinstance(asked, list) and isinstance(told, list) and len(asked) == len(told):
        for index, (mine, theirs) in enumerate(zip(asked, told, strict=True)):
            yield from _changes((*way, index), mine, theirs)
    elif asked != told:
        yield Change(path_of(way), _shown(asked), _shown(told))


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
