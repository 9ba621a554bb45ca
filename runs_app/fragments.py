"""What the live socket sends: the page's own partials as HTML, rendered once for all viewers of this process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.template.loader import render_to_string

from runs_app import live
from runs_app.models import Run, Trial

MOST_KEPT = 64


@dataclass(frozen=True)
class Place:
    """How far a viewer's event list is: the attempt it shows, its last event and how many rows it has."""

    trial_id: int | None = None
    attempt: int = 0
    last_seq: int = -1
    rows: int = 0
    is_done: bool = False


@dataclass(frozen=True)
class Fragment:
    html: str
    place: Place


Kept = OrderedDict[Hashable, "asyncio.Task[Fragment | str]"]
_kept: WeakKeyDictionary[asyncio.AbstractEventLoop, Kept] = WeakKeyDictionary()


async def shared(key: Hashable, make: Callable[[], Awaitable[Fragment | str]]) -> Fragment | str:
    """What `make` gives, made once for each key; those who ask meanwhile wait for the same."""
    kept = _kept.setdefault(asyncio.get_running_loop(), OrderedDict())
    task = kept.get(key)
    if task is None:
        task = kept[key] = asyncio.ensure_future(make())
        while len(kept) > MOST_KEPT:
            kept.popitem(last=False)
    return await asyncio.shield(task)


async def board(run_id: int, ring: str) -> str:
    return str(await shared(("board", run_id, ring), lambda: _board(run_id)))


async def events(run_id: int, wanted: int | None, place: Place, ring: str) -> Fragment:
    """What a viewer at this place lacks: nothing, the rows after its last event, or the whole list."""
    found = await shared(("events", run_id, wanted, place, ring), lambda: _events(run_id, wanted, place))
    assert isinstance(found, Fragment)
    return found


@database_sync_to_async
def _board(run_id: int) -> str:
    run = Run.objects.get(pk=run_id)
    context = {**live.board(run), "oob": True}
    return "".join(render_to_string(f"runs_app/live/{part}.html", context) for part in ("counts", "matrix"))


@database_sync_to_async
def _events(run_id: int, wanted: int | None, place: Place) -> Fragment:
    trial = live.chosen_trial(Run.objects.get(pk=run_id), wanted, place.trial_id)
    if trial is None:
        return _whole(trial)
    same = (trial.pk, trial.attempt, trial.is_done) == (place.trial_id, place.attempt, place.is_done)
    later = live.later_lines(trial, place.last_seq) if same else []
    # A list that has grown long, or is complete, is sent whole: it is then the one that a fresh page shows.
    if not same or place.last_seq < 0 or place.rows + len(later) > 2 * live.TAIL:
        return _whole(trial)
    if not later:
        return Fragment("", place)
    rows = render_to_string("runs_app/live/event_rows.html", {"lines": later})
    html = f'<ol hx-swap-oob="beforeend:#live-event-rows">{rows}</ol>'
    return Fragment(html, Place(trial.pk, trial.attempt, later[-1].seq, place.rows + len(later), trial.is_done))


def _whole(trial: Trial | None) -> Fragment:
    context = live.stream(trial)
    html = render_to_string("runs_app/live/events.html", {**context, "oob": True})
    if trial is None:
        return Fragment(html, Place())
    return Fragment(html, Place(trial.pk, trial.attempt, context["last_seq"], len(context["lines"]), trial.is_done))
