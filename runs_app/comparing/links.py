"""The addresses that the page's controls lead to: the present one with something changed. State lives nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict

from runs_app.comparing.choice import COLUMNS, DENSITIES, VIEWS, Choice
from runs_app.comparing.loading import Column

FORGOTTEN = ("page", "open", "trial")  # by what shows other rows

VIEW_NAMES = {
    "table": "Table",
    "scatter": "A against B",
    "slope": "Slope",
    "latency": "Latency",
    "effects": "Factors",
    "heatmap": "Heat map",
}
COLUMN_NAMES = {
    "repeats": "repeats",
    "tools": "tools",
    "latency": "latency",
    "divergence": "first divergence",
    "listen": "listen",
}


@dataclass(frozen=True)
class Link:
    text: str
    href: str
    is_on: bool = False
    note: str = ""


@dataclass(frozen=True)
class Chip:
    """A configuration: `href` leads to the next pick, `role` says what it is now."""

    column: Column
    href: str
    role: str  # baseline, held or empty
    is_on: bool


def changed(query: QueryDict, *, forget: Sequence[str] = (), **changes: Sequence[str] | str | None) -> str:
    """`?...` with parts replaced; None and an empty list take a part out."""
    made = query.copy()
    for name in forget:
        made.pop(name, None)
    for name, value in changes.items():
        if value is None or value == []:
            made.pop(name, None)
        else:
            made.setlist(name, [value] if isinstance(value, str) else list(value))
    return f"?{made.urlencode()}"


def view_links(query: QueryDict, choice: Choice, letters: tuple[str, str] | None) -> list[Link]:
    """`letters` of the pair; without one there is nothing to hold against each other."""
    names = {**VIEW_NAMES, "scatter": f"{letters[0]} against {letters[1]}"} if letters else VIEW_NAMES
    kept = [view for view in VIEWS if letters or view not in ("scatter", "effects")]
    return [
        Link(
            names[view],
            changed(query, forget=("open", "trial"), view=None if view == "table" else view),
            view == choice.view,
        )
        for view in kept
    ]


def density_links(query: QueryDict, choice: Choice) -> list[Link]:
    return [
        Link(name, changed(query, density=None if name == "normal" else name), name == choice.density)
        for name in DENSITIES
    ]


def column_links(query: QueryDict, choice: Choice) -> list[Link]:
    """Each turns its column on or off."""
    links = []
    for name in COLUMNS:
        on = name not in choice.hidden
        hidden = [*choice.hidden, name] if on else [one for one in choice.hidden if one != name]
        links.append(Link(COLUMN_NAMES[name], changed(query, hide=hidden), on))
    return links


def chips(
    query: QueryDict, choice: Choice, columns: Sequence[Column], pair: tuple[Column, Column] | None
) -> list[Chip]:
    """With three or more, two clicks pick a pair: the first is held, the second goes beside it."""
    held = next((column for column in columns if column.is_named(choice.held)), None)
    return [_chip(query, column, columns, pair, held) for column in columns]


def _chip(
    query: QueryDict,
    column: Column,
    columns: Sequence[Column],
    pair: tuple[Column, Column] | None,
    held: Column | None,
) -> Chip:
    if held is None:
        href = changed(query, held=column.key)
    elif held == column:
        href = changed(query, held=None)
    else:
        two = sorted((held, column), key=lambda one: one.place)
        keys = [one.key for one in two if one.place]  # the baseline needs no name
        href = changed(query, forget=FORGOTTEN, held=None, vs=keys)
    role = "held" if column == held else "baseline" if column == columns[0] else ""
    return Chip(column, href, role, pair is not None and column in pair)
