"""A change from one number to another, in the words that are true of it."""

from __future__ import annotations

import math


def describe_change(baseline: float | None, new: float | None) -> str:
    """`+30%`, `-100%`; from zero `+3 (no percentage)`, or `0`; `no baseline` and `no value` where one is missing."""
    if baseline is None or not math.isfinite(baseline):
        return "no baseline"
    if new is None or not math.isfinite(new):
        return "no value"
    if new == baseline:
        return "0"
    if baseline == 0:
        return f"{new:+.4g} (no percentage)"
    return _percentage((new - baseline) / abs(baseline) * 100)


def _percentage(percent: float) -> str:
    if not math.isfinite(percent):
        return "no percentage"
    places = 0 if abs(percent) >= 10 else 1
    text = f"{percent:+.{places}f}"
    # A change that rounds to nothing is still a change: +0% would deny it.
    if not text.strip("+-0."):
        return "less than 0.1% more" if percent > 0 else "less than 0.1% less"
    return f"{text.removesuffix('.0')}%"
