"""What of the agent's audio was heard when the caller broke in, and what the server is told of it.

Audio comes faster than it is heard, so received is not heard: only the playout clock of the timeline tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from math import floor
from typing import NamedTuple

from runs_app.realtime.dialects.base import Place
from runs_app.realtime.record import SAMPLES_PER_MS, Span


class Truncation(NamedTuple):
    """The server shall forget what lies behind `audio_end_ms` of this part of an item."""

    item_id: str
    content_index: int
    audio_end_ms: int


class Sounding(NamedTuple):
    """Agent audio where it lies on the right channel, and what it belongs to."""

    place: Place
    span: Span


def audio_end_ms(*, received_ms: float, elapsed_ms: float, ongoing: bool) -> int | None:
    """Where to cut an item of which so much came and that has been played for so long; None for no cut at all.

    Never more than was received. Nothing to cut: an item without audio (servers refuse that), one that has not begun
    to play, and one that was heard to its end, unless more of it may come.
    """
    if received_ms <= 0 or elapsed_ms < 0:
        return None
    if elapsed_ms >= received_ms and not ongoing:
        return None
    return floor(min(received_ms, elapsed_ms))


def truncations(sounds: Iterable[Sounding], at: int, *, ongoing: Set[str | None]) -> list[Truncation]:
    """One for each item that the caller did not hear whole at this sample. `ongoing`: responses still under way."""
    parts: dict[tuple[str | None, str, int], list[Span]] = {}
    for place, span in sounds:
        if place.item_id is not None:
            parts.setdefault((place.response_id, place.item_id, place.content_index), []).append(span)
    found = []
    for (response_id, item_id, content_index), spans in parts.items():
        received_ms = sum(span.end - span.start for span in spans) / SAMPLES_PER_MS
        elapsed_ms = heard(spans, at) / SAMPLES_PER_MS if at >= spans[0].start else -1.0
        end_ms = audio_end_ms(received_ms=received_ms, elapsed_ms=elapsed_ms, ongoing=response_id in ongoing)
        if end_ms is not None:
            found.append(Truncation(item_id, content_index, end_ms))
    return found


def heard(spans: Iterable[Span], at: int) -> int:
    """How many samples of the spans lie before this one."""
    return sum(max(0, min(span.end, at) - span.start) for span in spans)


def sample_when_heard(spans: Sequence[Span], count: int) -> int | None:
    """The sample before which `count` samples of the spans lie; None while there are fewer."""
    for span in spans:
        if count <= span.end - span.start:
            return span.start + count
        count -= span.end - span.start
    return None


def before(sounds: Iterable[Sounding], at: int) -> list[Sounding]:
    """The sounds without what lies at this sample or behind it."""
    return [
        Sounding(place, Span(span.start, min(span.end, at))) for place, span in sounds if span.start < min(span.end, at)
    ]
