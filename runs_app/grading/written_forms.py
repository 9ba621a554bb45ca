"""Common written forms of dates, times, phone numbers and numbers, read into one value each.

A reader returns the value, or raises `Unreadable` with the reason in words. A form that can be read in two ways
(05/06/2027) is unreadable on purpose: a grader that guesses is wrong half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Final

import phonenumbers
import regex

_MONTHS: Final = {
    "jan": 1, "january": 1, "feb": 2, "february": 2, "mar": 3, "march": 3, "apr": 4, "april": 4, "may": 5,
    "jun": 6, "june": 6, "jul": 7, "july": 7, "aug": 8, "august": 8, "sep": 9, "sept": 9, "september": 9,
    "oct": 10, "october": 10, "nov": 11, "november": 11, "dec": 12, "december": 12,
}  # fmt: skip
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

_WEEKDAY = regex.compile(r"^(?P<day>[a-z]{3,9})\.?,?\s+(?P<rest>.+)$")
_DAY_FIRST = regex.compile(r"^(?:the )?(\d{1,2})(?:st|nd|rd|th)?\.?(?: of)?[\s-]+([a-z]+)\.?,?[\s-]+(\d{4})$")
_MONTH_FIRST = regex.compile(r"^([a-z]+)\.?\s+(?:the )?(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$")
_YEAR_FIRST = regex.compile(r"^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$")
_DOTTED = regex.compile(r"^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$")
_SLASHED = regex.compile(r"^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$")
_CLOCK = regex.compile(
    r"^(?:at )?(\d{1,2})(?:[:.h](\d{2}))?(?:[:.](\d{2})(?:\.\d+)?)?\s*(h|uhr|o'clock)?\s*([ap])?\.?\s?(m)?\.?$"
)
_OFFSET = regex.compile(r"(?<=\d)\s?(?:z|utc|[+-]\d{2}:?\d{2})$")
_PLAIN_NUMBER = regex.compile(r"^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?$")


class Unreadable(ValueError):
    """The text is not one clear value of the wanted kind; the message says why."""


@dataclass(frozen=True)
class Phone:
    country_code: int
    national_number: str
    extension: str


def read_number(text: str) -> Decimal:
    """`3`, `-2.50`, `1e3`. Grouping marks are refused: `1,250` is two numbers in two countries."""
    plain = text.strip().replace("\u2212", "-")
    if not _PLAIN_NUMBER.match(plain):
        raise Unreadable("not a plain number")
    try:
        return Decimal(plain)
    except InvalidOperation as error:
        raise Unreadable("not a plain number") from error


def read_date(text: str) -> date:
    """`2027-05-15`, ISO date-times, `May 15, 2027`, `Sat 15th of May 2027`, `15.05.2027`, and `5/15/2027`, where only
    one order of day and month fits."""
    plain = " ".join(text.casefold().split())
    stamped = _iso_moment(plain)
    if stamped is not None:
        return stamped.date()
    weekday, plain = _split_weekday(plain)
    found = _named_month(plain) or _numeric_date(plain)
    if found is None:
        raise Unreadable("no year given" if _names_month(plain) else "not a date in a known form")
    if weekday is not None and found.weekday() != weekday:
        raise Unreadable(f"{found.isoformat()} is a {_WEEKDAYS[found.weekday()].title()}")
    return found


def _iso_moment(plain: str) -> datetime | None:
    if len(plain) <= len("2027-05-15") or not _YEAR_FIRST.match(plain[:10]):
        return None
    try:
        return datetime.fromisoformat(plain.upper())
    except ValueError:
        return None


def _split_weekday(plain: str) -> tuple[int | None, str]:
    found = _WEEKDAY.match(plain)
    if found is None:
        return None, plain
    for index, name in enumerate(_WEEKDAYS):
        if name.startswith(found["day"]):
            return index, found["rest"]
    return None, plain


def _names_month(plain: str) -> bool:
    return any(word in _MONTHS for word in regex.findall(r"[a-z]+", plain))


def _named_month(plain: str) -> date | None:
    found = _DAY_FIRST.match(plain)
    if found and found[2] in _MONTHS:
        return _calendar(int(found[3]), _MONTHS[found[2]], int(found[1]))
    found = _MONTH_FIRST.match(plain)
    if found and found[1] in _MONTHS:
        return _calendar(int(found[3]), _MONTHS[found[1]], int(found[2]))
    return None


def _numeric_date(plain: str) -> date | None:
    if len(plain) == 8 and plain.isascii() and plain.isdigit():
        return _calendar(int(plain[:4]), int(plain[4:6]), int(plain[6:]))
    found = _YEAR_FIRST.match(plain)
    if found:
        return _calendar(int(found[1]), int(found[3]), int(found[4]))
    found = _DOTTED.match(plain)
    if found:
        return _calendar(int(found[3]), int(found[2]), int(found[1]))
    found = _SLASHED.match(plain)
    return _either_order(int(found[1]), int(found[3]), int(found[4])) if found else None


def _either_order(first: int, second: int, year: int) -> date:
    if first <= 12 and second <= 12 and first != second:
        raise Unreadable("day and month cannot be told apart")
    return _calendar(year, second, first) if first > 12 else _calendar(year, first, second)


def _calendar(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise Unreadable("no such day in the calendar") from error


def read_time(text: str) -> time:
    """`19:00`, `19:00:00`, `7 p.m.`, `7:30PM`, `19h30`, `noon`, ISO date-times. The wall clock: offsets are dropped."""
    plain = " ".join(text.casefold().split())
    if plain in ("noon", "midday", "12 noon"):
        return time(12)
    if plain in ("midnight", "12 midnight"):
        return time(0)
    stamped = _iso_moment(plain)
    if stamped is not None:
        return stamped.time().replace(microsecond=0)
    found = _CLOCK.match(_OFFSET.sub("", plain.removeprefix("t")))
    if found is None or (found[5] is None) != (found[6] is None):
        raise Unreadable("not a time in a known form")
    if found[2] is None and found[4] is None and found[5] is None:
        raise Unreadable("only a number: morning or evening is not said")
    return _clock(int(found[1]), int(found[2] or 0), int(found[3] or 0), found[5])


def _clock(hour: int, minute: int, second: int, half: str | None) -> time:
    if half is not None:
        if not 1 <= hour <= 12:
            raise Unreadable("no such time on a twelve-hour clock")
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, minute, second)
    except ValueError as error:
        raise Unreadable("no such time on the clock") from error


def read_phone(text: str, region: str | None) -> Phone:
    """A phone number in any common spelling. Without a region the country code must be written."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException as error:
        need = "" if region else " (no country code and no region)"
        raise Unreadable(f"not a phone number{need}") from error
    national = phonenumbers.national_significant_number(number)
    return Phone(number.country_code or 0, national, number.extension or "")
