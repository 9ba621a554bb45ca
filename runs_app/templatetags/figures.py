"""How numbers read on pages: with their unit, and an en dash where nothing was measured."""

from __future__ import annotations

import json
from typing import Any

from django import template

from scenarios_app.spec import matcher_words

register = template.Library()

MISSING = "–"


@register.filter
def clock(ms: float | None) -> str:
    """A moment of a recording: 75320 -> 1:15.3; before the caller's first sample: −0:00.4."""
    if ms is None:
        return MISSING
    sign, tenths = ("−" if ms < -50 else ""), round(abs(ms) / 100)
    return f"{sign}{tenths // 600}:{tenths % 600 // 10:02d}.{tenths % 10}"


@register.filter
def seconds(ms: float) -> str:
    """A moment as addresses carry it: 13400 -> 13.4"""
    return f"{ms / 1000:.2f}".rstrip("0").rstrip(".")


@register.filter
def ms(value: float | None) -> str:
    """1234.5 -> 1 235 ms"""
    return MISSING if value is None else f"{value:,.0f} ms".replace(",", "\u202f")


@register.filter
def score(value: float | None) -> str:
    """A score or share of 0 to 1: .75, 1.00"""
    if value is None:
        return MISSING
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text.replace("-0.", "−.")


@register.filter
def percent(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:.1f}\u202f%"


@register.filter
def measured(value: Any) -> str:
    """Any metric's value as it is, or an en dash."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".").replace(",", "\u202f")
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def expected(value: Any) -> str:
    """An expected value of a scenario, matchers in words."""
    return matcher_words.in_words(value)
