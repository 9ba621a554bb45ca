"""Counts that servers tell of themselves. One that cannot be is not believed: it would spoil every sum it goes into."""

from __future__ import annotations

from typing import Final

MOST_TOKENS: Final = 10**9  # of one answer
MOST_SECONDS: Final = 24 * 3600.0  # of one session


def tokens_told(value: object) -> int | None:
    """A whole number of tokens, from none to MOST_TOKENS; else None."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= MOST_TOKENS else None  # type: ignore[operator, return-value]


def sum_told(before: int | None, more: int | None) -> int | None:
    """None where neither was told."""
    return before if more is None else more + (before or 0)


def seconds_told(value: object) -> float | None:
    """A length of a session, from nothing to MOST_SECONDS; else None, also for what is no number."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and 0 <= value <= MOST_SECONDS else None  # type: ignore[operator, return-value]
