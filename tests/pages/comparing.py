"""Finished runs for the comparison page: started by the service, ended with the outcomes that a test names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs_app.models import Run, Trial
from runs_app.services.results import close_run, end_trial
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.configurations import find_configuration_version
from tests.runs.builders import make_configuration, make_run


@dataclass(frozen=True)
class Result:
    """What a trial came to; `metrics` may name any of the catalogue."""

    outcome: str = "passed"
    stage: str = ""
    metrics: Mapping[str, float | None] = field(default_factory=dict)


Results = Callable[[Trial], Result | None]


def versions(count: int = 2, **more: Any) -> list[ConfigurationVersion]:
    """Front desk@1, @2 and so on, told apart by their prompts."""
    prompts = ["Be brief.", "Be brief.\nUse the caller's corrected value.", *(f"Be brief {n}." for n in range(3, 20))]
    for prompt in prompts[:count]:
        make_configuration(instructions=prompt, **more)
    return [find_configuration_version(f"Front desk@{number}") for number in range(1, count + 1)]


def finish(run: Run, results: Results) -> Run:
    """Ends every trial that `results` gives one for; the run is over once all have ended."""
    trials = run.trials.select_related("scenario_version__scenario", "configuration_version__configuration")
    for trial in trials:
        result = results(trial)
        if result is not None:
            columns = {name: result.metrics.get(name) for name in ("semantic_quality", "tool_accuracy")}
            latency = result.metrics.get("response_latency_ms")
            kept = {**columns, "response_latency_ms": latency, "metrics": dict(result.metrics)}
            end_trial(trial, outcome=result.outcome, stage=result.stage, reason=result.stage, **kept)
    close_run(run_id=run.pk)
    run.refresh_from_db()
    return run


def finished_run(
    results: Results,
    *,
    scenarios: Sequence[Mapping[str, Any]] | int = 3,
    configurations: Sequence[ConfigurationVersion] | None = None,
    **more: Any,
) -> Run:
    chosen = versions() if configurations is None else configurations
    return finish(make_run(scenarios, configurations=chosen, **more), results)


def key(trial: Trial) -> str:
    return trial.scenario_version.scenario.key


def side(trial: Trial) -> int:
    """The number of the configuration's version."""
    return trial.configuration_version.number


def same(outcome: str = "passed", stage: str = "", **metrics: float | None) -> Results:
    """All trials alike."""
    return lambda trial: Result(outcome, stage, metrics)
