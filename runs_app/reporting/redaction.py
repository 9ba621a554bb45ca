"""What exports leave out: the values of the fields that REDACT_FIELDS names. Nothing else is, and each says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings

from scenarios_app.spec.jsontext import dumps

Json = Any

REDACTED = "[redacted]"
SHORTEST = 3  # characters: shorter values are hidden in their fields alone, they are everywhere in any text
FRAGMENTS = ("response.function_call_arguments.delta",)  # pieces of a JSON text, in which no field can be told


class Redactor:
    """Hides what it was told to hide. A value is found in its field, in JSON inside a text, in the rows of a check
    that compare the field, and, once learnt, wherever a text spells it as the field does."""

    def __init__(self, fields: Iterable[str] = ()) -> None:
        self.fields = {name.strip().casefold() for name in fields if name.strip()}
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    @property
    def notice(self) -> str:
        """What an export says about itself."""
        if not self.fields:
            return "Not redacted: this holds what was said and done in the calls."
        named = ", ".join(sorted(self.fields))
        return f"Redacted are the fields {named} alone; all else that was said and done is here."

    def learn(self, *values: Json) -> None:
        """Takes note of the values of the named fields, so that texts without fields can be cleaned of them."""
        if self.fields:
            found = {text for value in values for text in self._secrets(value)}
            self._known |= {text for text in found if len(text) >= SHORTEST}
            self._pattern = None

    def json(self, value: Json) -> Json:
        """A copy without the values of the named fields."""
        if not self.fields:
            return value
        self.learn(value)
        return self._hidden(value)

    def text(self, text: str) -> str:
        """The text without what was learnt."""
        if not self._known:
            return text
        if self._pattern is None:
            words = sorted(self._known, key=len, reverse=True)
            spelt = "|".join(map(re.escape, words))
            self._pattern = re.compile(rf"(?<!\w)(?:{spelt})(?!\w)", re.IGNORECASE)
        return self._pattern.sub(REDACTED, text)

    def _secrets(self, value: Json, named: bool = False) -> Iterator[str]:
        if isinstance(value, dict):
            about = self._is_about(value)
            for key, item in value.items():
                yield from self._secrets(item, named or self._names(key) or (about and key in ("expected", "actual")))
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._secrets(item, named)
        elif isinstance(value, str):
            inner = _parsed(value)
            if inner is not None:
                yield from self._secrets(inner, named)
            elif named:
                yield value.strip()
        elif named and isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)

    def _hidden(self, value: Json) -> Json:
        if isinstance(value, dict):
            about = self._is_about(value)
            fragment = value.get("type") in FRAGMENTS
            return {key: self._entry(key, item, about, fragment) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(item) for item in value]
        if isinstance(value, str):
            inner = _parsed(value)
            return self.text(value) if inner is None else dumps(self._hidden(inner))
        return value

    def _entry(self, key: str, item: Json, about: bool, fragment: bool) -> Json:
        hidden = self._names(key) or (about and key in ("expected", "actual")) or (fragment and key == "delta")
        return REDACTED if hidden and item is not None else self._inside(item, fragment)

    def _inside(self, item: Json, fragment: bool) -> Json:
        if fragment and isinstance(item, dict):  # the payload of an event that is a fragment
            return {key: self._entry(key, value, False, True) for key, value in item.items()}
        return self._hidden(item)

    def _names(self, key: str) -> bool:
        return key.casefold() in self.fields

    def _is_about(self, value: dict[str, Json]) -> bool:
        """Whether this is a row that compares a named field: `path` names it."""
        path = value.get("path")
        return isinstance(path, str) and any(self._names(part) for part in re.split(r"[.\[\]]", path))


def _parsed(text: str) -> Json:
    """The object or list that the text is, or None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def site_redactor() -> Redactor:
    """As REDACT_FIELDS says."""
    return Redactor(settings.REDACT_FIELDS)
