"""The tools of one trial: an application's declared answers, run against a state that belongs to this trial alone.

A call passes: its arguments against the JSON Schema; a fault that is declared for it; the first answer whose `when`
holds, its templates and its effects on the state, or the endpoint or class that answers in their place. The agent's
mistakes and declared errors are outcomes. What goes wrong on our side is ToolSandboxError: it says nothing about the
agent.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from runs_app.realtime import sandbox
from runs_app.realtime.answering import completed, failed, merge_patch, plain_result, words
from runs_app.realtime.application_problems import problems
from runs_app.realtime.record import Json
from runs_app.realtime.sandbox import Function, LimitError, TemplateError
from runs_app.realtime.tool_arguments import ArgumentSchema, SchemaFault
from runs_app.realtime.tool_backends import Asked, Backend, Given
from runs_app.realtime.tool_faults import Faults
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from scenarios_app.spec.application import Answer, Application, Tool
from scenarios_app.spec.tool_faults import ToolFault

NOON = "T12:00:00+00:00"
MAX_STATE_CHARS = 262_144
MAX_PREFIX_CHARS = 100
MAX_WIDTH = 20
NO_ANSWER = "no answer declared"

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
    that day, so that a scenario means the same every day; without it `now` is `started_at`. `backends` answer the
    tools with an `http` or `python` behaviour, by tool. `faults` (by tool, or `*`) spoil answers, the same ones for the
    same `seed`. `counters` are those that an earlier executor left. Raises ApplicationError.
    Build it away from the event loop: it compiles every template.
    """

    def __init__(
        self,
        application: Application | None,
        *,
        initial_state: Mapping[str, Json] | None = None,
        reference_date: str | None = None,
        started_at: datetime | None = None,
        backends: Mapping[str, Backend] | None = None,
        faults: Mapping[str, ToolFault] | None = None,
        seed: int = 0,
        counters: Mapping[str, int] | None = None,
    ) -> None:
        self._application = application or Application(name="none")
        self._tools = {tool.name: tool for tool in self._application.tools}
        self._results = {name: plain_result(value) for name, value in self._application.tool_results.items()}
        self._backends = dict(backends or {})
        self._schemas = _checked(self._application, self._backends)
        self._state: State = copy.deepcopy(dict(initial_state or {}))
        self._counters: Mapping[str, int] = dict(counters or {})
        now = now_text(reference_date, started_at)
        self._fixed = {"facts": self._application.facts, "reference_date": reference_date, "now": now}
        self._faults = Faults(dict(faults or {}), seed, now)
        self._one_at_a_time = asyncio.Lock()

    def declares(self, name: str) -> bool:
        """Whether the application knows this tool: it has a place in its list or in its tool_results."""
        return name in self._tools or name in self._results

    def snapshot(self) -> State:
        """A copy of the state as it is now."""
        return copy.deepcopy(self._state)

    @property
    def counters(self) -> dict[str, int]:
        """How far `counter(...)` has counted, by prefix."""
        return dict(self._counters)

    async def execute(self, name: str, arguments: Mapping[str, Json]) -> ToolOutcome:
        """Answer one call; calls of one trial wait for each other. Raises ToolSandboxError."""
        async with self._one_at_a_time:
            # What a call did counts only once it is back here: one that is cancelled leaves no trace.
            done = await self._done(name, copy.deepcopy(dict(arguments)))
            self._state, self._counters = done.state, done.counters
            return done.outcome

    async def _done(self, name: str, arguments: dict[str, Json]) -> _Done:
        # In threads, so that a slow pattern or template never delays the audio of other trials.
        if problem := await asyncio.to_thread(self._argument_problem, name, arguments):
            return self._unchanged(failed(problem))
        fault = self._faults.begin(name) if self.declares(name) else None
        if fault is not None and (instead := fault.instead()) is not None:
            return self._unchanged(instead)
        if name in self._backends:
            asked = Asked(name, arguments, self.snapshot())
            given = await self._backends[name].answer(asked)
            done = await asyncio.to_thread(self._by_backend, asked, given)
        else:
            done = await asyncio.to_thread(self._answered, name, arguments)
        return replace(done, outcome=fault.spoil(done.outcome)) if fault is not None else done

    def _argument_problem(self, name: str, arguments: dict[str, Json]) -> str | None:
        if name not in self._schemas:
            return None
        try:
            problems = self._schemas[name].problems(arguments)
        except SchemaFault as error:
            raise ToolSandboxError(f"tool {name}: {error}") from error
        return f"the arguments do not fit {name}: {'; '.join(problems)}" if problems else None

    def _answered(self, name: str, arguments: dict[str, Json]) -> _Done:
        tool = self._tools.get(name)
        if tool is not None and tool.answers:
            return self._by_answers(tool, arguments)
        if name in self._results:
            return self._by_result(name, arguments)
        plain_map = "tool_results" in self._application.model_fields_set
        if tool is None or plain_map:
            return self._unchanged(ToolOutcome("recorded"))
        return self._unchanged(failed(NO_ANSWER))

    def _by_answers(self, tool: Tool, arguments: dict[str, Json]) -> _Done:
        counters = _Counters(self._counters)
        names = self._names(arguments, counters)
        with sandbox.limits():
            for index, answer in enumerate(tool.answers):
                place = f"tool {tool.name}, answers[{index}]"
                if answer.when is None or _tried(f"{place}.when", sandbox.condition, answer.when, names):
                    outcome, state = self._given(answer, names, place)
                    return _Done(outcome, state, counters.after())
        return self._unchanged(failed(NO_ANSWER))

    def _given(self, answer: Answer, names: sandbox.Names, place: str) -> tuple[ToolOutcome, State]:
        result = _tried(f"{place}.result", sandbox.render, answer.result, names)
        if answer.error is not None:
            message = words(_tried(f"{place}.error", sandbox.render, answer.error, names))
            output = result if "result" in answer.model_fields_set else None
            return failed(message, output=output, delay_ms=answer.delay_ms), self._state
        effects = _tried(f"{place}.effects", sandbox.render, answer.effects or {}, names)
        return completed(result, delay_ms=answer.delay_ms), _sized(
            merge_patch(self._state, effects), f"{place}.effects"
        )

    def _by_result(self, name: str, arguments: dict[str, Json]) -> _Done:
        counters = _Counters(self._counters)
        with sandbox.limits():
            names = self._names(arguments, counters)
            result = _tried(f"tool_results.{name}", sandbox.render, self._results[name], names)
        return _Done(completed(result), self._state, counters.after())

    def _by_backend(self, asked: Asked, given: Given) -> _Done:
        if given.error is not None:
            return self._unchanged(failed(given.error, output=given.result))
        place = f"tool {asked.tool}, effects"
        state = _sized(self._state if given.state is None else given.state, place)
        tool = self._tools[asked.tool]
        if tool.http is None or not tool.http.effects:
            return _Done(completed(given.result), state, self._counters)
        counters = _Counters(self._counters)
        with sandbox.limits():
            names = {**self._names(asked.arguments, counters), "result": given.result}
            effects = _tried(place, sandbox.render, tool.http.effects, names)
        return _Done(completed(given.result), _sized(merge_patch(state, effects), place), counters.after())

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


def now_text(reference_date: str | None, started_at: datetime | None) -> str:
    """What `now` is in a trial, as ISO date and time in UTC."""
    if reference_date:
        return f"{reference_date}{NOON}"
    return (started_at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")


def _checked(application: Application, backends: Mapping[str, Backend]) -> dict[str, ArgumentSchema]:
    found = [str(problem) for problem in problems(application)]
    for index, tool in enumerate(application.tools):
        if (tool.http or tool.python) and tool.name not in backends:
            found.append(f"tools[{index}]: nobody answers {tool.name} here")
    if found:
        raise ApplicationError(f"application {application.name}: {'; '.join(found)}")
    return {tool.name: ArgumentSchema(tool.parameters) for tool in application.tools}


def _tried(place: str, work: Callable[[Any, sandbox.Names], Any], value: Json, names: sandbox.Names) -> Any:
    try:
        return work(value, names)
    except (TemplateError, LimitError) as error:
        raise ToolSandboxError(f"{place}: {error}") from error


def _sized(state: State, place: str) -> State:
    if len(json.dumps(state)) > MAX_STATE_CHARS:
        raise ToolSandboxError(f"{place}: the state grows over {MAX_STATE_CHARS} characters")
    return state
