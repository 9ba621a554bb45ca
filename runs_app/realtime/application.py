"""The tools of one trial: an application's declared answers, run against a state that belongs to this trial alone.

A call passes: its arguments against the JSON Schema; the first answer whose `when` holds; its templates; its effects
on the state. The agent's mistakes and declared errors are outcomes. A template that goes wrong or takes too much is
ToolSandboxError: it says nothing about the agent.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jsonschema.exceptions import SchemaError

from runs_app.realtime import sandbox
from runs_app.realtime.record import Json
from runs_app.realtime.sandbox import Function, LimitError, TemplateError
from runs_app.realtime.tool_arguments import ArgumentSchema, SchemaFault
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from scenarios_app.spec.application import Answer, Application, Tool, unsupported_fields

NOON = "T12:00:00+00:00"
MAX_STATE_CHARS = 262_144
MAX_PREFIX_CHARS = 100
MAX_WIDTH = 20
NO_ANSWER = "no answer declared"

# `{{args.order-id}}` is an argument of that name in a plain tool_results map; to jinja2 it is a subtraction.
_PLAIN_ARGUMENT = re.compile(r"\{\{\s*args\.([A-Za-z0-9_]*-[A-Za-z0-9_-]*)\s*\}\}")

State = dict[str, Json]


class ApplicationError(ValueError):
    """The application cannot be run: a template, a schema or a behaviour that does not work. Names the field."""


@dataclass(frozen=True)
class _Done:
    outcome: ToolOutcome
    state: State
    counters: Mapping[str, int]


class ApplicationExecutor:
    """The Executor of one trial (see `realtime.tools`).

    `application` None has no tools: every call is recorded. `reference_date` (YYYY-MM-DD) fixes `now` to noon UTC of
    that day, so that a scenario means the same every day; without it `now` is `started_at`. Raises ApplicationError.
    Build it away from the event loop: it compiles every template.
    """

    def __init__(
        self,
        application: Application | None,
        *,
        initial_state: Mapping[str, Json] | None = None,
        reference_date: str | None = None,
        started_at: datetime | None = None,
    ) -> None:
        self._application = application or Application(name="none")
        self._tools = {tool.name: tool for tool in self._application.tools}
        self._results = {name: plain_result(value) for name, value in self._application.tool_results.items()}
        self._schemas = _checked(self._application)
        self._state: State = copy.deepcopy(dict(initial_state or {}))
        self._counters: Mapping[str, int] = {}
        now = f"{reference_date}{NOON}" if reference_date else _iso(started_at or datetime.now(UTC))
        self._fixed = {"facts": self._application.facts, "reference_date": reference_date, "now": now}
        self._one_at_a_time = asyncio.Lock()

    def declares(self, name: str) -> bool:
        """Whether the application knows this tool: it has a place in its list or in its tool_results."""
        return name in self._tools or name in self._results

    def snapshot(self) -> State:
        """A copy of the state as it is now."""
        return copy.deepcopy(self._state)

    async def execute(self, name: str, arguments: Mapping[str, Json]) -> ToolOutcome:
        """Answer one call; calls of one trial wait for each other. Raises ToolSandboxError."""
        async with self._one_at_a_time:
            # In a thread, so that a slow template never delays the audio of other trials. What it did counts only
            # once it is back here: a call that is cancelled leaves no trace.
            done = await asyncio.to_thread(self._answered, name, copy.deepcopy(dict(arguments)))
            self._state, self._counters = done.state, done.counters
            return done.outcome

    def _answered(self, name: str, arguments: dict[str, Json]) -> _Done:
        if problem := self._argument_problem(name, arguments):
            return self._unchanged(_failed(problem))
        tool = self._tools.get(name)
        if tool is not None and tool.answers:
            return self._by_answers(tool, arguments)
        if name in self._results:
            return self._by_result(name, arguments)
        plain_map = "tool_results" in self._application.model_fields_set
        if tool is None or plain_map:
            return self._unchanged(ToolOutcome("recorded"))
        return self._unchanged(_failed(NO_ANSWER))

    def _argument_problem(self, name: str, arguments: dict[str, Json]) -> str | None:
        if name not in self._schemas:
            return None
        try:
            problems = self._schemas[name].problems(arguments)
        except SchemaFault as error:
            raise ToolSandboxError(f"tool {name}: {error}") from error
        return f"the arguments do not fit {name}: {'; '.join(problems)}" if problems else None

    def _by_answers(self, tool: Tool, arguments: dict[str, Json]) -> _Done:
        counters = _Counters(self._counters)
        names = self._names(arguments, counters)
        with sandbox.limits():
            for index, answer in enumerate(tool.answers):
                place = f"tool {tool.name}, answers[{index}]"
                if answer.when is None or _tried(f"{place}.when", sandbox.condition, answer.when, names):
                    outcome, state = self._given(answer, names, place)
                    return _Done(outcome, state, counters.after())
        return self._unchanged(_failed(NO_ANSWER))

    def _given(self, answer: Answer, names: sandbox.Names, place: str) -> tuple[ToolOutcome, State]:
        result = _tried(f"{place}.result", sandbox.render, answer.result, names)
        if answer.error is not None:
            message = _words(_tried(f"{place}.error", sandbox.render, answer.error, names))
            output = result if "result" in answer.model_fields_set else None
            return _failed(message, output=output, delay_ms=answer.delay_ms), self._state
        effects = _tried(f"{place}.effects", sandbox.render, answer.effects or {}, names)
        state = merge_patch(self._state, effects)
        if len(json.dumps(state)) > MAX_STATE_CHARS:
            raise ToolSandboxError(f"{place}.effects: the state grows over {MAX_STATE_CHARS} characters")
        return _completed(result, delay_ms=answer.delay_ms), state

    def _by_result(self, name: str, arguments: dict[str, Json]) -> _Done:
        counters = _Counters(self._counters)
        with sandbox.limits():
            names = self._names(arguments, counters)
            result = _tried(f"tool_results.{name}", sandbox.render, self._results[name], names)
        return _Done(_completed(result), self._state, counters.after())

    def _names(self, arguments: dict[str, Json], counters: _Counters) -> dict[str, Any]:
        return {**self._fixed, "args": arguments, "state": self._state, "counter": Function(counters.next)}

    def _unchanged(self, outcome: ToolOutcome) -> _Done:
        return _Done(outcome, self._state, self._counters)


class _Counters:
    """`counter(prefix, width)` of one call: the same number however often it asks, the next one for the next call."""

    def __init__(self, before: Mapping[str, int]) -> None:
        self._before = before
        self._used: set[str] = set()

    def next(self, prefix: str = "", width: int = 1) -> str:
        if not isinstance(prefix, str) or len(prefix) > MAX_PREFIX_CHARS:
            raise TypeError(f"counter needs a text of at most {MAX_PREFIX_CHARS} characters first")
        if not isinstance(width, int) or not 0 <= width <= MAX_WIDTH:
            raise TypeError(f"counter needs a width of 0 to {MAX_WIDTH} second")
        self._used.add(prefix)
        return f"{prefix}{self._before.get(prefix, 0) + 1:0{width}d}"

    def after(self) -> dict[str, int]:
        return {**self._before, **{prefix: self._before.get(prefix, 0) + 1 for prefix in self._used}}


def merge_patch(target: Json, patch: Json) -> Json:
    """RFC 7396: the target changed by the patch, as a new value. null removes; lists are replaced whole."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def plain_result(value: Json) -> Json:
    """A value of a plain tool_results map, with `{{args.any-key}}` written so that it means the argument."""
    if isinstance(value, str):
        return _PLAIN_ARGUMENT.sub(r'{{args["\1"]}}', value)
    if isinstance(value, dict):
        return {key: plain_result(item) for key, item in value.items()}
    return [plain_result(item) for item in value] if isinstance(value, list) else value


def problems(application: Application) -> list[str]:
    """Everything that would stop this application from running, each with its field. Nothing is run for it."""
    found = [f"{problem.path} {problem.message}" for problem in unsupported_fields(application)]
    for name, value in application.tool_results.items():
        found += _problem(f"tool_results.{name}", sandbox.prepare, plain_result(value))
    for index, tool in enumerate(application.tools):
        found += _problem(f"tools[{index}].parameters", ArgumentSchema.check, tool.parameters)
        for number, answer in enumerate(tool.answers):
            place = f"tools[{index}].answers[{number}]"
            if answer.when is not None:
                found += _problem(f"{place}.when", sandbox.prepare_condition, answer.when)
            for field in ("result", "effects", "error"):
                found += _problem(f"{place}.{field}", sandbox.prepare, getattr(answer, field))
    return found


def _problem(place: str, check: Callable[[Any], None], value: Json) -> list[str]:
    try:
        check(value)
    except (TemplateError, LimitError, SchemaError) as error:
        return [f"{place}: {error}"]
    return []


def _checked(application: Application) -> dict[str, ArgumentSchema]:
    if found := problems(application):
        raise ApplicationError(f"application {application.name}: {'; '.join(found)}")
    return {tool.name: ArgumentSchema(tool.parameters) for tool in application.tools}


def _tried(place: str, work: Callable[[Any, sandbox.Names], Any], value: Json, names: sandbox.Names) -> Any:
    try:
        return work(value, names)
    except (TemplateError, LimitError) as error:
        raise ToolSandboxError(f"{place}: {error}") from error


def _completed(result: Json, *, delay_ms: float = 0.0) -> ToolOutcome:
    return ToolOutcome("completed", result, result if isinstance(result, str) else None, delay_ms=float(delay_ms))


def _failed(message: str, *, output: Json = None, delay_ms: float = 0.0) -> ToolOutcome:
    answer = {"ok": False, "error": message} if output is None else output
    text = answer if isinstance(answer, str) else None
    return ToolOutcome("failed", answer, text, error=message, delay_ms=float(delay_ms))


def _words(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
