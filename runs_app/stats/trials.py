"""Trials as columns of numbers: what a hundred thousand of them are computed from without a loop over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from runs_app.stats.rows import PASS_RATE, TIMED_OUT, MetricRule, TrialRow

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Code = TypeVar("Code", bound=Hashable)

OUTCOMES: Final = ("", "passed", "failed", "ungraded", "invalid", "cancelled")
PASSED, FAILED, UNGRADED, INVALID = 1, 2, 3, 4
MIXED: Final = -2  # content of a scenario that one configuration ran in several versions
NEVER_RAN: Final = -1
LARGEST: Final = 1e100  # nothing that was measured is larger, and the squares of larger numbers are none


@dataclass(frozen=True, eq=False)
class Trials:
    """One entry per trial in every array. `scenario`, `configuration`, `stage` point into the names beside them,
    `outcome` into OUTCOMES; `content` is the same for the same run hash. NaN in `values` (metric -> number, measured
    or not; only graded trials count) and in `timeout_ms` is "none".

    The first configuration is the baseline.
    """

    scenario_ids: tuple[str, ...]
    configuration_keys: tuple[str, ...]
    stages: tuple[str, ...]
    scenario: Ints
    configuration: Ints
    content: Ints
    outcome: Ints
    stage: Ints
    timeout_ms: Floats
    values: Mapping[str, Floats]
    _kept: dict[str, Floats] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Configurations, scenarios."""
        return len(self.configuration_keys), len(self.scenario_ids)

    @cached_property
    def cell(self) -> Ints:
        """Of each trial: its place in a flat table of configurations x scenarios."""
        return self.configuration * len(self.scenario_ids) + self.scenario

    @cached_property
    def own(self) -> tuple[Ints, ...]:
        """Of each configuration: the places of its trials."""
        order = np.argsort(self.configuration, kind="stable")
        ends = np.cumsum(np.bincount(self.configuration, minlength=len(self.configuration_keys)))
        return tuple(np.split(order, ends[:-1])) if len(self.configuration_keys) else ()

    @cached_property
    def graded(self) -> Flags:
        return np.isin(self.outcome, (PASSED, FAILED))

    @cached_property
    def missing(self) -> Flags:
        return np.isin(self.outcome, (UNGRADED, INVALID))

    @cached_property
    def timed_out(self) -> Flags:
        place = self.stages.index(TIMED_OUT) if TIMED_OUT in self.stages else -1
        return np.asarray((self.outcome == FAILED) & (self.stage == place))

    @cached_property
    def contents(self) -> Ints:
        """Configurations x scenarios: the content that ran, MIXED or NEVER_RAN."""
        configurations, scenarios = self.shape
        low = np.full(configurations * scenarios, np.iinfo(np.int64).max)
        high = np.full(configurations * scenarios, NEVER_RAN)
        np.minimum.at(low, self.cell, self.content)
        np.maximum.at(high, self.cell, self.content)
        found = np.where((high == NEVER_RAN) | (low == high), high, MIXED)
        return found.reshape(configurations, scenarios)

    def value(self, metric: str) -> Floats:
        """NaN where it was not measured. Trials without a grade measure nothing: they say nothing about the agent."""
        if metric not in self._kept:
            self._kept[metric] = self._value(metric)
        return self._kept[metric]

    def _value(self, metric: str) -> Floats:
        if metric == PASS_RATE:
            return np.where(self.graded, (self.outcome == PASSED).astype(np.float64), np.nan)
        values = self.values.get(metric, np.full(len(self.outcome), np.nan))
        return np.where(self.graded & (np.abs(values) <= LARGEST), values, np.nan)

    def censored(self, metric: str) -> Flags:
        """Timed out at a known limit and without a value: the truth is not below the limit."""
        return self.timed_out & np.isnan(self.value(metric)) & (self.timeout_ms > 0)

    def tested(self, rule: MetricRule) -> Floats:
        """What the test is made on: logarithms for a log metric, with time-outs at their limit."""
        values = self.value(rule.name)
        if rule.scale != "log":
            return values
        values = np.where(self.censored(rule.name), self.timeout_ms, values)
        return np.log(np.where(values > 0, values, np.nan))

    def count(self, flags: Flags) -> Ints:
        """Configurations x scenarios: how many of the flagged trials."""
        found = np.bincount(self.cell[flags], minlength=self.shape[0] * self.shape[1])
        return found.astype(np.int64).reshape(self.shape)


def coded(values: Iterable[Code]) -> tuple[list[int], list[Code]]:
    """Each value as a number from 0, in order of first appearance, and the values that the numbers stand for."""
    listed = list(values)
    known = list(dict.fromkeys(listed))
    code = {value: place for place, value in enumerate(known)}
    return [code[value] for value in listed], known


def trials_of(
    rows: Iterable[TrialRow], *, configurations: Sequence[str], metrics: Sequence[str] | None = None
) -> Trials:
    """`configurations`: keys in the order to compare them, the baseline first; rows of others are left out.

    `metrics` that no row carries are there and empty. Raises ValueError for a key given twice.
    """
    if twice := sorted({key for key in configurations if list(configurations).count(key) > 1}):
        raise ValueError(f"configuration given twice: {', '.join(twice)}")
    kept = [row for row in rows if row.configuration_key in configurations]
    places = {key: place for place, key in enumerate(configurations)}
    names = sorted({row.scenario_id for row in kept})
    at = {name: place for place, name in enumerate(names)}
    stage, stages = coded(row.stage for row in kept)
    content, _ = coded(row.run_hash for row in kept)
    wanted = metrics if metrics is not None else sorted({name for row in kept for name in row.metrics})
    return Trials(
        scenario_ids=tuple(names),
        configuration_keys=tuple(configurations),
        stages=tuple(stages),
        scenario=_ints(at[row.scenario_id] for row in kept),
        configuration=_ints(places[row.configuration_key] for row in kept),
        content=_ints(content),
        outcome=_ints(OUTCOMES.index(row.outcome) for row in kept),
        stage=_ints(stage),
        timeout_ms=floats(row.timeout_ms for row in kept),
        values={name: floats(row.metrics.get(name) for row in kept) for name in wanted if name != PASS_RATE},
    )


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def floats(values: Iterable[float | None]) -> Floats:
    """None becomes NaN."""
    return np.array(list(values), dtype=np.float64)
