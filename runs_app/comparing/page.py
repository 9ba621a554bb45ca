"""The comparison page as plain data, in whatever state it is: page, JSON and CSV read the same object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from django.http import QueryDict

from runs_app.comparing import table
from runs_app.comparing.cards import Card, cards
from runs_app.comparing.choice import METRICS, BadChoice, Choice, choice_of
from runs_app.comparing.conditions import Critical, comparison_of, comparison_of_two, newly_always_failed
from runs_app.comparing.heads import shown_trials
from runs_app.comparing.intervals import with_intervals
from runs_app.comparing.loading import Column, Loaded, load
from runs_app.comparing.passport import Stamp, Ways, passport, ways
from runs_app.comparing.reading import Head
from runs_app.comparing.setup import Pairing, SetupDiff, pairing, setup_diff
from runs_app.comparing.table import Pair, Row
from runs_app.known import open_marks
from runs_app.problems import NO_PROBLEMS, Problems, problems_of
from runs_app.stats.comparison import Comparison
from runs_app.stats.pair import PairComparison
from runs_app.stats.rows import PASS_RATE
from runs_app.stats.trials import INVALID
from scenarios_app.spec.factors import Label

State = Literal["empty", "running", "over"]
MOST_DOTTED: Final = 5  # configurations of which a row shows every repeat


@dataclass(frozen=True)
class Progress:
    """How far a configuration is; nothing here tells which one is ahead."""

    column: Column
    done: int
    of: int
    invalid: int


@dataclass(frozen=True)
class Against:
    """A configuration beside the baseline: what differs in it, and whether the two were measured alike."""

    column: Column
    setup: SetupDiff
    pairing: Pairing
    stamps: tuple[Stamp, ...]

    @property
    def differing(self) -> list[Stamp]:
        return [stamp for stamp in self.stamps if not stamp.is_same]


@dataclass(frozen=True)
class Page:
    """`pair` are the two that table and charts hold against each other, and `compared` is how they compare. In state
    "running" nothing is compared yet. `rows` are without sides: see `filled`. `problems` are those of the pair, or of
    the one configuration alone."""

    state: State
    choice: Choice
    loaded: Loaded
    progress: tuple[Progress, ...]
    comparison: Comparison | None = None
    metric: str = ""
    pair: Pair | None = None
    compared: PairComparison | None = None
    cards: tuple[Card, ...] = ()
    rows: tuple[Row, ...] = ()
    against: tuple[Against, ...] = ()
    critical: tuple[Critical, ...] = ()
    heads: Mapping[str, Head] = field(default_factory=dict)
    ways: Mapping[str, Ways] = field(default_factory=dict)
    problems: Problems = NO_PROBLEMS

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.loaded.columns

    @property
    def letters(self) -> tuple[str, str] | None:
        return (self.pair[0].letter, self.pair[1].letter) if self.pair else None

    @property
    def labels(self) -> list[tuple[Column, tuple[Label, ...]]]:
        """The factors of each, with what differs from the baseline marked."""
        return [(column, column.factors.labels(self.columns[0].factors)) for column in self.columns]

    @property
    def waits(self) -> bool:
        """Whether a task still makes intervals."""
        found = self.comparison
        if found is None:
            return False
        tails = [*(one.tails for one in found.configurations), *(pair.tails for pair in found.pairs)]
        return any(one.waits for one in tails)

    def filled(self, rows: Sequence[Row], *, every: bool = False) -> list[Row]:
        """These rows with a side for each configuration: their trials are read now. Of many configurations those of
        the pair alone, unless `every` is wanted: 100 rows x 20 x 10 repeats are more than anyone looks at."""
        if self.comparison is None:
            return []
        few = every or self.pair is None or len(self.columns) <= MOST_DOTTED
        columns = self.columns if few or self.pair is None else self.pair
        trials = shown_trials(self.loaded.runs, columns, [row.scenario_id for row in rows])
        return table.filled(rows, self.columns, trials, self.comparison)


def page_asked(query: QueryDict) -> Page:
    """Of an address that must name a run. Raises BadChoice."""
    choice = choice_of(query)
    if not choice.runs:
        raise BadChoice("run: name the run to compare, such as ?run=7")
    return page_of(choice)


def page_of(choice: Choice) -> Page:
    """Raises BadChoice."""
    loaded = load(choice)
    progress = tuple(_progress(column, loaded) for column in loaded.columns)
    pair = pair_of(choice, loaded.columns)
    if not len(loaded.trials.outcome):
        return Page("empty", choice, loaded, progress)
    # who looks early finds differences that are not there: none is made before the end
    if not loaded.is_over:
        return Page("running", choice, loaded, progress, pair=pair)
    return _over(choice, loaded, progress, pair)


def _progress(column: Column, loaded: Loaded) -> Progress:
    outcomes = loaded.trials.outcome[loaded.trials.own[column.place]]
    return Progress(column, int(np.count_nonzero(outcomes)), len(outcomes), int((outcomes == INVALID).sum()))


def _over(choice: Choice, loaded: Loaded, progress: tuple[Progress, ...], pair: Pair | None) -> Page:
    comparison = with_intervals(comparison_of(loaded), loaded)
    metric = choice.metric or _first_measured(comparison)
    compared = _compared(loaded, comparison, pair)
    known, named = ways(loaded), loaded.read.heads
    problems = problems_of(loaded.runs, open_marks(), versions=[one.version.pk for one in pair or loaded.columns])
    spoken = any("spoken" in own.modes for own in known.values())
    return Page(
        state="over",
        choice=choice,
        loaded=loaded,
        progress=progress,
        comparison=comparison,
        metric=metric,
        pair=pair,
        compared=compared,
        cards=tuple(cards(comparison, loaded.columns, text_only=not spoken)),
        rows=tuple(
            table.rows(
                comparison,
                named,
                choice,
                loaded.columns,
                metric=metric,
                pair=pair,
                compared=compared,
                kinds=problems.kinds_by_scenario,
            )
        ),
        against=tuple(_against(loaded, comparison, known)),
        critical=tuple(newly_always_failed(comparison, loaded)),
        heads=named,
        ways=known,
        problems=problems,
    )


def _compared(loaded: Loaded, comparison: Comparison, pair: Pair | None) -> PairComparison | None:
    """Two of which neither is the baseline are picked from all pairs."""
    if pair is None:
        return None
    a, b = (column.key for column in pair)
    if pair[0] == loaded.columns[0]:
        return comparison.pair(a, b)
    return with_intervals(comparison_of_two(loaded, a, b), loaded).pair(a, b)


def _against(loaded: Loaded, comparison: Comparison, known: Mapping[str, Ways]) -> list[Against]:
    baseline = loaded.columns[0]
    pairs = [(column, comparison.pair(baseline.key, column.key)) for column in loaded.columns[1:]]
    return [
        Against(column, setup_diff(baseline, column), pairing(pair), tuple(passport(pair, baseline, column, known)))
        for column, pair in pairs
    ]


def _first_measured(comparison: Comparison) -> str:
    """The metric that the table opens with: the first that any configuration has a value of."""
    for name in METRICS:
        if name != PASS_RATE and any(one.metrics[name].n for one in comparison.configurations):
            return name
    return PASS_RATE


def pair_of(choice: Choice, columns: Sequence[Column]) -> Pair | None:
    """The baseline and the next unless others are named, the earlier one first; None for one configuration alone.

    Raises BadChoice.
    """
    named = [_among("vs", text, columns) for text in choice.vs]
    if choice.held:
        _among("held", choice.held, columns)
    if not named:
        return (columns[0], columns[1]) if len(columns) > 1 else None
    two = sorted({columns[0].place, named[0].place} if len(named) == 1 else {one.place for one in named})
    if len(two) < 2:
        raise BadChoice(f"vs: {choice.vs[0][:120]!r} cannot be held against itself")
    return columns[two[0]], columns[two[1]]


def _among(part: str, text: str, columns: Sequence[Column]) -> Column:
    for column in columns:
        if column.is_named(text):
            return column
    raise BadChoice(f"{part}: {text[:120]!r} is not among the configurations that are compared")
