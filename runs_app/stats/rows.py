"""The plain rows that a comparison is made of, and the rules by which metrics are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Better = Literal["higher", "lower"]

GRADED: Final = ("passed", "failed")
TIMED_OUT: Final = "response_timeout"  # the stage of a failed trial
PASS_RATE: Final = "pass_rate"
LATENCY: Final = "response_latency_ms"
COUNTED: Final = (PASS_RATE, "tool_accuracy")  # made of yes or no: few values, which crowd near 1
MEASURED: Final = ("semantic_quality", "tool_accuracy", LATENCY)  # of each trial; with the pass rate all of PRIMARY


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
        return self.outcome == "failed" and self.stage == TIMED_OUT


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
    MetricRule(LATENCY, "lower", "log"),
)
