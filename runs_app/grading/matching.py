"""Matching of arguments and state: what was expected against what came, place by place.

A plain value follows the default rules of `plain_values`; an object matches when every expected key does, a list
when length and order do. An operator object (`{"$any_of": [...]}`) follows its operator, at any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import regex

from runs_app.grading.plain_values import (
    ABSENT,
    Json,
    Mismatch,
    fold_text,
    identical,
    kind,
    mismatch,
    same_number,
    scalar_difference,
    wrong_kind,
)
from runs_app.grading.written_forms import Unreadable, read_date, read_number, read_phone, read_time
from scenarios_app.spec.matchers import operator_of

# A pattern that needs longer than this on one value is the author's trap, not the agent's answer.
REGEX_TIMEOUT_S: Final = 0.25

Mismatches = tuple[Mismatch, ...]


def match(expected: Json, actual: Json, path: str = "") -> Mismatches:
    """Every place where `actual` is not what `expected` asks for; empty when it matches.

    `actual` may be `ABSENT`, which only `$absent`, `$not` and `$present: false` accept.
    """
    operator = operator_of(expected)
    if operator is not None:
        name, argument, options = operator
        return _OPERATORS[name](argument, options, actual, path, expected)
    if isinstance(expected, dict):
        return _match_object(expected, actual, path)
    if isinstance(expected, list | tuple):
        return _match_list(expected, actual, path)
    reason = scalar_difference(expected, actual)
    return mismatch(path, expected, actual, reason) if reason else ()


def matches(expected: Json, actual: Json) -> bool:
    return not match(expected, actual)


def _match_object(expected: dict[str, Json], actual: Json, path: str) -> Mismatches:
    if not isinstance(actual, dict):
        return mismatch(path, expected, actual, wrong_kind("object", actual))
    found: list[Mismatch] = []
    for key, value in expected.items():
        found += match(value, actual.get(key, ABSENT), join_path(path, key))
    return tuple(found)


def _match_list(expected: list[Json] | tuple[Json, ...], actual: Json, path: str) -> Mismatches:
    if not isinstance(actual, list | tuple):
        return mismatch(path, expected, actual, wrong_kind("list", actual))
    if len(expected) != len(actual):
        return mismatch(path, expected, actual, _other_length(len(expected), len(actual)))
    found: list[Mismatch] = []
    for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        found += match(wanted, got, f"{path}[{index}]")
    return tuple(found)


def _other_length(expected: int, actual: int) -> str:
    return f"{actual} {'entry' if actual == 1 else 'entries'} where {expected} expected"


def join_path(path: str, key: str) -> str:
    # A key with a dot, a bracket or a blank in it is quoted, so that a path reads in one way only.
    if key and regex.fullmatch(r"[^\s.\[\]\"]+", key):
        return f"{path}.{key}" if path else key
    return f"{path}[{_quoted(key)}]"


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# Operators: (argument, options, actual, path, the whole expected value) -> mismatches.
Operator = Callable[[Json, dict[str, Any], Json, str, Json], Mismatches]


def _any_of(choices: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if any(matches(choice, actual) for choice in choices):
        return ()
    if actual is ABSENT:
        return mismatch(path, expected, actual, "missing")
    return mismatch(path, expected, actual, f"none of the {len(choices)} accepted values")


def _regex(pattern: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if not isinstance(actual, str):
        return mismatch(path, expected, actual, wrong_kind("string", actual))
    try:
        found = regex.search(pattern, actual, timeout=REGEX_TIMEOUT_S)
    except TimeoutError:
        return mismatch(path, expected, actual, "the pattern took too long on this value")
    except regex.error as error:
        return mismatch(path, expected, actual, f"the pattern cannot be read: {error}")
    return () if found else mismatch(path, expected, actual, "does not fit the pattern")


def _exact(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if identical(wanted, actual):
        return ()
    reason = "not exactly the same" if kind(wanted) == kind(actual) else wrong_kind(kind(wanted), actual)
    return mismatch(path, expected, actual, reason)


def _approx(wanted: Json, options: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if kind(actual) != "number":
        return mismatch(path, expected, actual, wrong_kind("number", actual))
    tolerance = options.get("tolerance", 0)
    # 0.1 + 0.2 is at the edge of 0.3 +- 0: the edge itself is compared with the default tolerance of numbers.
    distance = abs(wanted - actual)
    if distance <= tolerance or same_number(wanted, actual) or same_number(float(tolerance), float(distance)):
        return ()
    return mismatch(path, expected, actual, f"off by {distance:.6g}, more than {tolerance:g}")


def _unordered(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if not isinstance(actual, list | tuple):
        return mismatch(path, expected, actual, wrong_kind("list", actual))
    if len(wanted) != len(actual):
        return mismatch(path, expected, actual, _other_length(len(wanted), len(actual)))
    left_over = _unpaired(wanted, actual)
    if left_over is None:
        return ()
    return mismatch(path, expected, actual, f"no entry fits expected entry {left_over + 1}, in any order")


def _unpaired(wanted: Json, actual: Json) -> int | None:
    """The first wanted entry that a maximum pairing leaves alone (augmenting paths), or None."""
    fits = [[j for j, got in enumerate(actual) if matches(entry, got)] for entry in wanted]
    owner: dict[int, int] = {}

    def place(entry: int, seen: set[int]) -> bool:
        for spot in fits[entry]:
            if spot in seen:
                continue
            seen.add(spot)
            if spot not in owner or place(owner[spot], seen):
                owner[spot] = entry
                return True
        return False

    for entry in range(len(wanted)):
        if not place(entry, set()):
            return entry
    return None


def _numeric_text(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if kind(actual) not in ("number", "string"):
        return mismatch(path, expected, actual, wrong_kind("number", actual))
    try:
        same = _same_written_number(wanted, actual)
    except Unreadable as error:
        return mismatch(path, expected, actual, str(error))
    return () if same else mismatch(path, expected, actual, "different number")


def _same_written_number(wanted: str | float, actual: str | float) -> bool:
    if not isinstance(wanted, str) and not isinstance(actual, str):
        return same_number(wanted, actual)
    if isinstance(wanted, float) or isinstance(actual, float):
        return same_number(float(read_number(str(wanted))), float(read_number(str(actual))))
    # Decimals, because a text can hold an integer that no float holds.
    return read_number(str(wanted)) == read_number(str(actual))


def _date(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    return _written(read_date, wanted, actual, path, expected, "different date")


def _time(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    return _written(read_time, wanted, actual, path, expected, "different time")


def _phone(wanted: Json, options: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    region = options.get("region")
    return _written(lambda text: read_phone(text, region), wanted, actual, path, expected, "different phone number")


def _written(
    read: Callable[[str], object], wanted: Json, actual: Json, path: str, expected: Json, reason: str
) -> Mismatches:
    if not isinstance(actual, str):
        return mismatch(path, expected, actual, wrong_kind("string", actual))
    try:
        same = read(wanted) == read(actual)
    except Unreadable as error:
        return mismatch(path, expected, actual, str(error))
    return () if same else mismatch(path, expected, actual, reason)


def _present(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    return _presence(bool(wanted), actual, path, expected)


def _absent(wanted: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    return _presence(not wanted, actual, path, expected)


def _presence(wanted: bool, actual: Json, path: str, expected: Json) -> Mismatches:
    if wanted == (actual is not ABSENT):
        return ()
    return mismatch(path, expected, actual, "missing" if wanted else "there, but must be absent")


def _not(inner: Json, _: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    return () if match(inner, actual) else mismatch(path, expected, actual, "matches what it must not match")


def _text(wanted: Json, options: dict[str, Any], actual: Json, path: str, expected: Json) -> Mismatches:
    if not isinstance(actual, str):
        return mismatch(path, expected, actual, wrong_kind("string", actual))
    nfkc = bool(options.get("nfkc", False))
    same = fold_text(wanted, nfkc=nfkc) == fold_text(actual, nfkc=nfkc)
    return () if same else mismatch(path, expected, actual, "different text")


_OPERATORS: Final[dict[str, Operator]] = {
    "$any_of": _any_of,
    "$regex": _regex,
    "$exact": _exact,
    "$approx": _approx,
    "$unordered": _unordered,
    "$numeric_text": _numeric_text,
    "$date": _date,
    "$time": _time,
    "$phone": _phone,
    "$present": _present,
    "$absent": _absent,
    "$not": _not,
    "$text": _text,
}
