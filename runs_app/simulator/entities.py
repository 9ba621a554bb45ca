"""What a sentence names: dates, times, people, names, ids, phone numbers, amounts, and what the speaker corrected.

Pure functions, shared by the clerk (what did the caller ask for?) and the simulated judge (does the reply say what
it should?). English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Literal

from runs_app.simulator.calendar_words import day_of_month, days
from runs_app.simulator.clock_words import bare_time, times
from runs_app.simulator.entity_patterns import Found, bare_name, claims_in
from runs_app.simulator.number_words import NUMBER, ORDINAL, number_of, ordinal_of

Kind = Literal["date", "time", "count", "name", "id", "phone", "email", "money", "quantity", "number"]

_NEGATION = re.compile(
    r"\b(?:not|never|rather than|instead of|isn[’']t|no longer)"
    r"(?:,? (?:on|for|at|the|under|by|in|to|a|an|it|is|party|table|of|name|as|name))*,?\s*$",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:sorry|actually|no,? wait|wait|i mean|i meant|make (?:that|it)|correction|or rather|rather|instead|"
    r"scratch that|oops|let[’']s say|change (?:that|it) to|on second thoughts?|better|my mistake|excuse me|pardon)\b"
    r"|(?:^|[,.;—–-]\s*)no\b[,.]?",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(rf"{_CUE.pattern}|\bnot\b", re.IGNORECASE)
_FILLER = re.compile(
    r"(?:[\s,.;:—–-]|\b(?:on|for|at|the|it[’']s|its|to|under|that|should be|is|a|party of|make it|i mean)\b)*",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(rf"\bthe (?P<day>{ORDINAL})(?! (?:time|table|floor|one|name)\b)", re.IGNORECASE)
_BARE_NUMBER = re.compile(rf"{ORDINAL}|{NUMBER}", re.IGNORECASE)


@dataclass(frozen=True)
class Mention:
    """One thing that a text names.

    value: date "2027-08-06" (parts never said are left out: "--08-06", see calendar_words), time "HH:MM", count and
    quantity an int, money and number an int or float, phone digits with a leading + if said, id as "R-100".
    unit: "people" for a count, the noun of a quantity ("night"), the currency of money ("USD").
    negated: "not on August 7". guessed: the half of the day of a time was not said.
    """

    kind: Kind
    value: str | int | float
    text: str
    start: int
    end: int
    unit: str = ""
    negated: bool = False
    guessed: bool = False


@dataclass(frozen=True)
class Correction:
    """The speaker said `first` and then took it back for `last`; both are of one kind."""

    kind: Kind
    first: Mention
    last: Mention


def entities(text: str, *, reference_date: date | None = None) -> tuple[Mention, ...]:
    """Everything that `text` names, in order, without overlaps.

    `reference_date` is today for "tomorrow", "next Monday", "the 6th" and for the year of "August 6".
    """
    taken = _Taken(text)
    taken.take(claims_in(text, "first"))
    taken.take(Found("date", day.value, day.start, day.end) for day in days(text, reference_date))
    taken.take(Found("time", at.value, at.start, at.end, guessed=at.guessed) for at in times(text))
    _take_bare_days(text, taken, reference_date)
    _take_corrected(text, taken, reference_date)
    taken.take(claims_in(text, "rest"))
    return taken.mentions()


def values(text: str, kind: Kind, *, reference_date: date | None = None) -> tuple[str | int | float, ...]:
    """The values of one kind in order of speaking; negated ones are left out."""
    found = entities(text, reference_date=reference_date)
    return tuple(each.value for each in found if each.kind == kind and not each.negated)


def corrections(text: str, *, reference_date: date | None = None) -> tuple[Correction, ...]:
    """What the speaker took back: "August 7, sorry, August 6", "Nora, not Leo", "not two but three".

    A chain of corrections is one: the first value said and the last one.
    """
    found = entities(text, reference_date=reference_date)
    chains: dict[Kind, Correction] = {}
    for kind in dict.fromkeys(each.kind for each in found):
        same = [each for each in found if each.kind == kind]
        for before, after in pairwise(same):
            pair = _corrected(text, before, after)
            if pair is None or pair[0].value == pair[1].value:
                continue
            start = chains[kind].first if kind in chains else pair[0]
            chains[kind] = Correction(kind, start, pair[1])
    return tuple(chains.values())


def first_and_last(text: str, kind: Kind, *, reference_date: date | None = None) -> tuple[Mention, Mention] | None:
    """What was said of one kind first and what holds in the end; the same twice when nothing was taken back."""
    for correction in corrections(text, reference_date=reference_date):
        if correction.kind == kind:
            return correction.first, correction.last
    found = [each for each in entities(text, reference_date=reference_date) if each.kind == kind]
    standing = next((each for each in found if not each.negated), None)
    return (standing, standing) if standing else None


class _Taken:
    """Findings that do not overlap: whoever comes first keeps its words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.found: list[Found] = []

    def take(self, findings: Iterable[Found]) -> None:
        for each in findings:
            if all(each.end <= other.start or each.start >= other.end for other in self.found):
                self.found.append(each)

    def before(self, position: int, kinds: tuple[str, ...]) -> Found | None:
        earlier = [each for each in self.found if each.end <= position and each.kind in kinds]
        return max(earlier, key=lambda each: each.end, default=None)

    def mentions(self) -> tuple[Mention, ...]:
        return tuple(
            Mention(
                kind=each.kind,  # type: ignore[arg-type]  # patterns name only kinds of this module
                value=each.value,
                text=self._text[each.start : each.end],
                start=each.start,
                end=each.end,
                unit=each.unit,
                negated=bool(_NEGATION.search(self._text[: each.start])),
                guessed=each.guessed,
            )
            for each in sorted(self.found, key=lambda each: each.start)
        )


def _take_bare_days(text: str, taken: _Taken, reference_date: date | None) -> None:
    for found in _BARE_DAY.finditer(text):
        near = taken.before(found.start(), ("date",))
        value = day_of_month(ordinal_of(found["day"]), str(near.value) if near else None, reference_date)
        if value is not None:
            taken.take([Found("date", value, *found.span())])


def _take_corrected(text: str, taken: _Taken, reference_date: date | None) -> None:
    """Bare words right after a correction have the kind of what they correct: "at six, sorry, seven"."""
    taken.take(_names_in(text))
    for cue in _TAKES_BACK.finditer(text):
        filler = _FILLER.match(text, cue.end())
        start = filler.end() if filler else cue.end()
        if name := bare_name(text, start):
            if taken.before(cue.start(), ("name",)):
                taken.take([name])
            continue
        number = _BARE_NUMBER.match(text, start)
        near = taken.before(cue.start(), ("date", "time", "count", "quantity", "id"))
        if number and near and (read := _like(near, number, reference_date)):
            taken.take([read])


def _names_in(text: str) -> Iterator[Found]:
    return (each for each in claims_in(text, "rest") if each.kind in ("name", "quantity"))


def _like(near: Found, number: re.Match[str], reference_date: date | None) -> Found | None:
    """A bare number read as the kind of the mention that it corrects."""
    try:
        value = number_of(number.group())
    except ValueError:
        value = ordinal_of(number.group())
    if near.kind == "date":
        day = day_of_month(value, str(near.value), reference_date)
        return Found("date", day, *number.span()) if day else None
    if near.kind == "time":
        at = bare_time(number.string, number.start(), evening=str(near.value) >= "12:00")
        return Found("time", at.value, at.start, at.end, guessed=True) if at else None
    if near.kind == "id":
        head = str(near.value).rpartition("-")[0]
        return Found("id", f"{head}-{value}" if head else str(value), *number.span())
    return replace(near, value=value, start=number.start(), end=number.end())


def _corrected(text: str, before: Mention, after: Mention) -> tuple[Mention, Mention] | None:
    """(taken back, holds) if one of two neighbours corrects the other."""
    between = text[before.end : after.start]
    if re.search(r"[?]", between):
        return None
    if before.negated and not after.negated:
        return before, after
    if after.negated and not before.negated:
        return after, before
    return (before, after) if _CUE.search(between) else None
