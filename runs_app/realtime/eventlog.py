"""The numbered events of a conversation, handed on one by one and in order.

Times count from the first caller sample, which nobody knows before it is sent: what happens earlier waits here, and
is handed on with negative times at that moment (or at the end, if the caller never got to speak).
"""

from __future__ import annotations

from collections.abc import Callable

from runs_app.realtime.record import Direction, Event, Json, Source
from runs_app.realtime.timeline import Timeline
from scenarios_app.spec.jsontext import clean, finite


class EventLog:
    def __init__(self, emit: Callable[[Event], None], timeline: Timeline) -> None:
        self._emit = emit
        self._timeline = timeline
        self._early: list[tuple[float, Source, Direction, str, dict[str, Json]]] = []
        self._seq = 0

    def note(self, at_s: float, type: str, /, source: Source = "harness", **payload: Json) -> None:
        """What the harness itself observed. The types are listed in docs/events.md."""
        self.add(at_s, source, "internal", type, payload)

    def add(self, at_s: float, source: Source, direction: Direction, type: str, payload: dict[str, Json]) -> None:
        """`at_s` is a moment of the monotonic clock, and may not lie before that of the event before."""
        if self._timeline.zero_s is None:
            self._early.append((at_s, source, direction, type, payload))
            return
        self.flush()
        self._hand_on(at_s, source, direction, type, payload)

    def flush(self) -> None:
        """Hand on what waited for zero. Does nothing before there is one."""
        if self._timeline.zero_s is None:
            return
        early, self._early = self._early, []
        for event in early:
            self._hand_on(*event)

    def close(self, now_s: float) -> None:
        """If zero never came, the end is zero: then every time is negative."""
        self._timeline.begin(now_s)
        self.flush()

    def _hand_on(self, at_s: float, source: Source, direction: Direction, type: str, payload: dict[str, Json]) -> None:
        event = Event(self._seq, self._timeline.t_ms(at_s), source, direction, type, clean(finite(payload)))
        self._seq += 1
        self._emit(event)
