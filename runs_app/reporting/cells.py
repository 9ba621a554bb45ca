"""Cells of a CSV that a spreadsheet may open."""

from __future__ import annotations

Cell = str | float | int | None

# a spreadsheet takes such a cell for a formula
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe(cell: Cell) -> Cell:
    """Text that a spreadsheet would run is marked as text; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
