"""An expected value as three cells of a form: how it is matched, the value, and an option of the matcher.

What the cells cannot hold (a list inside a list of choices, text with line breaks) is shown as JSON, so that reading
what is shown always gives the value again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scenarios_app.forms.hints import TEXT_ALONE
from scenarios_app.presentation import inline_json
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import Json, canonical, load
from scenarios_app.spec.matchers import is_operator

PLAIN, AS_JSON, UNCHECKED = "is", "json", ""

MATCHERS = (
    (UNCHECKED, "not checked"),
    (PLAIN, "is"),
    ("$any_of", "is one of"),
    ("$exact", "is exactly"),
    ("$text", "is the text"),
    ("$regex", "matches the pattern"),
    ("$approx", "is about"),
    ("$numeric_text", "is the number, also as text"),
    ("$date", "is the date"),
    ("$time", "is the time"),
    ("$phone", "is the phone number"),
    ("$unordered", "has the entries, in any order"),
    ("$present", "is there"),
    ("$absent", "is not there"),
    ("$not", "is not"),
    (AS_JSON, "is, as JSON"),
)
OPTIONS = {"$approx": "tolerance", "$phone": "region", "$text": "nfkc"}


@dataclass(frozen=True)
class Cells:
    match: str
    value: str = ""
    option: str = ""


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: true is not 1, and neither is 1.0 another number than 1."""
    return canonical(one) == canonical(other)


def scalar(text: str, kind: str) -> Json:
    """The value that a person means: text where the schema wants text or nothing else fits, else JSON.
    Raises SpecError for what begins like JSON and is none."""
    stripped = text.strip()
    if stripped.startswith(("{", "[", '"')):
        return load(stripped)
    if kind == TEXT_ALONE:
        return text
    try:
        return load(stripped)
    except SpecError:
        return text


def _shown(value: Json, kind: str) -> str:
    if isinstance(value, str):
        try:
            if scalar(value, kind) == value:
                return value
        except SpecError:
            pass
    return inline_json(value)


def _entries(text: str, kind: str) -> list[Json]:
    if text.lstrip().startswith("["):
        value = load(text)
        return value if isinstance(value, list) else [value]
    return [scalar(part.strip(), kind) for part in text.split(",") if part.strip()]


def _shown_entries(values: Json, kind: str) -> str:
    if isinstance(values, list) and not any(isinstance(value, list | dict) for value in values):
        text = ", ".join(_shown(value, kind) for value in values)
        if values and _reads(lambda: _entries(text, kind), values):
            return text
    return inline_json(values)


def _reads(read: Callable[[], Json], value: Json) -> bool:
    try:
        return same(read(), value)
    except SpecError:
        return False


_LISTS = ("$any_of", "$unordered")
_WORDS = ("$regex", "$date", "$time", "$phone", "$text")
_BARE = ("$present", "$absent")


def read_cells(cells: Cells, kind: str) -> Json:
    """The expected value. Raises SpecError for a text that is no JSON where it must be."""
    match, text = cells.match or PLAIN, cells.value
    if match == PLAIN:
        return scalar(text, kind)
    if match == AS_JSON:
        return load(text)
    return {match: _operand(match, text, kind), **_option(match, cells.option.strip())}


def _operand(match: str, text: str, kind: str) -> Json:
    if match in _BARE:
        return True
    if match in _LISTS:
        return _entries(text, kind)
    if match in _WORDS:
        return text if match == "$regex" else text.strip()
    return scalar(text, kind if match in ("$exact", "$not") else "")


def _option(match: str, text: str) -> dict[str, Json]:
    return {OPTIONS[match]: scalar(text, "")} if match in OPTIONS and text else {}


def cells_of(value: Json, kind: str) -> Cells:
    """Cells that `read_cells` reads as this very value."""
    cells = _operator_cells(value, kind) if is_operator(value) else Cells(PLAIN, _shown(value, kind))
    if _is_one_line(cells.value + cells.option) and _reads(lambda: read_cells(cells, kind), value):
        return cells
    return Cells(AS_JSON, inline_json(value))


def plain_cells(value: Json) -> Cells:
    """The value itself, where no matcher can be chosen: read as `is`, whatever it looks like."""
    shown = _shown(value, "")
    return Cells(PLAIN, shown if _is_one_line(shown) else inline_json(value))


def _is_one_line(text: str) -> bool:
    """Whether a one-line input keeps it."""
    return "\n" not in text and "\r" not in text


def _operator_cells(value: dict[str, Json], kind: str) -> Cells:
    match = next(key for key in value if key.startswith("$"))
    if match not in dict(MATCHERS):
        return Cells(AS_JSON)
    operand = value[match]
    if match in _BARE:
        text = ""
    elif match in _LISTS:
        text = _shown_entries(operand, kind)
    elif match in _WORDS:
        text = operand if isinstance(operand, str) else inline_json(operand)
    else:
        text = _shown(operand, kind if match in ("$exact", "$not") else "")
    option = value.get(OPTIONS.get(match, ""))
    return Cells(match, text, "" if option is None else _shown(option, ""))
