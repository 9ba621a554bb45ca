"""Times of day in spoken and written English, as "HH:MM" in 24 hours.

Where neither morning nor evening was said: with a leading zero or from 13 on it is the 24-hour clock; 1 to 7 is taken
for the afternoon or evening, 8 to 12 as said, unless the sentence speaks of an evening (tonight, dinner, a table).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runs_app.simulator.number_words import UNITS, WORDS, number_of

_hours = "|".join(word for word, value in UNITS.items() if 1 <= value <= 12)
_hour = rf"(?:[01]?\d|2[0-4]|\b(?:{_hours}))"
_minute = rf"(?:[0-5]\d|(?:oh )?{WORDS})"
_half = (
    r"(?P<half>[ap]\.?\s?m\b\.?|(?:in the |at |this )?(?:morning|afternoon|evening|night)\b|tonight\b|noon\b|"
    r"o'?clock(?: (?:in the |at )?(?:morning|afternoon|evening|night)\b)?)"
)
_EVENING = re.compile(r"\b(?:tonight|evening|dinner|supper|night|table)\b", re.IGNORECASE)
_NOT_A_TIME = (
    r"(?!\s*(?:people|persons?|guests?|of us|adults?|days?|weeks?|nights?|hours?|minutes?|percent|dollars?|euros?|"
    r"(?:\w+ )?(?:street|avenue|road))\b)(?!\s*[%$€£])(?![-\d:/.]\d)"
)


@dataclass(frozen=True)
class Time:
    """A time of day in a text: "HH:MM", where it stands, and whether its half of the day was a guess."""

    value: str
    start: int
    end: int
    guessed: bool = False


def times(text: str) -> Iterator[Time]:
    """The times of `text`, kind by kind; spans may overlap, the earlier one is the better reading."""
    evening = bool(_EVENING.search(text))
    for pattern, read in _PATTERNS:
        for found in pattern.finditer(text):
            clock = read(found)
            if clock is not None:
                yield _time(found, *clock, evening)


def bare_time(text: str, start: int, *, evening: bool) -> Time | None:
    """The time that stands at `start` without its half of the day, such as "seven" or "seven thirty"."""
    found = _BARE.match(text, start)
    clock = _bare(found) if found else None
    if found is None or clock is None:
        return None
    hour, minute, half = clock
    return _time(found, hour, minute, half or ("p" if evening else ""), evening)


def _hour_of_day(hour: int, evening: bool = False) -> int:
    """An hour said without its half of the day, by the rule above."""
    if 1 <= hour <= 7 or (evening and 8 <= hour <= 11):
        return hour + 12
    return hour


_Clock = tuple[int, int, str]  # hour, minute, the half of the day in words ("" when not said)


def _time(found: re.Match[str], hour: int, minute: int, half: str, evening: bool) -> Time:
    guessed = not half
    if half == "a":
        hour %= 12
    elif half == "p":
        hour = hour % 12 + 12 if hour <= 12 else hour
    elif half != "24":
        hour = _hour_of_day(hour, evening)
    return Time(f"{hour % 24:02}:{minute:02}", *found.span(), guessed=guessed)


def _half_of(said: str | None, hour: int) -> str:
    """ "a", "p", "24" for the 24-hour clock, or "" when it was not said."""
    said = (said or "").lower()
    if "morning" in said or said.startswith("a"):
        return "a"
    if "night" in said and hour == 12:
        return "a"
    if said.startswith("p") or re.search(r"afternoon|evening|night|noon", said):
        return "p"
    return "24" if hour > 12 or hour == 0 else ""


def _value(text: str) -> int:
    text = text.strip().lower().removeprefix("oh ")
    return int(text) if text.isdecimal() else number_of(text)


def _digital(found: re.Match[str]) -> _Clock | None:
    hour, minute = int(found["hour"]), int(found["minute"])
    if hour > 24:
        return None
    half = _half_of(found["half"], hour)
    return hour, minute, half or ("24" if found["hour"].startswith("0") else "")


def _hour_with_half(found: re.Match[str]) -> _Clock | None:
    hour, minute = _value(found["hour"]), _value(found["minute"] or "0")
    return (hour, minute, _half_of(found["half"], hour)) if minute < 60 else None


def _past_or_to(found: re.Match[str]) -> _Clock | None:
    said, hour = found["minutes"].lower().split(" minute")[0], _value(found["hour"])
    minute = {"half": 30, "a quarter": 15, "quarter": 15}.get(said)
    minute = _value(said) if minute is None else minute
    if not 0 < minute < 60:
        return None
    half = _half_of(found["half"], hour)
    if found["side"].lower() in ("to", "before"):
        hour, minute = (hour - 1) or 12, 60 - minute
    return hour, minute, half


def _bare(found: re.Match[str]) -> _Clock | None:
    hour, minute = _value(found["hour"]), _value(found["minute"] or "0")
    return (hour, minute, _half_of(None, hour)) if minute < 60 else None


def _range_start(found: re.Match[str]) -> _Clock | None:
    """The 5 of "5 to 11 p.m." shares its half of the day; the 11 of "11 to 2 p.m." lies in the other one."""
    hour, last = _value(found["hour"]), _value(found["last"])
    half = _half_of(found["half"], hour)
    crosses_noon = half == "p" and last < hour < 12
    return hour, 0, "a" if crosses_noon else half


def _named(found: re.Match[str]) -> _Clock | None:
    return (0, 0, "24") if found.group().lower() == "midnight" else (12, 0, "p")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_BARE = _compile(rf"(?P<hour>{_hour})(?: (?P<minute>{_minute}))?\b{_NOT_A_TIME}")

_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Clock | None]], ...] = (
    (
        _compile(rf"(?<![\d:])(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?::\d\d)?(?!\d)(?:\s*{_half})?"),
        _digital,
    ),
    (
        # "5 to 11" in figures, or after "from", is a range; "five to eleven" is a time.
        _compile(
            rf"(?<!from )(?<!between )\b(?P<minutes>half|(?:a )?quarter|{WORDS}(?: minutes?)?|[0-5]?\d minutes?) "
            rf"(?P<side>past|after|to|before) (?P<hour>{_hour})\b(?:\s*{_half})?"
        ),
        _past_or_to,
    ),
    (_compile(rf"(?<![\d:.-])(?P<hour>{_hour})(?:[ .](?P<minute>{_minute}))?\s*{_half}"), _hour_with_half),
    (
        _compile(rf"(?<![\d:.-])\b(?P<hour>{_hour})\s*(?=(?:to|until|till|and|-|–)\s*(?P<last>{_hour})\s*{_half})"),
        _range_start,
    ),
    (_compile(r"\b(?:noon|midday|midnight)\b"), _named),
    (_compile(rf"(?<=\bat )(?P<hour>{_hour})(?: (?P<minute>{_minute}))?\b{_NOT_A_TIME}"), _bare),
    (_compile(rf"(?<=\baround )(?P<hour>{_hour})(?: (?P<minute>{_minute}))?\b{_NOT_A_TIME}"), _bare),
)
