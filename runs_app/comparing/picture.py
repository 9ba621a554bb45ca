"""A chart and its table, which say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runs_app.charts import Figure

NO_VALUE: Final = "no value"


@dataclass(frozen=True)
class Number:
    """A cell: what is read, and the value that the figure draws."""

    text: str
    value: float | None


def number(value: float | None, text: Callable[[float], str]) -> Number:
    return Number(NO_VALUE, None) if value is None else Number(text(value), value)


@dataclass(frozen=True)
class Line:
    name: str
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Picture:
    """`key` is the chart's name on the page and of the files it is saved to."""

    key: str
    title: str
    figure: Figure
    head: tuple[str, ...]
    lines: tuple[Line, ...]
    foot: Line | None = None
    note: str = ""
    wide: bool = False
