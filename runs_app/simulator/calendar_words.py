"""Dates in spoken and written English.

A date is given as ISO ("2027-08-06"). Where a part was not said and no reference date helps, it is left out in the
way of XML Schema: "--08-06" without a year, "---06" without a month; relative words stay words ("tomorrow",
"monday").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from runs_app.simulator.number_words import NUMBER, ORDINAL, number_of, ordinal_of

_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS = _MONTHS.split()
WEEKDAYS = _WEEKDAYS.split()

_month = "|".join([*MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept", "sep", "oct", "nov", "dec"])
_weekday = "|".join(WEEKDAYS)
# A day's number is no hour: "August 6" but not the 7 of "August 7 p.m." or "August 7:30".
_day = rf"(?:{ORDINAL}|(?:\d{{1,2}}\b(?!:\d|\s*[ap]\.?m\b)|{NUMBER}))"
# "Thursday, August 6" is one date, not two.
_on_weekday = rf"(?:\b(?:{_weekday}),? )?"
_year = r"(?:,?\s+(?P<year>\d{4}|twenty (?:twenty|thirty)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?)\b)?"


@dataclass(frozen=True)
class Day:
    """A date in a text: `value` as described above, and where it stands."""

    value: str
    start: int
    end: int


def days(text: str, reference_date: date | None = None) -> Iterator[Day]:
    """The dates of `text`, kind by kind; spans may overlap, the earlier one is the better reading.

    A year that was not said is the one that makes the date fall on or after `reference_date`.
    """
    for pattern, read in _PATTERNS:
        for found in pattern.finditer(text):
            value = read(found, reference_date)
            if value is not None:
                yield Day(value, *found.span())


def day_of_month(day: int, near: str | None, reference_date: date | None) -> str | None:
    """ "the 6th": in the month of the date `near` it, else the next such day from `reference_date` on."""
    if not 1 <= day <= 31:
        return None
    if near and re.fullmatch(r"(?:\d{4}|-)-\d{2}-\d{2}", near):
        return _checked(f"{near[:-2]}{day:02}")
    if reference_date is None:
        return f"---{day:02}"
    month = reference_date.replace(day=1)
    for _ in range(3):  # February may lack the day, and then March has it
        value = _checked(f"{month.year:04}-{month.month:02}-{day:02}")
        if value and value >= reference_date.isoformat():
            return value
        month = (month + timedelta(days=32)).replace(day=1)
    return None


def _checked(value: str) -> str | None:
    """`value` if the calendar has such a day (29 February counts when the year is not known)."""
    try:
        date.fromisoformat(value.replace("--", "2028-", 1) if value.startswith("--") else value)
    except ValueError:
        return None
    return value


def _dated(year: int | None, month: int, day: int, reference_date: date | None) -> str | None:
    if year is not None:
        return _checked(f"{year:04}-{month:02}-{day:02}")
    if reference_date is None:
        return _checked(f"--{month:02}-{day:02}")
    for candidate in range(reference_date.year, reference_date.year + 9):  # up to eight years to a 29 February
        value = _checked(f"{candidate:04}-{month:02}-{day:02}")
        if value and value >= reference_date.isoformat():
            return value
    return None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()[:3]))


def _day_number(text: str) -> int:
    try:
        return ordinal_of(text)
    except ValueError:
        return number_of(text)


def _year_number(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if text.isdecimal() else 2000 + number_of(text.lower().removeprefix("twenty "))


def _iso(found: re.Match[str], _: date | None) -> str | None:
    return _checked(found.group(1))


def _slashes(found: re.Match[str], _: date | None) -> str | None:
    """05/15/2027: the American order, unless only the other one is possible."""
    month, day, year = map(int, found.groups())
    return _checked(f"{year}-{month:02}-{day:02}") or _checked(f"{year}-{day:02}-{month:02}")


def _named(found: re.Match[str], reference_date: date | None) -> str | None:
    month, day = _month_number(found["month"]), _day_number(found["day"])
    return _dated(_year_number(found["year"]), month, day, reference_date)


def _relative(found: re.Match[str], reference_date: date | None) -> str | None:
    word = " ".join(found.group().lower().split()).removeprefix("the ")
    if reference_date is None:
        return word
    ahead = {"yesterday": -1, "tomorrow": 1, "day after tomorrow": 2}.get(word, 0)
    return (reference_date + timedelta(days=ahead)).isoformat()


def _in_days(found: re.Match[str], reference_date: date | None) -> str | None:
    if reference_date is None:
        return found.group().lower()
    count = 1 if found[1].lower() in ("a", "one") else number_of(found[1])
    return (reference_date + timedelta(days=count * (7 if found[2].lower().startswith("week") else 1))).isoformat()


def _week_day(found: re.Match[str], reference_date: date | None) -> str | None:
    """The next such day; today only when "this" was said."""
    name = found["name"].lower()
    if reference_date is None:
        return name
    ahead = (WEEKDAYS.index(name) - reference_date.weekday()) % 7
    if ahead == 0 and (found["which"] or "").lower() != "this":
        ahead = 7
    return (reference_date + timedelta(days=ahead)).isoformat()


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_Read = Callable[[re.Match[str], date | None], str | None]

_PATTERNS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_compile(r"\b(\d{4}-\d{2}-\d{2})(?!\d)"), _iso),
    (_compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b"), _slashes),
    (_compile(rf"{_on_weekday}\b(?P<month>{_month})\b\.?,? (?:the )?(?P<day>{_day}){_year}"), _named),
    (
        _compile(rf"{_on_weekday}\b(?:the )?(?P<day>{_day}) (?:day )?(?:of )?(?P<month>{_month})\b\.?{_year}"),
        _named,
    ),
    (_compile(r"\b(?:the )?day after tomorrow\b|\b(?:today|tonight|tomorrow|yesterday)\b"), _relative),
    (_compile(rf"\bin ({NUMBER}|a) (days?|weeks?)\b"), _in_days),
    (_compile(rf"\b(?:(?P<which>this|next|coming) )?(?P<name>{_weekday})\b"), _week_day),
)
