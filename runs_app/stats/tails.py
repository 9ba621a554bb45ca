"""Percentiles of the latency and pass^k: of a configuration, and of one against another over paired scenarios.

Their values are quick. Their intervals are not, so that they are made apart (bootstrap_tails) and laid in by key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from runs_app.stats.bootstrap import Counts, Quantiles, draws_of, mean_interval, quantile_interval, quantiles
from runs_app.stats.estimate import ALL_ALIKE, BEING_COMPUTED, CENSORED, NOT_MEASURED, TOO_FEW, Estimate, Tails
from runs_app.stats.pairing import Pairing
from runs_app.stats.rows import LATENCY
from runs_app.stats.survival import Rank, quantile
from runs_app.stats.trials import NEVER_RAN, PASSED, Flags, Floats, Ints, Trials

Intervals = dict[str, list[float] | None]  # p50, p95, pass^2 and so on -> low and high; null where there is none

# Of fewer scenarios an interval does not hold the truth as often as it says: docs/statistics.md has the table.
FEWEST: Final = {"p50": 20, "p95": 40, "pass_k": 40}  # of one configuration
FEWEST_OF_PAIR: Final = {"p50": 30, "p95": 40, "pass_k": 20}  # of a difference
MOST_K: Final = 10
SHARES: Final = {"p50": 0.5, "p95": 0.95}
METHOD: Final = "2"  # goes into the key: another method is another result


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

    @cached_property
    def timed(self) -> int:
        """Scenarios with a latency."""
        return int(np.count_nonzero(np.bincount(self.at, minlength=1)))

    @cached_property
    def ranks(self) -> dict[str, Rank | None]:
        return {name: quantile(self.ms, self.censored, share) for name, share in SHARES.items()}

    @cached_property
    def pass_k(self) -> dict[int, Floats]:
        """k from 2 to the fewest repeats -> of each scenario, the chance that k of its repeats, drawn without
        replacement, all pass: C(passed, k) / C(n, k)."""
        most = min(MOST_K, int(self.n.min())) if len(self.n) else 0
        chance, found = np.ones(len(self.n)), {}
        for k in range(1, most + 1):
            chance = chance * np.maximum(self.passed - k + 1, 0) / (self.n - k + 1)
            found[k] = chance
        return {k: chances for k, chances in found.items() if k > 1}

    @cached_property
    def digest(self) -> bytes:
        found = hashlib.sha256()
        for array in (self.ms, self.censored, self.at, self.n, self.passed):
            found.update(f"|{len(array)}|".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.digest()


@dataclass(frozen=True, eq=False)
class TailInput:
    """What the intervals of one Tails are made from: one side, or A and B over the same scenarios."""

    scenario_ids: tuple[str, ...]
    sides: tuple[Side, ...]

    @cached_property
    def key(self) -> str:
        digest = hashlib.sha256("\0".join((METHOD, *self.scenario_ids)).encode())
        for side in self.sides:
            digest.update(side.digest)
        return digest.hexdigest()


class TailInputs:
    """Of one set of trials; a side that several of them share is made once."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.graded = trials.count(trials.graded) > 0
        self.known: dict[tuple[int, bytes], Side] = {}

    def configuration(self, place: int, *, among: Flags | None = None) -> TailInput:
        """`among`: which scenarios; all by default."""
        return self._input((place,), self.trials.contents[place] != NEVER_RAN, among)

    def pair(self, pairing: Pairing, *, among: Flags | None = None) -> TailInput:
        return self._input((pairing.a, pairing.b), pairing.paired, among)

    def _input(self, places: tuple[int, ...], chosen: Flags, among: Flags | None) -> TailInput:
        """Scenarios without a graded trial on one of the sides say nothing."""
        chosen = chosen & np.all([self.graded[place] for place in places], axis=0)
        if among is not None:
            chosen = chosen & among
        ids = tuple(np.array(self.trials.scenario_ids, dtype=object)[chosen])
        return TailInput(ids, tuple(self._side(place, chosen) for place in places))

    def _side(self, place: int, chosen: Flags) -> Side:
        key = place, chosen.tobytes()
        if key not in self.known:
            self.known[key] = _side(self.trials, place, chosen)
        return self.known[key]


def _side(trials: Trials, place: int, chosen: Flags) -> Side:
    mine = trials.own[place]
    own = mine[chosen[trials.scenario[mine]] & trials.graded[mine]]
    at = (np.cumsum(chosen) - 1)[trials.scenario[own]]
    measured, limit = trials.value(LATENCY)[own], trials.timeout_ms[own]
    censored = trials.timed_out[own] & np.isnan(measured) & (limit > 0)
    ms = np.where(censored, limit, measured)
    known, size = ~np.isnan(ms), int(chosen.sum())
    return replace(
        timed_side(ms[known], censored[known], at[known], size),
        n=np.bincount(at, minlength=size),
        passed=np.bincount(at[trials.outcome[own] == PASSED], minlength=size),
    )


def timed_side(ms: Floats, censored: Flags, at: Ints, scenarios: int) -> Side:
    """Of times alone, each with its scenario from 0; nothing is known of passes."""
    order, none = np.lexsort((at, censored, ms)), np.zeros(scenarios, dtype=np.int64)
    return Side(ms=ms[order], censored=censored[order], at=at[order], n=none, passed=none)


def tails_of(found: TailInput) -> Tails:
    """The values, with intervals still to come where there can be any."""
    ks = set.intersection(*(set(side.pass_k) for side in found.sides))
    return Tails(
        p50=_percentile(found, "p50"),
        p95=_percentile(found, "p95"),
        pass_k={k: _chance(found, k) for k in sorted(ks)},
        key=found.key,
    )


def _percentile(found: TailInput, name: str) -> Estimate:
    ranks = [rank for side in found.sides if (rank := side.ranks[name]) is not None]
    if len(ranks) < len(found.sides):
        return Estimate(None, why=NOT_MEASURED)
    scenarios = min(side.timed for side in found.sides)
    at_least = any(rank.at_least for rank in ranks)
    if len(ranks) == 2 and at_least:
        return Estimate(None, scenarios=scenarios, why=CENSORED)
    value = ranks[-1].value - (ranks[0].value if len(ranks) == 2 else 0.0)
    why = CENSORED if at_least else TOO_FEW if scenarios < _fewest(found, name) else BEING_COMPUTED
    return Estimate(value, scenarios=scenarios, at_least=at_least, why=why)


def _fewest(found: TailInput, name: str) -> int:
    return (FEWEST_OF_PAIR if len(found.sides) == 2 else FEWEST)[name]


def _chance(found: TailInput, k: int) -> Estimate:
    scenarios = len(found.scenario_ids)
    why = TOO_FEW if scenarios < _fewest(found, "pass_k") else BEING_COMPUTED
    return Estimate(float(_chances(found, k).mean()), scenarios=scenarios, why=why)


def _chances(found: TailInput, k: int) -> Floats:
    values = [side.pass_k[k] for side in found.sides]
    return values[-1] - values[0] if len(values) == 2 else values[0]


def bootstrap_tails(inputs: Iterable[TailInput]) -> Iterator[tuple[str, Intervals]]:
    """Key and intervals of each, for tails_with. The same scenario ids give the same resamples, so that pages agree.

    What inputs have in common is worked out once: 20 configurations x 500 scenarios x 10 repeats against the first
    take some seconds and 100 MB.
    """
    draws: dict[tuple[str, ...], Counts] = {}
    known: dict[tuple[tuple[str, ...], bytes], dict[str, Quantiles]] = {}
    for found in inputs:
        ids = found.scenario_ids
        if ids and ids not in draws:
            draws[ids] = draws_of(ids)
        tails = tails_of(found)
        if tails.p50.why == BEING_COMPUTED or tails.p95.why == BEING_COMPUTED:
            for side in found.sides:
                if (ids, side.digest) not in known:
                    each = quantiles(side.ms, side.at, tuple(SHARES.values()), draws[ids])
                    known[ids, side.digest] = dict(zip(SHARES, each, strict=True))
        sides = [known.get((ids, side.digest), {}) for side in found.sides]
        yield found.key, _intervals(found, tails, sides, draws.get(ids))


def _intervals(
    found: TailInput, tails: Tails, sides: Sequence[Mapping[str, Quantiles]], draws: Counts | None
) -> Intervals:
    if draws is None:
        return {}
    intervals: Intervals = {
        name: quantile_interval([side[name] for side in sides], draws, symmetric=not _leans(name, found))
        for name, estimate in (("p50", tails.p50), ("p95", tails.p95))
        if estimate.why == BEING_COMPUTED
    }
    for k, estimate in tails.pass_k.items():
        if estimate.why == BEING_COMPUTED:
            intervals[f"pass^{k}"] = mean_interval(_chances(found, k), draws)
    return intervals


def _leans(name: str, found: TailInput) -> bool:
    """A difference of p95 is the one estimate of which an interval alike to both sides is far too wide."""
    return name == "p95" and len(found.sides) == 2


def tails_with(tails: Tails, intervals: Intervals) -> Tails:
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
