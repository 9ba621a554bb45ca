"""Numbers of a comparison as people read them: with unit and sign, an en dash where there is none."""

from __future__ import annotations

from typing import Final

from runs_app.grading.metrics import METRICS as CATALOGUE
from runs_app.stats.rows import LATENCY, PASS_RATE
from runs_app.templatetags.figures import MISSING, ms, percent, score

MINUS: Final = "−"
MOST_TIMES: Final = 1_000  # a ratio beyond it is told by this alone


def metric_name(metric: str) -> str:
    return "pass rate" if metric == PASS_RATE else metric


def metric_unit(metric: str) -> str:
    return CATALOGUE[metric].unit if metric in CATALOGUE else "share"


def value_text(metric: str, value: float | None) -> str:
    if metric == LATENCY:
        return ms(value)
    return percent(value) if metric == PASS_RATE else score(value)


def signed_text(metric: str, value: float | None) -> str:
    """+.05, −8.3 pp, +240 ms; 0 only for what is exactly 0."""
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    size = _size(metric, abs(value))
    return f"{'+' if value > 0 else MINUS}{size}"


def _size(metric: str, size: float) -> str:
    if metric == LATENCY:
        return ms(size) if size >= 0.5 else "<1\u202fms"
    if metric == PASS_RATE:
        return f"{100 * size:.1f}\u202fpp" if size >= 0.0005 else "<0.1\u202fpp"
    return score(size) if size >= 0.005 else "<.01"


def interval_text(metric: str, low: float | None, high: float | None) -> str:
    """[+.01, +.09]; empty when there is none. Of shares it ends where differences do, which t's own may pass."""
    if low is None or high is None:
        return ""
    if metric != LATENCY:
        low, high = max(-1.0, low), min(1.0, high)
    return f"[{signed_text(metric, low)}, {signed_text(metric, high)}]"


def ratio_text(ratio: float | None) -> str:
    """1.293 -> +29 %; small ones keep a digit."""
    if ratio is None:
        return MISSING
    change = 100 * (ratio - 1)
    if abs(change) < 1e-9:
        return "0"
    if ratio > MOST_TIMES:
        return f"over {MOST_TIMES:,} times"
    places = 0 if abs(change) >= 10 else 1
    return f"{'+' if change > 0 else MINUS}{abs(change):.{places}f}\u202f%"


def share_text(share: float) -> str:
    """0.123 -> 12 %; small ones keep a digit."""
    return ratio_text(1 + share).lstrip("+")


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
