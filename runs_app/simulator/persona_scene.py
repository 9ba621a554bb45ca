"""What a caller knows when he is asked for words: read from the request for them, and from nothing else."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from runs_app.simulator.http_reply import RequestError

Json = Any

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A step of the agenda, with the defaults filled in."""

    id: str
    commitment: str
    action: str = "answer"
    when: str = ""
    words: str = ""
    facts: dict[str, Json] = field(default_factory=dict)
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    goal: str
    facts: dict[str, Json]
    agenda: tuple[Step, ...]
    said: frozenset[str]
    stop_when: str
    today: date | None
    turn: int
    interrupting: bool
    seed: str
    lines: tuple[tuple[str, str], ...]  # speaker and text

    @cached_property
    def heard(self) -> str:
        """What the agent said since the caller's last words."""
        return self.lines[-1][1] if self.lines and self.lines[-1][0] == "agent" else ""

    @cached_property
    def own_last(self) -> str:
        return next((text for speaker, text in reversed(self.lines) if speaker == "caller"), "")

    @cached_property
    def known(self) -> dict[str, Json]:
        """The facts as they are by now: a step that was said replaces what it corrects."""
        known = dict(self.facts)
        for step in self.agenda:
            if step.id in self.said:
                known |= step.facts
        return known

    @cached_property
    def due(self) -> Step | None:
        """The first step that was not said and may come."""
        return next((step for step in self.agenda if step.id not in self.said and self.said >= set(step.after)), None)


def find_scene(prompt: str) -> Scene | None:
    """The scene in a prompt: the JSON object with a `caller` who has a goal, and a `conversation`; None without one.
    Raises RequestError when it cannot be read."""
    for document in _documents(prompt):
        if isinstance(document, dict) and isinstance(document.get("caller"), dict) and "conversation" in document:
            return _read(document)
    return None


def _documents(prompt: str) -> Iterator[Json]:
    for text in [*_FENCE.findall(prompt), prompt]:
        with contextlib.suppress(ValueError):
            yield json.loads(text)


def _read(document: dict[str, Json]) -> Scene:
    caller = document["caller"]
    try:
        return Scene(
            goal=str(caller["goal"]),
            facts=dict(caller.get("facts") or {}),
            agenda=tuple(_step(step) for step in caller.get("agenda") or ()),
            said=frozenset(document.get("steps_said") or ()),
            stop_when=document.get("stop_when") or "",
            today=_date(document.get("today")),
            turn=int(document.get("turn") or 1),
            interrupting=bool(document.get("interrupting")),
            seed=str(document.get("seed") or ""),
            lines=tuple((str(line["speaker"]), str(line["text"])) for line in document["conversation"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RequestError(f"the caller's scene cannot be read: {type(error).__name__} {error}", "input") from error


def _step(given: dict[str, Json]) -> Step:
    return Step(
        id=str(given["id"]),
        commitment=str(given["commitment"]),
        action=given.get("action") or "answer",
        when=given.get("when") or "",
        words=given.get("words") or "",
        facts=dict(given.get("facts") or {}),
        after=tuple(given.get("after") or ()),
    )


def _date(value: Json) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
