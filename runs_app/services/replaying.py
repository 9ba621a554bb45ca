"""The application's state at a moment of a trial: its calls made again, as far as that gives what the trial left."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync

from runs_app.models import Trial
from runs_app.realtime.application import ApplicationError, ApplicationExecutor
from runs_app.realtime.record import Record, ToolCall
from runs_app.realtime.tools import ToolSandboxError
from runs_app.services.material import Material
from scenarios_app.spec.tool_faults import parse_faults

State = dict[str, Any]


@dataclass(frozen=True)
class StateThen:
    """`known` is False where endpoints or classes answered in between: then it is the state before the first call."""

    state: State
    known: bool


def state_at(*, trial: Trial, material: Material, record: Record, t_ms: float) -> StateThen:
    """After every call that was answered by `t_ms` on the trial's timeline."""
    executed = [call for call in record.tool_calls if call.status != "recorded" and call.arguments is not None]
    answered = [call for call in executed if call.answered_ms is not None and call.answered_ms <= t_ms]
    if not answered:
        return StateThen(copy.deepcopy(record.initial_state), known=True)
    if len(answered) == len(executed):
        return StateThen(copy.deepcopy(record.final_state), known=True)
    try:
        states = async_to_sync(_states)(_executor(trial, material), executed)
    except (ApplicationError, ToolSandboxError):
        states = []
    if not states or states[-1] != record.final_state:
        return StateThen(copy.deepcopy(record.initial_state), known=False)
    return StateThen(states[executed.index(answered[-1])], known=True)


def _executor(trial: Trial, material: Material) -> ApplicationExecutor:
    """As in the trial, but for tools that only ask others: those cannot be asked again without doing it again."""
    scenario = material.scenario
    return ApplicationExecutor(
        material.application,
        initial_state=scenario.application.initial_state,
        reference_date=scenario.reference_date,
        started_at=trial.started_at,
        faults={**scenario.tool_faults, **parse_faults(trial.run.tool_faults)},
        seed=trial.seed,
    )


async def _states(executor: ApplicationExecutor, calls: list[ToolCall]) -> list[State]:
    """The state after each call."""
    states = []
    for call in calls:
        await executor.execute(call.name, call.arguments or {})
        states.append(executor.snapshot())
    return states
