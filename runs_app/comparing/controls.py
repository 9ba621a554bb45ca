"""Every control of the page as links: what each leads to, and which one is on."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from runs_app.comparing.choice import COLUMNS, Choice
from runs_app.comparing.filters import NO_FILTERS, Filters, filters
from runs_app.comparing.heads import Shown
from runs_app.comparing.links import (
    FORGOTTEN,
    Chip,
    Link,
    changed,
    chips,
    column_links,
    density_links,
    view_links,
)
from runs_app.comparing.loading import Column
from runs_app.comparing.opened import Opened, Side
from runs_app.comparing.page import Page
from scenarios_app.models import ConfigurationVersion

MOST_ROW_COLUMNS = 99
OF_EACH = ("repeats", "tools", "latency")


@dataclass(frozen=True)
class Controls:
    """`span`: how many columns a row over the whole table covers. `baselines`, `additions` and `removals` change what
    is compared."""

    query: QueryDict
    choice: Choice
    views: tuple[Link, ...] = ()
    densities: tuple[Link, ...] = ()
    columns: tuple[Link, ...] = ()
    chips: tuple[Chip, ...] = ()
    baselines: tuple[Link, ...] = ()
    additions: tuple[Link, ...] = ()
    removals: tuple[Link, ...] = ()
    filters: Filters = NO_FILTERS
    swap: str = ""
    span: int = 1

    @classmethod
    def of_row(cls, query: QueryDict, choice: Choice) -> Controls:
        """For an open row alone; it is laid into a table that is there already and spans whatever that has."""
        return cls(query, choice, span=MOST_ROW_COLUMNS)

    @property
    def group_span(self) -> int:
        """Columns of one configuration, where there are three or more."""
        return sum(self.shows[name] for name in OF_EACH)

    @property
    def shows(self) -> dict[str, bool]:
        """By name of a column that can be hidden."""
        return _shows(self.choice)

    @property
    def closed(self) -> str:
        return changed(self.query, forget=("open", "trial"))

    @property
    def held(self) -> str:
        return next((chip.column.letter for chip in self.chips if chip.role == "held"), "")

    @property
    def unfiltered(self) -> str:
        return changed(self.query, forget=FORGOTTEN, show=None, q=None, tag=None, kind=None)


def controls(query: QueryDict, page: Page) -> Controls:
    return Controls(
        query=query,
        choice=page.choice,
        views=tuple(view_links(query, page.choice, page.letters)),
        densities=tuple(density_links(query, page.choice)),
        columns=tuple(column_links(query, page.choice)),
        chips=tuple(chips(query, page.choice, page.columns, page.pair)),
        baselines=tuple(Link(column.label, _baseline(query, page, column)) for column in page.columns[1:]),
        additions=tuple(_addition(query, page, version) for version in page.loaded.others),
        removals=tuple(_removal(query, page, column) for column in page.columns[1:] if len(page.columns) > 2),
        filters=filters(query, page),
        swap=_baseline(query, page, page.pair[1]) if page.pair else "",
        span=_span(page),
    )


def _baseline(query: QueryDict, page: Page, first: Column) -> str:
    """Another baseline; all that are compared stay."""
    rest = [column.key for column in page.columns if column != first]
    return changed(query, forget=(*FORGOTTEN, "held"), a=first.key, b=rest, vs=None)


def _addition(query: QueryDict, page: Page, version: ConfigurationVersion) -> Link:
    kept = [column.key for column in page.columns[1:]]
    return Link(str(version), changed(query, forget=("held",), b=[*kept, str(version.pk)]))


def _removal(query: QueryDict, page: Page, gone: Column) -> Link:
    kept = [column.key for column in page.columns[1:] if column != gone]
    return Link(gone.label, changed(query, forget=(*FORGOTTEN, "held"), b=kept, vs=None))


def _shows(choice: Choice) -> dict[str, bool]:
    return {name: name not in choice.hidden for name in COLUMNS}


def _span(page: Page) -> int:
    own = _shows(page.choice)
    count = len(page.columns)
    shared = 1 + (page.pair is not None) + own["divergence"] + own["listen"]
    if count > 2:
        return shared + count * sum(own[name] for name in OF_EACH)
    return shared + count * own["repeats"] + own["tools"] + own["latency"]


@dataclass(frozen=True)
class Pick:
    """A trial that could stand in the open row."""

    trial: Shown
    href: str
    is_on: bool


def picks(query: QueryDict, opened: Opened) -> list[tuple[Side, list[Pick]]]:
    """For each side its trials; a click puts one beside what the other side shows."""
    found = []
    for side in opened.sides:
        others = [str(one.shown.pk) for one in opened.sides if one != side and one.shown]
        own = [
            Pick(trial, changed(query, open=opened.scenario_id, trial=[str(trial.pk), *others]), trial == side.shown)
            for trial in side.trials
        ]
        found.append((side, own))
    return found
