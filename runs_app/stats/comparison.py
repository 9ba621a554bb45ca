"""Two or more configurations over the same scenarios, as one frozen object that page, CSV, JSON, report and gate read.

Scenarios are joined by their id, never by position. Repeats are averaged per scenario and never paired with each
other. A scenario whose content differs between two configurations (another run hash) is named and kept out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from runs_app.stats.configuration import ConfigurationSummary, summarise_configurations
from runs_app.stats.deciding import Reasons, judged, measured_of
from runs_app.stats.pair import Measured, MetricComparison, PairComparison
from runs_app.stats.pairing import Pairing, pairing_of
from runs_app.stats.planning import Plan, plan_repeats
from runs_app.stats.rows import PASS_RATE, PRIMARY, MetricRule
from runs_app.stats.tails import TailInputs, tails_of
from runs_app.stats.trials import Flags, Trials
from runs_app.stats.verdict import comparability


@dataclass(frozen=True)
class Cell:
    """One scenario under one configuration; `means` over the measured repeats, `n` graded of `of`."""

    configuration_key: str
    means: dict[str, float | None]
    n: int
    of: int


@dataclass(frozen=True)
class ScenarioRow:
    """`cells` in the order of the configurations; None where a configuration never ran the scenario."""

    scenario_id: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Comparison:
    """`pairs` holds each two configurations in the given order, or each with the first: the earlier one is A.

    `family`: how many tests share Holm's correction.
    """

    configurations: tuple[ConfigurationSummary, ...]
    pairs: tuple[PairComparison, ...]
    scenarios: tuple[ScenarioRow, ...]
    rules: tuple[MetricRule, ...]
    family: int
    measured: Measured = field(repr=False, compare=False)
    _plans: dict[tuple[str, str, str], Plan] = field(default_factory=dict, repr=False, compare=False)

    def pair(self, a: str, b: str) -> PairComparison:
        """Raises KeyError for a pair that is not there in this order."""
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
        raise KeyError((a, b))

    def rule(self, metric: str) -> MetricRule:
        """Raises KeyError for a metric without one."""
        for rule in self.rules:
            if rule.name == metric:
                return rule
        raise KeyError(metric)

    def plan(self, a: str, b: str, metric: str, cost: Mapping[str, float] | None = None) -> Plan:
        """What it would take to see the margin (or, without one, what was seen). `cost`: of one repeat on one side,
        by scenario id; 1 each by default, and then the plan is kept, as a page asks for it at every look."""
        key = (a, b, metric)
        if cost is not None or key not in self._plans:
            pair, rule = self.pair(a, b), self.rule(metric)
            plan = plan_repeats(rule, self.measured, pair.source[1], pair.metrics[metric], cost or {})
            if cost is not None:
                return plan
            self._plans[key] = plan
        return self._plans[key]

    def to_json(self) -> dict[str, Any]:
        """Strict JSON: null is "not measured"."""
        return {
            "configurations": [asdict(one) for one in self.configurations],
            "pairs": [pair_json(pair) for pair in self.pairs],
            "scenarios": [asdict(row) for row in self.scenarios],
            "rules": [asdict(rule) for rule in self.rules],
            "family": self.family,
        }


def pair_json(pair: PairComparison) -> dict[str, Any]:
    """All of it, with the differences and flags of its scenarios."""
    plain = {
        one.name: getattr(pair, one.name) for one in fields(pair) if one.name not in ("source", "metrics", "tails")
    }
    return {
        **plain,
        "metrics": {name: asdict(one) for name, one in pair.metrics.items()},
        "tails": asdict(pair.tails),
        "differences": pair.differences,
        "flags": {scenario: asdict(flag) for scenario, flag in pair.flags.items()},
    }


def compare(
    trials: Trials,
    *,
    rules: Sequence[MetricRule] = PRIMARY,
    primaries: Sequence[str] | None = None,
    margins: Mapping[str, float] | None = None,
    critical: Collection[str] = (),
    not_comparable: Mapping[tuple[str, str], Reasons] | None = None,
    against_first: bool = False,
    only: tuple[str, str] | None = None,
) -> Comparison:
    """`rules`: metrics that get a difference and a verdict; the others of `trials` are only summarised. `primaries`
    names the rules that decide (default: all), `margins` what does not matter, in the metric's own unit. `critical`:
    ids of scenarios that no average makes up for. `not_comparable`: (A, B) -> metric -> why these two say nothing
    about each other. `against_first`: pairs with the baseline alone. `only`: of all these pairs one alone is told.

    Holm's correction is over the primary metrics of all pairs, told or not. Raises ValueError for a metric given
    twice, and for a primary or a margin of a metric without a rule.
    """
    rules = _told(rules, primaries, margins or {})
    measured = measured_of(trials, rules)
    places = combinations(range(len(trials.configuration_keys)), 2)
    pairings = [pairing_of(trials, a, b) for a, b in places if a == 0 or not against_first]
    reasons = [_reasons(trials, pairing, rules, not_comparable or {}) for pairing in pairings]
    keys = trials.configuration_keys
    told = [pairing for pairing in pairings if only in (None, (keys[pairing.a], keys[pairing.b]))]
    found = judged(measured, rules, pairings, reasons, told)
    inputs = TailInputs(trials)
    marked = np.isin(np.array(trials.scenario_ids, dtype=object), list(critical))
    return Comparison(
        configurations=summarise_configurations(trials, inputs),
        pairs=tuple(
            _pair(measured, pairing, own, marked, inputs) for pairing, own in zip(told, found.metrics, strict=True)
        ),
        scenarios=_scenario_rows(measured),
        rules=rules,
        family=found.family,
        measured=measured,
    )


def _told(
    rules: Sequence[MetricRule], primaries: Sequence[str] | None, margins: Mapping[str, float]
) -> tuple[MetricRule, ...]:
    """The rules with what was chosen before the start."""
    names = [rule.name for rule in rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"metric given twice: {', '.join(twice)}")
    if unknown := sorted({*(primaries or ()), *margins} - set(names)):
        raise ValueError(f"no rule for the metric {', '.join(unknown)}")
    return tuple(
        replace(
            rule,
            primary=rule.primary if primaries is None else rule.name in primaries,
            margin=margins.get(rule.name, rule.margin),
        )
        for rule in rules
    )


def _reasons(
    trials: Trials,
    pairing: Pairing,
    rules: Sequence[MetricRule],
    not_comparable: Mapping[tuple[str, str], Reasons],
) -> Reasons:
    shared = int(pairing.paired.sum() + pairing.changed.sum())
    if reason := comparability(shared, int(pairing.changed.sum())):
        return {rule.name: reason for rule in rules}
    keys = trials.configuration_keys
    return not_comparable.get((keys[pairing.a], keys[pairing.b]), {})


def _pair(
    measured: Measured,
    pairing: Pairing,
    metrics: dict[str, MetricComparison],
    critical: Flags,
    inputs: TailInputs,
) -> PairComparison:
    trials = measured.trials
    ids = np.array(trials.scenario_ids, dtype=object)

    def named(flags: Flags) -> tuple[str, ...]:
        return tuple(ids[flags])

    return PairComparison(
        a=trials.configuration_keys[pairing.a],
        b=trials.configuration_keys[pairing.b],
        paired=named(pairing.paired),
        changed=named(pairing.changed),
        only_a=named(pairing.only_a),
        only_b=named(pairing.only_b),
        metrics=metrics,
        tails=tails_of(inputs.pair(pairing)),
        critical=named(critical & _newly_always_failed(measured, pairing)),
        source=(measured, pairing),
    )


def _newly_always_failed(measured: Measured, pairing: Pairing) -> Flags:
    """Of the paired scenarios: passed at least once by A, and by B never. NaN, without a verdict, is neither."""
    if PASS_RATE not in measured.plain:
        return np.zeros_like(pairing.paired)
    rates = measured.plain[PASS_RATE].mean
    return np.asarray(pairing.paired & (rates[pairing.a] > 0) & (rates[pairing.b] == 0))


def _scenario_rows(measured: Measured) -> tuple[ScenarioRow, ...]:
    trials = measured.trials
    of = trials.count(np.ones(len(trials.outcome), dtype=bool)).T.tolist()
    n = trials.count(trials.graded).T.tolist()
    means = {name: _nullable(one.mean.T) for name, one in measured.plain.items()}
    return tuple(
        ScenarioRow(scenario, _cells(trials.configuration_keys, n[s], of[s], {k: v[s] for k, v in means.items()}))
        for s, scenario in enumerate(trials.scenario_ids)
    )


def _nullable(values: np.ndarray) -> list[list[float | None]]:
    found = values.astype(object)
    found[np.isnan(values)] = None
    return list(found.tolist())


def _cells(
    keys: Sequence[str], n: Sequence[int], of: Sequence[int], means: Mapping[str, Sequence[float | None]]
) -> tuple[Cell | None, ...]:
    return tuple(
        Cell(key, {name: values[c] for name, values in means.items()}, n[c], of[c]) if of[c] else None
        for c, key in enumerate(keys)
    )
