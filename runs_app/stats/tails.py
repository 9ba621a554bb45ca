"""Percentiles of the latency and pass^k: of a configuration, and of one against another over paired scenarios.

Their values are quick. Their intervals are not, so that they are made apart (bootstrap_tails) and laid in by key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from runs_app.stats.bootstrap import Weighted, mean_interval, quantile_interval, weights_of
from runs_app.stats.estimate import ALL_ALIKE, BEING_COMPUTED, CENSORED, NOT_MEASURED, TOO_FEW, Estimate, Tails
from runs_app.stats.rows import LATENCY, PASS_RATE
from runs_app.stats.survival import quantile
from runs_app.stats.trials import Flags, Floats, Ints, Trials

# Below so many scenarios the intervals miss the truth more often than they say: docs/statistics.md has the table.
FEWEST_FOR_P50: Final = 20
FEWEST_FOR_P95: Final = 20
FEWEST_FOR_PASS_K: Final = 20
MOST_K: Final = 10
SHARES: Final = {"p50": 0.5, "p95": 0.95}
METHOD: Final = "1"  # goes into the key: another method is another result


@dataclass(frozen=True, eq=False)
class Side:
    """One configuration over some scenarios, its latencies in order. `at` numbers these scenarios from 0.

    `n` and `passed` count each scenario's graded trials.
    """

    ms: Floats
    censored: Flags
    at: Ints
    n: Ints
    passed: Ints

    @property
    def scenarios(self) -> int:
        return len(self.n)

    @property
    def timed(self) -> int:
        """Scenarios with a latency."""
        return len(np.unique(self.at))

    @property
    def most_k(self) -> int:
        return min(MOST_K, int(self.n.min())) if len(self.n) else 0

    def pass_k(self, k: int) -> Floats:
        """Of each scenario: the chance that k of its repeats, drawn without replacement, all pass: C(c,k)/C(n,k)."""
        factors = [(self.passed - step) / (self.n - step) for step in range(k)]
        return np.asarray(np.clip(np.prod(factors, axis=0), 0, None))


@dataclass(frozen=True, eq=False)
class TailInput:
    """What the intervals of one Tails are made from: one side, or A and B over the same scenarios."""

    key: str
    scenario_ids: tuple[str, ...]
    sides: tuple[Side, ...]


def configuration_tails(trials: Trials, place: int) -> Tails:
    found = configuration_input(trials, place)
    return _point(found)


def pair_tails(trials: Trials, a: int, b: int, paired: Flags) -> Tails:
    return _point(pair_input(trials, a, b, paired))


def configuration_input(trials: Trials, place: int) -> TailInput:
    return _input(trials, (place,), trials.contents[place] >= 0)


def pair_input(trials: Trials, a: int, b: int, paired: Flags) -> TailInput:
    return _input(trials, (a, b), paired)


def _input(trials: Trials, places: tuple[int, ...], chosen: Flags) -> TailInput:
    """Scenarios without a graded trial on one of the sides say nothing."""
    graded = trials.count(trials.graded)
    chosen = chosen & np.all([graded[place] > 0 for place in places], axis=0)
    sides = tuple(_side(trials, place, chosen) for place in places)
    ids = tuple(np.array(trials.scenario_ids, dtype=object)[chosen])
    return TailInput(_key(ids, sides), ids, sides)


def _side(trials: Trials, place: int, chosen: Flags) -> Side:
    mine = trials.own[place]
    own = mine[chosen[trials.scenario[mine]] & trials.graded[mine]]
    number = np.cumsum(chosen) - 1
    at = number[trials.scenario[own]]
    rates, measured = trials.value(PASS_RATE)[own], trials.value(LATENCY)[own]
    limit = trials.timeout_ms[own]
    censored = trials.timed_out[own] & np.isnan(measured) & (limit > 0)
    ms = np.where(censored, limit, measured)
    size = int(chosen.sum())
    known = ~np.isnan(ms)
    order = np.lexsort((at[known], censored[known], ms[known]))
    return Side(
        ms=ms[known][order],
        censored=censored[known][order],
        at=at[known][order],
        n=np.bincount(at, minlength=size),
        passed=np.bincount(at, weights=rates, minlength=size).astype(np.int64),
    )


def _key(ids: tuple[str, ...], sides: tuple[Side, ...]) -> str:
    digest = hashlib.sha256("\0".join((METHOD, *ids)).encode())
    for side in sides:
        for array in (side.ms, side.censored, side.at, side.n, side.passed):
            digest.update(f"|{len(array)}|".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _point(found: TailInput) -> Tails:
    ks = range(2, min(side.most_k for side in found.sides) + 1)
    return Tails(
        p50=_percentile(found, "p50"),
        p95=_percentile(found, "p95"),
        pass_k={k: _chance(found, k) for k in ks},
        key=found.key,
    )


def _percentile(found: TailInput, name: str) -> Estimate:
    ranks = [quantile(side.ms, side.censored, SHARES[name]) for side in found.sides]
    scenarios = min(side.timed for side in found.sides)
    if any(rank is None for rank in ranks):
        return Estimate(None, why=NOT_MEASURED)
    values = [rank for rank in ranks if rank is not None]
    at_least = any(rank.at_least for rank in values)
    fewest = FEWEST_FOR_P50 if name == "p50" else FEWEST_FOR_P95
    if len(values) == 2 and at_least:
        # of a limit that was reached on one side nothing is known but that side's bound
        return Estimate(None, scenarios=scenarios, why=CENSORED)
    value = values[-1].value - (values[0].value if len(values) == 2 else 0.0)
    why = CENSORED if at_least else TOO_FEW if scenarios < fewest else BEING_COMPUTED
    return Estimate(value, scenarios=scenarios, at_least=at_least, why=why)


def _chance(found: TailInput, k: int) -> Estimate:
    means = [float(side.pass_k(k).mean()) for side in found.sides]
    value = means[-1] - (means[0] if len(means) == 2 else 0.0)
    scenarios = found.sides[0].scenarios
    return Estimate(value, scenarios=scenarios, why=TOO_FEW if scenarios < FEWEST_FOR_PASS_K else BEING_COMPUTED)


def bootstrap_tails(found: TailInput) -> dict[str, Any]:
    """The intervals that `tails_with` lays in, as strict JSON: name -> [low, high], or null where there is none.

    The same scenario ids give the same resamples, so that pages agree. 0.1 to 1 s for 500 scenarios x 10 repeats.
    """
    point = _point(found)
    drawn = weights_of(found.scenario_ids)
    sides = [Weighted(side.ms, side.at, side.scenarios) for side in found.sides]
    intervals: dict[str, Any] = {
        name: quantile_interval(sides, SHARES[name], drawn)
        for name, estimate in (("p50", point.p50), ("p95", point.p95))
        if estimate.why == BEING_COMPUTED
    }
    for k, estimate in point.pass_k.items():
        if estimate.why == BEING_COMPUTED:
            values = [side.pass_k(k) for side in found.sides]
            difference = values[-1] - values[0] if len(values) == 2 else values[0]
            intervals[f"pass^{k}"] = mean_interval(difference, drawn)
    return intervals


def tails_with(tails: Tails, intervals: Mapping[str, Any]) -> Tails:
    """With the intervals that bootstrap_tails made for its key."""
    return replace(
        tails,
        p50=_laid_in(tails.p50, intervals.get("p50")),
        p95=_laid_in(tails.p95, intervals.get("p95")),
        pass_k={k: _laid_in(one, intervals.get(f"pass^{k}")) for k, one in tails.pass_k.items()},
    )


def _laid_in(estimate: Estimate, interval: list[float] | None) -> Estimate:
    if estimate.why != BEING_COMPUTED:
        return estimate
    if interval is None:
        return replace(estimate, why=ALL_ALIKE)
    return replace(estimate, low=interval[0], high=interval[1], why="")
