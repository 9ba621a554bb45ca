"""Numbers written in digits: in addresses, forms and labels such as NAME@3."""

from __future__ import annotations

MOST_DIGITS = 18  # every number of so many fits into a database's


def number_of(text: str) -> int | None:
    """The number that a text is, or None when it is none, or one that no database holds."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
