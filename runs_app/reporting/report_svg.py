"""Drawings of a report: plain SVG with its own colours, readable in any browser and in print."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, ROW, LEFT, RIGHT = 640, 44, 220, 150
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#6b4fa0", "#8a6d00")  # Okabe-Ito and two more


Bar = tuple[str, float | None, float | None, float | None, str]  # label, share, low, high, words


def rate_bars(rows: Sequence[Bar]) -> str:
    """A bar from 0 to 1 for each, with its interval. What its words leave out of the rate has a line of its own."""
    height = ROW * len(rows) + 8
    drawn = "".join(_bar(place, *row) for place, row in enumerate(rows))
    told = "; ".join(f"{label} {words}" for label, *_, words in rows)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(told)}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="#1c1d20">{drawn}</svg>'
    )


def _bar(place: int, label: str, share: float | None, low: float | None, high: float | None, words: str) -> str:
    y, colour = ROW * place + 8, COLOURS[place % len(COLOURS)]
    parts = [
        f'<text x="0" y="{y + 15}">{escape(_cut(label))}</text>',
        f'<rect x="{LEFT}" y="{y + 4}" width="{_at(1) - LEFT:.1f}" height="14" fill="#ececea"/>',
    ]
    if share is not None:
        parts.append(f'<rect x="{LEFT}" y="{y + 4}" width="{_at(share) - LEFT:.1f}" height="14" fill="{colour}"/>')
    if low is not None and high is not None:
        parts.append(f'<path d="M{_at(low):.1f} {y + 11}H{_at(high):.1f}" stroke="#1c1d20" stroke-width="2"/>')
    rate, _, left_out = words.partition(", ")
    parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 15}">{escape(rate)}</text>')
    if left_out:
        parts.append(f'<text x="0" y="{y + 31}" font-size="11" fill="#5b5d63">{escape(left_out)}</text>')
    return "".join(parts)


def _at(share: float) -> float:
    return LEFT + max(0.0, min(1.0, share)) * (WIDTH - LEFT - RIGHT)


def _cut(label: str) -> str:
    return label if len(label) <= 30 else f"{label[:29]}…"
