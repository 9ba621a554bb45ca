"""Tools that a class of the operator's answers, in this process.

The class is made with one mapping (`facts`, `reference_date`, `now`, `trial`), once per trial, and has one method:
`call(name, arguments, state)`. It returns the result, as JSON; what it changes in `state` counts when it returns.
ValueError is a refusal, which the agent is told. Whatever else goes wrong says nothing about the agent.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from runs_app.realtime.record import Json
from runs_app.realtime.tool_backends import Asked, Given
from runs_app.realtime.tools import ToolSandboxError
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import dumps, load

TIMEOUT_S = 10.0
MAX_ANSWER_CHARS = 65_536

T = TypeVar("T")


class Answering(Protocol):
    def call(self, name: str, arguments: dict[str, Json], state: dict[str, Json]) -> Json: ...


@dataclass
class PythonTool:
    """A Backend; those of one trial that share a class share `made`, so that it can remember between its calls."""

    name: str  # under which the operator registered it
    make: Callable[[Mapping[str, Json]], Answering]
    context: Mapping[str, Json]
    timeout_s: float = TIMEOUT_S
    made: list[Answering] = field(default_factory=list)

    async def answer(self, asked: Asked) -> Given:
        state = copy.deepcopy(asked.state)
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await asyncio.wrap_future(in_own_thread(lambda: self._call(asked, state)))
        except ValueError as refusal:
            return Given(error=str(refusal) or "the tool refused without a reason")
        except TimeoutError as error:
            raise ToolSandboxError(f"{self.name} gave no answer within {self.timeout_s:g} s") from error
        except _Broken as error:
            raise ToolSandboxError(f"{self.name} broke: {error}") from error
        return Given(self._json(result, "result"), state=self._json(state, "state"))

    def _call(self, asked: Asked, state: dict[str, Json]) -> Json:
        if not self.made:
            self.made.append(self.make(copy.deepcopy(dict(self.context))))
        return self.made[0].call(asked.tool, copy.deepcopy(asked.arguments), state)

    def _json(self, value: Json, what: str) -> Json:
        try:
            text = dumps(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolSandboxError(f"{self.name}: its {what} is no JSON: {error}") from error
        if len(text) > MAX_ANSWER_CHARS:
            raise ToolSandboxError(f"{self.name}: its {what} has more than {MAX_ANSWER_CHARS} characters")
        try:
            return load(text)
        except SpecError as error:
            raise ToolSandboxError(f"{self.name}: its {what} is no JSON: {error}") from error


class _Broken(Exception):
    """What the operator's class raised, other than a refusal."""


def in_own_thread(work: Callable[[], T]) -> Future[T]:
    """The work's result, made in a thread that nobody waits for: one that hangs costs a thread and not the process,
    whose shared threads would run out, and whose end would wait for it. Only ValueError and _Broken are raised."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():  # from here on nobody can cancel it under our hands
            return
        try:
            future.set_result(work())
        except ValueError as refusal:
            future.set_exception(refusal)
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it is told as ours, not the agent's
            future.set_exception(_Broken(f"{type(error).__name__}: {error}"))

    threading.Thread(target=run, name="python tool", daemon=True).start()
    return future
