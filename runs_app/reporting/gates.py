"""Limits that a configuration's numbers must reach, and what a run came to in lines for a terminal.

Known failures do not count against a pass rate: what a gate judges is new.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runs_app.models import Outcome, Trial
from runs_app.reporting.baseline_gate import as_lines

GATES = ("pass_rate", "semantic_quality", "tool_accuracy")


@dataclass(frozen=True)
class Gate:
    metric: str
    least: float

    def __str__(self) -> str:
        return f"{self.metric}={self.least:g}"


@dataclass(frozen=True)
class Verdict:
    """`below`: configurations under a gate. `unknown`: why a gate cannot be judged."""

    below: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def gate(text: str) -> Gate:
    """METRIC=NUMBER. Raises ArgumentTypeError."""
    metric, equals, least = text.partition("=")
    if not equals or metric not in GATES:
        raise ArgumentTypeError(f"{text!r} is not METRIC=NUMBER with a metric of {', '.join(GATES)}")
    try:
        value = float(least)
    except ValueError:
        raise ArgumentTypeError(f"{least!r} is not a number") from None
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{metric} is from 0 to 1, not {least}")
    return Gate(metric, value)


def judge(results: dict[str, Any], gates: Sequence[Gate]) -> Verdict:
    """`results` as run_results gives them. Every configuration must reach every gate."""
    if not gates:
        return Verdict()
    if results["status"] == "cancelled":
        return Verdict(unknown=("the run was cancelled: no gate can be judged",))
    if not results["trials"]["passed"] + results["trials"]["failed"]:
        return Verdict(unknown=("no trial was graded: no gate can be judged",))
    verdicts = [verdict for item in results["configurations"] for verdict in _verdicts(item, gates)]
    return Verdict(*(tuple(text for state, text in verdicts if state == wanted) for wanted in ("below", "unknown")))


def _verdicts(item: dict[str, Any], gates: Iterable[Gate]) -> Iterable[tuple[str, str]]:
    label = f"{item['name']}@{item['version']}"
    for limit in gates:
        metric = item["metrics"][limit.metric]
        known = metric.get("known", 0)
        value = metric.get("new_value", metric.get("mean"))
        if value is None:
            without = f" but {known} known failures" if known else ""
            yield "unknown", f"{label}: {limit.metric} was not measured in any of {metric['of']} trials{without}"
        elif value < limit.least:
            counted = f"{metric['n'] - known} of {metric['of']} trials" + (f", {known} known left out" if known else "")
            yield "below", f"{label}: {limit.metric} {value:.3f} is below {limit.least:g} ({counted})"


def gate_document(verdict: Verdict, *, judged: bool) -> dict[str, Any] | None:
    """What the exit code rests on, with the reasons; None where nothing was asked."""
    if not judged:
        return None
    state = "failed" if verdict.below else "unknown" if verdict.unknown else "passed"
    return {"verdict": state, "failed": list(verdict.below), "unknown": list(verdict.unknown)}


def as_text(results: dict[str, Any]) -> str:
    trials = results["trials"]
    outcomes = ("passed", "failed", "ungraded", "invalid", "cancelled")
    known = f" ({trials['known']} of the failed are known)" if trials["known"] else ""
    lines = [f"{results['status']}: " + ", ".join(f"{trials[name]} {name}" for name in outcomes) + known]
    lines += [f"passes now: {one['scenario']} ({one['ticket']})" for one in results["unexpected_passes"]]
    for item in results["configurations"]:
        metrics = item["metrics"]
        shown = [f"{name} {_number(metrics[name])}" for name in (*GATES, "response_latency_ms")]
        lines.append(f"{item['name']}@{item['version']}: " + ", ".join(shown))
    if results.get("baseline"):
        lines += as_lines(results["baseline"])
    return "\n".join(lines)


def _number(metric: dict[str, Any]) -> str:
    value = metric.get("value", metric.get("mean"))
    return f"{'-' if value is None else format(value, '.4g')} ({metric['n']}/{metric['of']})"


def line_about(trial: Trial) -> str:
    stage = f" ({trial.stage})" if trial.stage else ""
    reason = f": {trial.reason}" if trial.reason and trial.outcome != Outcome.PASSED else ""
    where = f"{trial.scenario_version.scenario.key} · {trial.configuration_version} · repeat {trial.repeat}"
    return f"{trial.outcome}{stage}  {where}{reason}"
