"""The default rules: when two plain JSON values say the same thing, and in which words they differ."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import Any, Final

Json = Any

RELATIVE_TOLERANCE: Final = 1e-9

_QUOTES_AND_DASHES: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


class Absent:
    """The place of a value that is not there. Null is a value; this is none."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


@dataclass(frozen=True)
class Mismatch:
    """One place where the actual value is not what was expected.

    `path` is relative to the value that was matched ("" is the value itself, `guests[0].name` a leaf).
    `actual_absent` tells a missing value from null.
    """

    path: str
    expected: Json
    actual: Json
    reason: str
    actual_absent: bool = False


def mismatch(path: str, expected: Json, actual: Json, reason: str) -> tuple[Mismatch, ...]:
    if actual is ABSENT:
        return (Mismatch(path, expected, None, reason, actual_absent=True),)
    return (Mismatch(path, expected, actual, reason),)


def kind(value: Json) -> str:
    """The JSON type in the words a person uses; "nothing" when the value is not there."""
    if value is ABSENT:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, list | tuple) else "object"


def wrong_kind(wanted: str, actual: Json) -> str:
    return "missing" if actual is ABSENT else f"{kind(actual)} where {wanted} expected"


def fold_text(text: str, *, nfkc: bool = False) -> str:
    """The default reading of text: composed, quotes and dashes made straight, one space between words, no case.

    Punctuation stays: `R-100` is not `R100`.
    """
    composed = unicodedata.normalize("NFKC" if nfkc else "NFC", text).translate(_QUOTES_AND_DASHES)
    # Folding case can take a character apart again, hence composing twice.
    return unicodedata.normalize("NFC", " ".join(composed.split()).casefold())


def same_number(expected: float, actual: float) -> bool:
    """Whole numbers exactly, whatever their size; others within 1e-9 of the larger. NaN equals nothing."""
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return False
    if isinstance(expected, int) or isinstance(actual, int):
        exact = expected == actual
        return exact if float(expected).is_integer() and float(actual).is_integer() else _close(expected, actual)
    return _close(expected, actual)


def _close(expected: float, actual: float) -> bool:
    return math.isclose(expected, actual, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)


def scalar_difference(expected: Json, actual: Json) -> str | None:
    """Why `actual` is not the plain scalar `expected`, or None when it is."""
    wanted = kind(expected)
    if kind(actual) != wanted:
        return wrong_kind(wanted, actual)
    if wanted == "string":
        return None if fold_text(expected) == fold_text(actual) else "different text"
    if wanted == "number":
        return None if same_number(expected, actual) else "different number"
    return None if expected == actual else f"different {wanted}"


def identical(expected: Json, actual: Json) -> bool:
    """The same JSON value, code point by code point: no folding, no spare keys, order of lists kept.

    JSON knows one kind of number, so 3 and 3.0 are identical.
    """
    if kind(expected) != kind(actual):
        return False
    if isinstance(expected, dict):
        return expected.keys() == actual.keys() and all(identical(v, actual[k]) for k, v in expected.items())
    if isinstance(expected, list | tuple):
        return len(expected) == len(actual) and all(map(identical, expected, actual))
    return bool(expected == actual)
