"""What the address asks for: runs, configurations, the pair on show, and how the table is cut and ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from runs_app.stats.rows import MEASURED, PASS_RATE, PRIMARY
from scenarios_app.spec.numbers import number_of

METRICS: Final = (*MEASURED, PASS_RATE)  # in the order of the cards
SHOWS: Final = ("better", "worse", "same")
VIEWS: Final = ("table", "scatter", "slope", "latency", "effects", "heatmap")
DENSITIES: Final = ("roomy", "normal", "tight")
COLUMNS: Final = ("repeats", "tools", "latency", "divergence", "listen")  # that can be hidden
SORTS: Final = ("delta", "scenario", "a", "b", "latency")
MOST_RUNS: Final = 20
MOST_CONFIGURATIONS: Final = 26  # as many as have a letter

assert {rule.name for rule in PRIMARY} == set(METRICS)


class BadChoice(ValueError):
    """The address asks for something that does not exist. The message names the part of it."""


@dataclass(frozen=True)
class Choice:
    """`a`, `bs` and `vs` are as given: a configuration version's number in the database, or NAME@VERSION.

    `vs` names what the table holds against each other: nothing (the baseline and the next), one beside the baseline, or
    two. `held`: the first of two that are being picked. `metric` and `show` are empty when the address leaves them out;
    `sort` begins with "-" to descend. `tags`: a scenario has all of them; `kinds`: keys of failure kinds, of which it
    has any. `opened`: the id of the scenario whose row is open, `trials` whose trials are in it.
    """

    runs: tuple[int, ...]
    a: str = ""
    bs: tuple[str, ...] = ()
    vs: tuple[str, ...] = ()
    held: str = ""
    metric: str = ""
    show: str = ""
    sort: str = "-delta"
    search: str = ""
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    view: str = "table"
    density: str = "normal"
    hidden: tuple[str, ...] = ()
    opened: str = ""
    trials: tuple[int, ...] = ()

    @property
    def is_filtered(self) -> bool:
        return bool(self.show or self.search or self.tags or self.kinds)


def choice_of(query: QueryDict) -> Choice:
    """Raises BadChoice."""
    runs = tuple(dict.fromkeys(_number("run", text) for text in query.getlist("run") if text))
    if len(runs) > MOST_RUNS:
        raise BadChoice(f"run: at most {MOST_RUNS} runs are compared at a time, not {len(runs)}")
    return Choice(
        runs=runs,
        a=query.get("a", ""),
        bs=tuple(dict.fromkeys(text for text in query.getlist("b") if text)),
        vs=_pair(query.getlist("vs")),
        held=query.get("held", ""),
        metric=_one_of("metric", query.get("metric", ""), METRICS),
        show=_one_of("show", query.get("show", ""), SHOWS),
        sort=_sort(query.get("sort") or "-delta"),
        search=query.get("q", "").strip(),
        tags=tuple(dict.fromkeys(filter(None, query.getlist("tag")))),
        kinds=tuple(dict.fromkeys(filter(None, query.getlist("kind")))),
        view=_one_of("view", query.get("view") or "table", VIEWS),
        density=_one_of("density", query.get("density") or "normal", DENSITIES),
        hidden=tuple(dict.fromkeys(_one_of("hide", text, COLUMNS) for text in query.getlist("hide") if text)),
        opened=query.get("open", ""),
        trials=tuple(dict.fromkeys(_number("trial", text) for text in query.getlist("trial") if text)),
    )


def _pair(given: Sequence[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(text for text in given if text))
    if len(named) > 2:
        raise BadChoice(f"vs: two configurations are held against each other, not {len(named)}")
    return named


def _number(name: str, text: str) -> int:
    number = number_of(text)
    if number is None:
        raise BadChoice(f"{name}: must be the number of a {name}, not {text[:40]!r}")
    return number


def _one_of(name: str, text: str, known: Sequence[str]) -> str:
    if text and text not in known:
        raise BadChoice(f"{name}: must be one of {', '.join(known)}, not {text[:40]!r}")
    return text


def _sort(text: str) -> str:
    _one_of("sort", text.removeprefix("-"), SORTS)
    return text
