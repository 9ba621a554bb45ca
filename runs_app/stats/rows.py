"""The plain rows that a comparison is made of, and how they are grouped."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Better = Literal["higher", "lower"]
Grouped = dict[str, list[float | None]]

GRADED: Final = ("passed", "failed")
# A verdict could not be had; had it been, it might have gone either way. A person's stop is not among them.
WITHOUT_VERDICT: Final = ("invalid", "ungraded")
PASS_RATE: Final = "pass_rate"


@dataclass(frozen=True)
class TrialRow:
    """One trial. `outcome`: passed, failed, ungraded, invalid, cancelled; empty while it is not done.

    `stage` is the outcome's ("response_timeout" of a failed one). A trial that timed out may carry the limit that it
    reached, `timeout_ms`: its latency is then at least that.
    """

    scenario_id: str
    run_hash: str
    configuration_key: str
    repeat: int
    outcome: str
    stage: str = ""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    timeout_ms: float | None = None

    @property
    def graded(self) -> bool:
        return self.outcome in GRADED

    @property
    def timed_out(self) -> bool:
        return self.outcome == "failed" and self.stage == "response_timeout"


@dataclass(frozen=True)
class MetricRule:
    """How a metric is compared: which direction is better; "log" compares ratios and needs values above 0.

    `primary`: it decides, and shares Holm's correction with the others that do; one that does not gets an interval and
    no Better or Worse. `margin`, in the metric's own unit (ms for a latency): a difference below it does not matter.
    """

    name: str
    better: Better
    scale: Literal["linear", "log"] = "linear"
    primary: bool = True
    margin: float | None = None


PRIMARY: Final = (
    MetricRule(PASS_RATE, "higher"),
    MetricRule("semantic_quality", "higher"),
    MetricRule("tool_accuracy", "higher"),
    MetricRule("response_latency_ms", "lower", "log"),
)


def value_of(row: TrialRow, metric: str) -> float | None:
    """Null where it was not measured. Trials without a grade measure nothing: they say nothing about the agent."""
    if metric == PASS_RATE:
        return float(row.outcome == "passed") if row.graded else None
    if not row.graded:
        return None
    value = row.metrics.get(metric)
    return None if value is None or not math.isfinite(value) else float(value)


def with_timeout(row: TrialRow, rule: MetricRule) -> float | None:
    """As value_of, but a time-out stands at its limit: the true latency is not shorter."""
    value = value_of(row, rule.name)
    return row.timeout_ms if value is None and rule.scale == "log" and row.timed_out else value


def of_configuration(rows: Iterable[TrialRow], key: str) -> list[TrialRow]:
    return [row for row in rows if row.configuration_key == key]


def by_scenario(rows: Sequence[TrialRow]) -> dict[str, list[TrialRow]]:
    grouped: dict[str, list[TrialRow]] = {}
    for row in rows:
        grouped.setdefault(row.scenario_id, []).append(row)
    return grouped


def counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))
