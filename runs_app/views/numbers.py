"""Numbers in addresses."""

from __future__ import annotations


def number_of(text: str) -> int | None:
    """What a text names, or None when it is no number that a database holds."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
