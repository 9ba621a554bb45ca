"""What kind of thing a parameter wants, and how such a thing is said."""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

from runs_app.simulator.tool_fit import split_words
from runs_app.simulator.wire import Json

Kind = Literal[
    "choice", "date", "time", "moment", "count", "flag", "phone", "email", "id", "name", "list", "group", "text"
]

_DATE = {"date", "day", "when", "checkin", "checkout", "arrival", "departure", "deadline", "due", "dob", "birthday"}
_TIME = {"time", "hour", "clock"}
_MOMENT = {"datetime", "timestamp", "moment"}
_PHONE = {"phone", "telephone", "mobile", "cell"}
_EMAIL = {"email", "mail"}
_ID = {"id", "code", "reference", "ref", "tracking", "barcode", "isbn", "card", "account", "number", "no"}
_NAME = {"name", "guest", "customer", "caller", "patron", "person", "member", "client", "recipient", "surname", "who"}
_NOT_PERSON = {"file", "city", "street", "company", "product", "tool", "book", "title", "restaurant", "branch", "store"}
_COUNT = {"count", "size", "quantity", "amount", "people", "guests", "persons", "seats", "copies", "nights", "adults"}

_FORMATS: dict[str, Kind] = {"date": "date", "time": "time", "date-time": "moment", "email": "email", "phone": "phone"}
_TYPES: dict[str, Kind] = {"integer": "count", "number": "count", "boolean": "flag", "array": "list", "object": "group"}


def kind_of(name: str, schema: dict[str, Json]) -> Kind:
    """The kind of parameter `name`; its schema decides before its name, its name before its description."""
    if schema.get("enum"):
        return "choice"
    if (found := _FORMATS.get(str(schema.get("format")))) is not None:
        return found
    types = schema.get("type")
    for one in types if isinstance(types, list) else [types]:
        if one in _TYPES:
            return _TYPES[one]
    return _kind_by_words(set(split_words(name))) or _kind_by_description(schema) or "text"


def _kind_by_words(words: set[str]) -> Kind | None:
    if words & _MOMENT or (words & _DATE and words & _TIME):
        return "moment"
    tests: tuple[tuple[Kind, set[str]], ...] = (
        ("phone", _PHONE),
        ("email", _EMAIL),
        ("date", _DATE),
        ("time", _TIME),
        ("count", _COUNT),
        ("id", _ID),
    )
    for kind, known in tests:
        if words & known:
            return kind
    return "name" if words & _NAME and not words & _NOT_PERSON else None


def _kind_by_description(schema: dict[str, Json]) -> Kind | None:
    description = str(schema.get("description", ""))
    if re.search(r"\bYYYY-MM-DD\b|\bISO date\b", description, re.IGNORECASE):
        return "date"
    if re.search(r"\bHH:MM\b|\btime of day\b", description, re.IGNORECASE):
        return "time"
    # The first words name the thing; what follows explains it.
    return _kind_by_words(set(split_words(description)[:4]))


def label(name: str) -> str:
    """`party_size` as words: "party size"."""
    return " ".join(split_words(name))


def phrase(name: str, value: Json) -> str:
    """A named value as a part of a sentence: "on June 12", "for Maya", "for 4 people", "parcel id PX-1"."""
    said, words = say_value(value), set(split_words(name))
    kind = _kind_by_words(words)
    if kind == "date":
        return f"on {said}"
    if kind == "time":
        return f"at {said}"
    if kind == "name" and isinstance(value, str):
        return f"for {said}"
    if kind == "id" and isinstance(value, str):
        return f"number {said}"
    if words & {"party", "guests", "people", "persons"} and isinstance(value, int):
        return f"for {said} {'person' if value == 1 else 'people'}"
    return f"{label(name)} {said}"


def say_value(value: Json) -> str:
    """A value as one says it: dates as "June 12", times as "7 p.m.", lists with "and"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        said = [say_value(one) for one in value]
        return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said) or "none"
    if isinstance(value, dict):
        return ", ".join(phrase(name, one) for name, one in value.items() if one is not None)
    if value is None:
        return "nothing"
    text = re.sub(r"\b\d{4}-\d{2}-\d{2}\b", lambda found: _say_date(found.group()), str(value))
    return re.sub(r"(?<![\d:])([01]\d|2[0-3]):([0-5]\d)(?![\d:])", _say_time, text)


def _say_date(text: str) -> str:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        return text
    return f"{day:%B} {day.day}"


def _say_time(found: re.Match[str]) -> str:
    hour, minute = int(found.group(1)), found.group(2)
    return f"{hour % 12 or 12}{'' if minute == '00' else ':' + minute} {'p.m.' if hour >= 12 else 'a.m.'}"
