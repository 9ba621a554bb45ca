"""In what way a value is not the expected one, in words that group: "one day early", "one too few", "missing".

The words name no value: a hundred bookings that are a day early are one problem, whatever their dates.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, time
from difflib import SequenceMatcher
from typing import Any, Final, TypeVar

from runs_app.grading.plain_values import fold_text, kind
from runs_app.grading.written_forms import Unreadable, read_date, read_time

Json = Any
T = TypeVar("T")

ALIKE: Final = 0.7  # of difflib's ratio: above it a text counts as the same one, written wrongly
# Matchers that hold one plain value: the value is what the answer is measured by.
_PLAIN: Final = ("$date", "$time", "$text", "$exact", "$numeric_text", "$approx", "$phone")


def divergence(expected: Json, actual: Json, *, absent: bool = False, reason: str = "") -> str:
    """`reason`: what the matcher said of it; it speaks where the two values alone do not."""
    if absent:
        return "missing"
    wanted = _plain(expected)
    if isinstance(wanted, dict | list):
        return _of_structure(wanted, actual, reason)
    if kind(wanted) != kind(actual):
        return f"{kind(actual)} instead of {kind(wanted)}"
    if isinstance(wanted, bool):
        return f"{str(actual).lower()} instead of {str(wanted).lower()}"
    if isinstance(wanted, int | float):
        return _of_numbers(wanted, actual)
    return _of_texts(wanted, actual) if isinstance(wanted, str) else "another value"


def _plain(expected: Json) -> Json:
    """What a matcher of one value holds; of several accepted ones the first."""
    if isinstance(expected, dict):
        for name in _PLAIN:
            if name in expected:
                return expected[name]
        choices = expected.get("$any_of")
        if isinstance(choices, list) and choices:
            return _plain(choices[0])
    return expected


def _of_structure(wanted: Json, actual: Json, reason: str) -> str:
    if isinstance(wanted, list) and isinstance(actual, list) and len(wanted) != len(actual):
        return "too few entries" if len(actual) < len(wanted) else "too many entries"
    if isinstance(wanted, dict) and "$regex" in wanted:
        return "does not fit the pattern"
    if isinstance(wanted, dict) and "$absent" in wanted:
        return "there, but must be absent"
    return reason if reason and not any(mark.isdigit() for mark in reason) else "another value"


def _of_numbers(wanted: float, actual: float) -> str:
    off = actual - wanted
    size = "one" if abs(off) == 1 else ""
    return " ".join(filter(None, (size, "too high" if off > 0 else "too low")))


def _of_texts(wanted: str, actual: str) -> str:
    if not actual.strip():
        return "empty"
    dates = _both(read_date, wanted, actual)
    if dates:
        return _of_dates(*dates)
    times = _both(read_time, wanted, actual)
    if times:
        return _of_times(*times)
    return _of_words(fold_text(wanted), fold_text(actual))


def _both(read: Callable[[str], T], wanted: str, actual: str) -> tuple[T, T] | None:
    try:
        found = read(wanted), read(actual)
    except Unreadable:
        return None
    return found if found[0] != found[1] else None


def _of_dates(wanted: date, actual: date) -> str:
    days = (actual - wanted).days
    side = "late" if days > 0 else "early"
    if (wanted.month, wanted.day) == (actual.month, actual.day):
        return f"{_counted(abs(actual.year - wanted.year), 'year')} {side}"
    if (wanted.month, wanted.day) == (actual.day, actual.month) and wanted.year == actual.year:
        return "day and month swapped"
    months = (actual.year - wanted.year) * 12 + actual.month - wanted.month
    if months and wanted.day == actual.day:
        return f"{_counted(abs(months), 'month')} {side}"
    if abs(days) % 7 == 0:
        return f"{_counted(abs(days) // 7, 'week')} {side}"
    return f"{_counted(abs(days), 'day')} {side}" if abs(days) < 7 else f"more than a week {side}"


def _of_times(wanted: time, actual: time) -> str:
    minutes = (actual.hour * 60 + actual.minute) - (wanted.hour * 60 + wanted.minute)
    if abs(minutes) == 12 * 60:
        return "twelve hours off"
    side = "late" if minutes > 0 else "early"
    if minutes and minutes % 60 == 0:
        return f"{_counted(abs(minutes) // 60, 'hour')} {side}"
    if not minutes:
        return "seconds off"
    return f"{'less' if abs(minutes) < 60 else 'more'} than an hour {side}"


def _of_words(wanted: str, actual: str) -> str:
    if _digits(wanted) != _digits(actual) and _letters(wanted) == _letters(actual):
        return "other digits"
    if f" {wanted} " in f" {actual} ":
        return "more than was asked for"
    if f" {actual} " in f" {wanted} ":
        return "only a part"
    # long texts cost by the product of their lengths, and say no more than their beginnings
    ratio = SequenceMatcher(None, wanted[:200], actual[:200], autojunk=False).ratio()
    return "written differently" if ratio >= ALIKE else "another value"


def _digits(text: str) -> str:
    return "".join(mark for mark in text if mark.isdigit())


def _letters(text: str) -> str:
    return "".join(mark for mark in text if mark.isalpha())


_WORDS: Final = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _counted(count: int, noun: str) -> str:
    return f"{_WORDS.get(count, count)} {noun if count == 1 else f'{noun}s'}"
