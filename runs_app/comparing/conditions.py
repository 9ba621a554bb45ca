"""Whether two sides were measured alike. Where they were not, there is no verdict, and the page says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Protocol

from runs_app.comparing.choice import METRICS
from runs_app.comparing.loading import Column, Loaded
from runs_app.stats.comparison import Comparison, compare
from runs_app.stats.rows import PASS_RATE

JUDGED: Final = ("semantic_quality", PASS_RATE)


@dataclass(frozen=True)
class Critical:
    """A critical scenario that A passed at least once and B never did."""

    letter: str
    scenario: str


def comparison_of(loaded: Loaded) -> Comparison:
    """Each configuration against the first, with no verdict where the sides were measured differently.

    Without the intervals of percentiles and pass^k, which comparing.intervals lays in.
    """
    if loaded.read.compared is None:
        pairs = [(loaded.columns[0], column) for column in loaded.columns[1:]]
        loaded.read.compared = _compared(loaded, pairs, against_first=True)
    return loaded.read.compared


def comparison_of_two(loaded: Loaded, a: str, b: str) -> Comparison:
    """Two that were picked by their keys, the earlier one first. Who looks at any pair they like has all pairs to find
    a difference in by chance, so that Holm's correction is over all of them."""
    pairs = list(combinations(loaded.columns, 2))
    return _compared(loaded, pairs, only=(a, b))


def _compared(loaded: Loaded, pairs: Iterable[tuple[Column, Column]], **which: Any) -> Comparison:
    plan = loaded.plan
    return compare(
        loaded.trials,
        primaries=plan.primaries,
        margins=plan.margins,
        critical=loaded.read.critical,
        not_comparable={(a.key, b.key): not_comparable(loaded, a, b) for a, b in pairs},
        **which,
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
    @property
    def simulated(self) -> bool: ...


def not_comparable(loaded: Loaded, a: Column, b: Column) -> dict[str, str]:
    """Metric -> the reason why these two say nothing about each other."""
    without_judge = [column.letter for column in (a, b) if column.spec.judge is None]
    of_a, of_b = (loaded.read.conditions[column.key] for column in (a, b))
    return unlike(of_a, of_b, without_judge=without_judge)


def unlike(of_a: Sequence[Measured], of_b: Sequence[Measured], *, without_judge: Sequence[str]) -> dict[str, str]:
    """Metric -> why the two sides cannot be held against each other. `without_judge` names the sides that have none."""
    both = (*of_a, *of_b)
    if len({one.simulated for one in both}) > 1:
        return dict.fromkeys(METRICS, "some trials talked to a simulator and some to a real agent")
    if len({one.real_time for one in both if one.mode == "audio"}) > 1:
        return dict.fromkeys(METRICS, "some trials ran in real time and some did not")
    if len({one.tool_faults for one in both}) > 1:
        return dict.fromkeys(METRICS, "the tools were made to fail in some runs and not in others, or differently")
    reasons = {}
    if {one.mode for one in of_a} != {one.mode for one in of_b} and of_a and of_b:
        reasons = dict.fromkeys(METRICS, "one side was spoken and the other was not")
    judge_reason = _judges({one.judge for one in both if one.judge}, without_judge)
    return {**dict.fromkeys(JUDGED, judge_reason), **reasons} if judge_reason else reasons


def _judges(judges: set[str], without_judge: Sequence[str]) -> str:
    if len(judges) > 1:
        return f"graded by different judges or rubrics ({', '.join(sorted(judges))})"
    return f"{without_judge[0]} has no judge" if judges and len(without_judge) == 1 else ""


def newly_always_failed(comparison: Comparison, loaded: Loaded) -> list[Critical]:
    """Of the paired scenarios that are marked critical; no average may hide them."""
    letters = {column.key: column.letter for column in loaded.columns}
    return [Critical(letters[pair.b], scenario) for pair in comparison.pairs for scenario in pair.critical]
