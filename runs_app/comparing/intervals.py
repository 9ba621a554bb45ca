"""Lays the intervals of percentiles and pass^k into a comparison: made here when that is quick, else from the store.

What is not there yet is asked for; until it comes the page says that it is being computed.
"""

from __future__ import annotations

from dataclasses import replace

from runs_app.comparing.loading import Loaded
from runs_app.services.intervals import QUICK_TRIALS, ask_for_intervals, stored_intervals
from runs_app.stats.comparison import Comparison
from runs_app.stats.estimate import Tails
from runs_app.stats.tails import Intervals, TailInput, TailInputs, bootstrap_tails, tails_with


def with_intervals(comparison: Comparison, loaded: Loaded) -> Comparison:
    tails = [*(one.tails for one in comparison.configurations), *(pair.tails for pair in comparison.pairs)]
    waiting = {one.key for one in tails if one.waits}
    if not waiting:
        return comparison
    found = _found(comparison, loaded, waiting)
    return replace(
        comparison,
        configurations=tuple(replace(one, tails=_laid(one.tails, found)) for one in comparison.configurations),
        pairs=tuple(replace(pair, tails=_laid(pair.tails, found)) for pair in comparison.pairs),
    )


def _laid(tails: Tails, found: dict[str, Intervals]) -> Tails:
    return tails_with(tails, found[tails.key]) if tails.key in found else tails


def _found(comparison: Comparison, loaded: Loaded, waiting: set[str]) -> dict[str, Intervals]:
    if len(loaded.trials.outcome) <= QUICK_TRIALS:
        return dict(bootstrap_tails(one for one in _inputs(comparison) if one.key in waiting))
    found = stored_intervals(sorted(waiting))
    for a, others in _missing(comparison, waiting - found.keys()).items():
        ask_for_intervals(run_ids=[run.pk for run in loaded.runs], version_ids=[int(a), *map(int, others)])
    return found


def _inputs(comparison: Comparison) -> list[TailInput]:
    inputs = TailInputs(comparison.measured.trials)
    own = [inputs.configuration(place) for place in range(len(comparison.configurations))]
    return own + [inputs.pair(pair.source[1]) for pair in comparison.pairs]


def _missing(comparison: Comparison, keys: set[str]) -> dict[str, list[str]]:
    """The first of each pair that lacks one -> those beside it; a configuration by itself asks as the baseline does."""
    found: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        if pair.tails.key in keys:
            found.setdefault(pair.a, []).append(pair.b)
    of_none = [one.key for one in comparison.configurations if one.tails.key in keys]
    told = {key for a, others in found.items() for key in (a, *others)}
    for key in of_none:
        if key not in told:
            found.setdefault(key, [])
    return found
