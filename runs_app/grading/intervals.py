"""Arithmetic of half-open intervals [start, end) in samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runs_app.realtime.record import Span


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Disjoint, ascending; touching intervals become one."""
    merged: list[Span] = []
    for span in sorted((s for s in spans if s.end > s.start), key=lambda s: (s.start, s.end)):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def subtract(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """What of `spans` no interval of `others` covers."""
    holes = union(others)
    left: list[Span] = []
    for span in union(spans):
        start = span.start
        for hole in holes:
            if hole.end <= start or hole.start >= span.end:
                continue
            if hole.start > start:
                left.append(Span(start, hole.start))
            start = max(start, hole.end)
        if start < span.end:
            left.append(Span(start, span.end))
    return tuple(left)


def clip(spans: Iterable[Span], within: Span) -> tuple[Span, ...]:
    cut = (Span(max(s.start, within.start), min(s.end, within.end)) for s in spans)
    return union(s for s in cut if s.end > s.start)


def total(spans: Sequence[Span]) -> int:
    """Samples covered; the spans are disjoint."""
    return sum(span.end - span.start for span in spans)


def longest(spans: Sequence[Span]) -> int:
    return max((span.end - span.start for span in spans), default=0)
