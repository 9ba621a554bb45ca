"""A scenario's own assertions, each a required check `assertion:N` (from 1) with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runs_app.grading.case import Case, call_row, call_spans
from runs_app.grading.check import Check, counted, not_assessed, verdict
from runs_app.grading.matching import matches
from runs_app.grading.plain_values import same_number
from runs_app.realtime.record import ToolCall
from scenarios_app.spec.scenario import Assertion, Limits, ToolCalled

Json = Any
Metrics = Mapping[str, float | None]

_LIMITS: Final[dict[str, tuple[str, Callable[[float, float], bool]]]] = {
    "lt": ("below", lambda value, limit: value < limit),
    "lte": ("at most", lambda value, limit: value <= limit),
    "gt": ("above", lambda value, limit: value > limit),
    "gte": ("at least", lambda value, limit: value >= limit),
    "eq": ("exactly", same_number),
}


def assertion_id(index: int) -> str:
    return f"assertion:{index + 1}"


def is_deterministic(assertion: Assertion) -> bool:
    return assertion.judge is None


def assertion_checks(case: Case, metrics: Metrics, judged: Mapping[str, Check]) -> list[Check]:
    """In the order of the scenario; `judged` holds those that a judge decided, by id."""
    checks = []
    for index, assertion in enumerate(case.scenario.assertions):
        id = assertion_id(index)
        checks.append(judged[id] if id in judged else _check(id, assertion, case, metrics))
    return checks


def _check(id: str, assertion: Assertion, case: Case, metrics: Metrics) -> Check:
    if assertion.tool_called is not None:
        return _tool_called(id, assertion.tool_called, case)
    if assertion.tool_not_called is not None:
        return _tool_not_called(id, assertion.tool_not_called, case)
    if assertion.metric is not None:
        return _within(id, assertion.metric.name, metrics.get(assertion.metric.name), assertion.metric)
    if assertion.turns is not None:
        return _within(id, "turns", metrics.get("turns"), assertion.turns)
    return not_assessed(id, "no judge was asked", required=True, question=assertion.judge)


def _tool_called(id: str, wanted: ToolCalled, case: Case) -> Check:
    named = [call for call in case.record.tool_calls if call.name == wanted.name]
    fitting = [call for call in named if not wanted.args or matches(wanted.args, call.arguments)]
    times = wanted.times
    what = f"{wanted.name} with these arguments" if wanted.args else wanted.name
    wish = f", expected {counted(times, 'time')}" if times is not None else ""
    return verdict(
        id,
        len(fitting) == times if times is not None else bool(fitting),
        required=True,
        reason=f"{what} was called {counted(len(fitting), 'time')}{wish}",
        arguments=wanted.args,
        **_calls(named),
    )


def _tool_not_called(id: str, name: str, case: Case) -> Check:
    named = [call for call in case.record.tool_calls if call.name == name]
    reason = f"{name} was called {counted(len(named), 'time')}" if named else f"{name} was not called"
    return verdict(id, not named, required=True, reason=reason, **_calls(named))


def _calls(calls: list[ToolCall]) -> dict[str, Json]:
    return {"calls": [call_row(call) for call in calls], "spans_ms": call_spans(calls)}


def _within(id: str, name: str, value: float | None, limits: Limits) -> Check:
    asked = {key: limit for key in _LIMITS if (limit := getattr(limits, key)) is not None}
    wish = " and ".join(f"{_LIMITS[key][0]} {limit:g}" for key, limit in asked.items())
    if value is None:
        reason = f"{name} was not measured; it must be {wish}"
        return verdict(id, False, required=True, reason=reason, metric=name, value=None, limits=asked)
    ok = all(_LIMITS[key][1](value, limit) for key, limit in asked.items())
    reason = f"{name} is {value:g}; it must be {wish}"
    return verdict(id, ok, required=True, reason=reason, metric=name, value=value, limits=asked)
