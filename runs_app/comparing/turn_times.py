"""When each turn of the pair was answered, told apart by what the turn was: an agent may be slower only after tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from runs_app.comparing.page import Page
from runs_app.models import Outcome, Trial, TrialStatus
from runs_app.stats.tails import Side, TailInput, timed_side
from runs_app.stats.trials import Flags

KINDS: Final = {
    "first": "first turn of a call",
    "later": "later turns",
    "tool": "turns with a tool call",
    "interruption": "after an interruption",
}
MOST_TRIALS: Final = 6_000  # of both sides: the turns of more would keep a reader waiting

Row = Mapping[str, Any]  # a turn of a grading


@dataclass(frozen=True)
class TurnTimes:
    """`inputs`: by kind, in the order of KINDS, both sides over the paired scenarios; those that either side lacks are
    left out. With a `why` nothing was read."""

    inputs: Mapping[str, TailInput] = field(default_factory=dict)
    why: str = ""


def turn_times(page: Page, among: Flags | None) -> TurnTimes:
    """`among`: which scenarios; all by default. One query."""
    if page.pair is None or page.compared is None:
        return TurnTimes()
    trials, pairing = page.loaded.trials, page.compared.source[1]
    if sum(len(trials.own[place]) for place in (pairing.a, pairing.b)) > MOST_TRIALS:
        return TurnTimes(why="Too many trials to tell their turns apart while you wait.")
    paired = pairing.paired if among is None else pairing.paired & among
    ids = np.array(trials.scenario_ids, dtype=object)[paired].tolist()
    limits = [_limit(trials.timeout_ms[trials.own[place]]) for place in (pairing.a, pairing.b)]
    sides = [_by_kind(rows, limit) for rows, limit in zip(_rows(page), limits, strict=True)]
    return TurnTimes({kind: found for kind in KINDS if (found := _input(ids, [side[kind] for side in sides]))})


def _limit(limits: np.ndarray) -> float | None:
    known = limits[~np.isnan(limits)]
    return float(known.max()) if len(known) else None


def _rows(page: Page) -> list[list[tuple[str, list[Row]]]]:
    """For each side of the pair: the turns of each graded trial, with its scenario."""
    assert page.pair is not None
    graded = Trial.objects.filter(
        run__in=[run.pk for run in page.loaded.runs],
        configuration_version__in=[column.version.pk for column in page.pair],
        status=TrialStatus.DONE,
        outcome__in=(Outcome.PASSED, Outcome.FAILED),
        gradings__current=True,
    )
    found: dict[int, list[tuple[str, list[Row]]]] = {column.version.pk: [] for column in page.pair}
    places = ("configuration_version_id", "scenario_version__scenario__key", "gradings__turns")
    for version, scenario, turns in graded.order_by().values_list(*places):
        found[version].append((scenario, turns))
    return [found[column.version.pk] for column in page.pair]


Time = tuple[str, float, bool]  # scenario, ms, whether it is a time-out at its limit


def _by_kind(trials: Iterable[tuple[str, list[Row]]], limit: float | None) -> dict[str, list[Time]]:
    found: dict[str, list[Time]] = {kind: [] for kind in KINDS}
    for scenario, turns in trials:
        for before, turn in zip([None, *turns], turns, strict=False):
            ms, timed_out = turn.get("response_latency_ms"), turn.get("status") == "timeout"
            if ms is not None:
                found[kind_of(turn, before)].append((scenario, float(ms), False))
            elif timed_out and limit is not None:
                found[kind_of(turn, before)].append((scenario, limit, True))
    return found


def kind_of(turn: Row, before: Row | None) -> str:
    """Of KINDS. `before`: the turn before it in the call."""
    if before is not None and before.get("interrupted"):
        return "interruption"
    if turn.get("tool_calls"):
        return "tool"
    return "first" if before is None else "later"


def _input(paired: Collection[str], sides: Sequence[Sequence[Time]]) -> TailInput | None:
    """Over the scenarios that have such a turn on both sides."""
    both = set.intersection(*({scenario for scenario, _, _ in side} for side in sides))
    at = {scenario: place for place, scenario in enumerate(sorted(both & set(paired)))}
    return TailInput(tuple(at), tuple(_side(side, at) for side in sides)) if at else None


def _side(times: Sequence[Time], at: Mapping[str, int]) -> Side:
    kept = [(ms, censored, at[scenario]) for scenario, ms, censored in times if scenario in at]
    ms, censored, scenarios = zip(*kept, strict=True)
    return timed_side(np.array(ms), np.array(censored), np.array(scenarios), len(at))
