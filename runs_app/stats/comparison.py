"""Two or more configurations over the same scenarios, as one frozen object that page, JSON and CSV read.

Scenarios are joined by their id, never by position. Repeats are averaged per scenario and never paired with each
other. A scenario whose content differs between two configurations (another run hash) is named and kept out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from runs_app.stats.configuration import ConfigurationSummary, summarise_configuration
from runs_app.stats.pair import PairComparison, compare_pair
from runs_app.stats.paired import scenario_means
from runs_app.stats.rows import PASS_RATE, PRIMARY, MetricRule, TrialRow, by_scenario, of_configuration, value_of


@dataclass(frozen=True)
class Repeat:
    """One dot of the table."""

    repeat: int
    outcome: str
    stage: str
    metrics: dict[str, float | None]


@dataclass(frozen=True)
class Cell:
    """One scenario under one configuration; `means` over the measured repeats, `n` graded of `of`."""

    configuration_key: str
    repeats: tuple[Repeat, ...]
    means: dict[str, float | None]
    n: int
    of: int


@dataclass(frozen=True)
class ScenarioRow:
    """`cells` in the order of the configurations; None where a configuration never ran the scenario."""

    scenario_id: str
    run_hashes: tuple[str, ...]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Comparison:
    """`pairs` holds each two configurations in the given order, or each with the first: the earlier one is A."""

    configurations: tuple[ConfigurationSummary, ...]
    pairs: tuple[PairComparison, ...]
    scenarios: tuple[ScenarioRow, ...]
    rules: tuple[MetricRule, ...]

    def pair(self, a: str, b: str) -> PairComparison:
        """Raises KeyError for a pair that is not there in this order."""
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
        raise KeyError((a, b))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    rows: Sequence[TrialRow],
    *,
    configurations: Sequence[str],
    rules: Sequence[MetricRule] = PRIMARY,
    primaries: Sequence[str] | None = None,
    margins: Mapping[str, float] | None = None,
    critical: Collection[str] = (),
    metrics: Sequence[str] = (),
    against_first: bool = False,
) -> Comparison:
    """`configurations`: keys in the order to show them, the baseline first. `rules`: metrics that get a difference
    and a verdict; `primaries` names those among them that decide (default: all), `margins` what does not matter, in the
    metric's own unit. `critical`: ids of scenarios that no average makes up for. `metrics`: further ones that are only
    summarised. `against_first`: pairs with the baseline alone.

    Raises ValueError for a key or a metric given twice, and for a primary or a margin of a metric without a rule.
    """
    rules = _told(rules, primaries, margins or {})
    names = list(dict.fromkeys([*(rule.name for rule in rules), *metrics]))
    _refuse_twice("configuration", configurations)
    _refuse_twice("metric", [rule.name for rule in rules])
    of_key = {key: of_configuration(rows, key) for key in configurations}
    pairs = [(a, b) for a, b in combinations(configurations, 2) if a == configurations[0] or not against_first]
    return Comparison(
        configurations=tuple(summarise_configuration(key, of_key[key], names) for key in configurations),
        pairs=tuple(compare_pair(a, of_key[a], b, of_key[b], rules) for a, b in pairs),
        scenarios=_scenario_rows(of_key, names),
        rules=tuple(rules),
    )


def _told(
    rules: Sequence[MetricRule], primaries: Sequence[str] | None, margins: Mapping[str, float]
) -> tuple[MetricRule, ...]:
    """The rules with what was chosen before the start."""
    known = {rule.name for rule in rules}
    if unknown := sorted({*(primaries or ()), *margins} - known):
        raise ValueError(f"no rule for the metric {', '.join(unknown)}")
    return tuple(
        replace(
            rule,
            primary=rule.primary if primaries is None else rule.name in primaries,
            margin=margins.get(rule.name, rule.margin),
        )
        for rule in rules
    )


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(f"{what} given twice: {', '.join(twice)}")


def _scenario_rows(of_key: dict[str, list[TrialRow]], names: Sequence[str]) -> tuple[ScenarioRow, ...]:
    grouped = {key: by_scenario(rows) for key, rows in of_key.items()}
    scenario_ids = dict.fromkeys(row.scenario_id for rows in of_key.values() for row in rows)
    return tuple(_scenario_row(scenario_id, grouped, names) for scenario_id in sorted(scenario_ids))


def _scenario_row(scenario_id: str, grouped: dict[str, dict[str, list[TrialRow]]], names: Sequence[str]) -> ScenarioRow:
    own = {key: scenarios.get(scenario_id, []) for key, scenarios in grouped.items()}
    hashes = dict.fromkeys(row.run_hash for rows in own.values() for row in rows)
    cells = tuple(_cell(key, rows, names) if rows else None for key, rows in own.items())
    return ScenarioRow(scenario_id, tuple(hashes), cells)


def _cell(key: str, rows: Sequence[TrialRow], names: Sequence[str]) -> Cell:
    ordered = sorted(rows, key=lambda row: row.repeat)
    plain = [name for name in names if name != PASS_RATE]
    repeats = tuple(
        Repeat(row.repeat, row.outcome, row.stage, {name: value_of(row, name) for name in plain}) for row in ordered
    )
    means = {name: scenario_means({"": [value_of(row, name) for row in ordered]}).get("") for name in names}
    return Cell(key, repeats, means, sum(row.graded for row in ordered), len(ordered))
