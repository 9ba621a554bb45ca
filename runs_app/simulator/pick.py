"""Choosing among the things that a text names; each of them is given away once."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import cast

from runs_app.simulator.entities import Kind, Mention, entities, first_and_last
from runs_app.simulator.tool_fit import meanings, split_words, stem
from runs_app.simulator.wire import Json

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_PEOPLE = {"party", "people", "guests", "guest", "persons", "person", "seats", "diners", "adults", "size", "covers"}
_MONEY = {"amount", "price", "cost", "budget", "fee", "sum"}
_ID = {"id", "code", "reference", "order", "tracking", "card", "account", "member", "booking", "reservation"}


class Picker:
    """Picks mentions of one call. `corrected`: of a correction take what holds in the end, else what was said first."""

    def __init__(self, reference_date: dt.date | None, corrected: bool) -> None:
        self._today, self._corrected = reference_date, corrected
        self._used: set[tuple[str, int]] = set()

    def mention(self, text: str, kind: str, *, last: bool = False) -> Json:
        """The value of the first mention of `kind` that is still free (with `last`, the last one)."""
        found = self._free(text, cast(Kind, kind))
        if not found:
            return None
        return _value(self._take(text, found[-1] if last else found[0]))

    def moment(self, text: str) -> Json:
        """A date with its time, "2027-05-15T18:00:00"; the date alone when no time was said."""
        day = self.mention(text, "date")
        if day is None:
            return None
        at = self.mention(text, "time")
        return f"{day}T{at}:00" if at else day

    def amount(self, text: str, name: str, schema: dict[str, Json], *, bare: bool) -> Json:
        """A number for a parameter: by its unit, as people, as money, as an id; `bare`: any number that is free."""
        if bare:
            return self.mention(text, "number")
        words = set(split_words(name))
        about = meanings(f"{name} {schema.get('description', '')}") | {stem(word) for word in words}
        counted = [one for one in self._free(text, "quantity") if stem(one.unit) in about]
        if counted:
            return _value(self._take(text, counted[0]))
        kinds: tuple[Kind, ...] = ("quantity", "count")
        if words & _PEOPLE:
            kinds = ("count",)
        elif words & _MONEY:
            kinds = ("money",)
        elif words & _ID:
            kinds = ("id",)
        return next((value for kind in kinds if (value := self.mention(text, kind)) is not None), None)

    def _free(self, text: str, kind: Kind) -> list[Mention]:
        """Mentions of a kind that hold, corrections settled, without those already given away."""
        pair = _first_and_last(text, kind, self._today)
        settled = pair[1 if self._corrected else 0] if pair else None
        if pair and pair[0] != pair[1]:
            found = [settled]
        else:
            found = [one for one in _entities(text, self._today) if one.kind == kind and not one.negated]
        return [one for one in found if one is not None and (text, one.start) not in self._used]

    def _take(self, text: str, mention: Mention) -> Mention:
        self._used.add((text, mention.start))
        return mention


# A call asks for the same text once per parameter, and reading it takes milliseconds.
@lru_cache(maxsize=256)
def _entities(text: str, today: dt.date | None) -> tuple[Mention, ...]:
    return entities(text, reference_date=today)


@lru_cache(maxsize=1024)
def _first_and_last(text: str, kind: Kind, today: dt.date | None) -> tuple[Mention, Mention] | None:
    return first_and_last(text, kind, reference_date=today)


def _value(mention: Mention) -> Json:
    """The value; a date that is not whole stays in the caller's words."""
    if mention.kind == "date" and not _ISO.fullmatch(str(mention.value)):
        return mention.text
    return mention.value
