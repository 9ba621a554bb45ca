"""Whether two sides were measured alike. Where they were not, there is no verdict, and the page says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from runs_app.comparing.choice import METRICS
from runs_app.comparing.loading import Column, Fact, Loaded
from runs_app.stats.comparison import Comparison, compare
from runs_app.stats.rows import PASS_RATE
from runs_app.stats.trials import trials_of

JUDGED = ("semantic_quality", PASS_RATE)


@dataclass(frozen=True)
class Critical:
    """A critical scenario that A passed at least once and B never did."""

    letter: str
    scenario: str


def comparison_of(loaded: Loaded) -> Comparison:
    """Each configuration against the first, with no verdict where the sides were measured differently."""
    columns = loaded.columns
    found = trials_of(
        loaded.rows,
        configurations=[column.key for column in columns],
        metrics=[metric for metric in METRICS if metric != PASS_RATE],
    )
    return compare(
        found,
        critical={fact.row.scenario_id for fact in loaded.facts if fact.critical},
        not_comparable={
            (columns[0].key, column.key): not_comparable(columns[0], column, loaded.facts) for column in columns[1:]
        },
        against_first=True,
    )


class Measured(Protocol):
    """How a trial was measured."""

    @property
    def mode(self) -> str: ...
    @property
    def real_time(self) -> bool: ...
    @property
    def tool_faults(self) -> str: ...
    @property
    def judge(self) -> str: ...


def not_comparable(a: Column, b: Column, facts: Sequence[Fact]) -> dict[str, str]:
    """Metric -> the reason why these two say nothing about each other."""
    without_judge = [column.letter for column in (a, b) if column.spec.judge is None]
    return unlike(_of(a, facts), _of(b, facts), without_judge=without_judge)


def unlike(of_a: Sequence[Measured], of_b: Sequence[Measured], *, without_judge: Sequence[str]) -> dict[str, str]:
    """Metric -> why the two sides cannot be held against each other. `without_judge` names the sides that have none."""
    both = (*of_a, *of_b)
    if len({one.real_time for one in both if one.mode == "audio"}) > 1:
        return dict.fromkeys(METRICS, "some trials ran in real time and some did not")
    if len({one.tool_faults for one in both}) > 1:
        return dict.fromkeys(METRICS, "the tools were made to fail in some runs and not in others, or differently")
    reasons = {}
    if {one.mode for one in of_a} != {one.mode for one in of_b} and of_a and of_b:
        reasons = dict.fromkeys(METRICS, "one side was spoken and the other was not")
    judge_reason = _judges({one.judge for one in both if one.judge}, without_judge)
    return {**dict.fromkeys(JUDGED, judge_reason), **reasons} if judge_reason else reasons


def _of(column: Column, facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.row.configuration_key == column.key]


def _judges(judges: set[str], without_judge: Sequence[str]) -> str:
    if len(judges) > 1:
        return f"graded by different judges or rubrics ({', '.join(sorted(judges))})"
    return f"{without_judge[0]} has no judge" if judges and len(without_judge) == 1 else ""


def newly_always_failed(comparison: Comparison, loaded: Loaded) -> list[Critical]:
    """Of the paired scenarios that are marked critical; no average may hide them."""
    letters = {column.key: column.letter for column in loaded.columns}
    return [Critical(letters[pair.b], scenario) for pair in comparison.pairs for scenario in pair.critical]
