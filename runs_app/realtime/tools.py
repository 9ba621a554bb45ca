"""What the session needs from whoever answers the agent's function calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from runs_app.realtime.record import Json


class ToolSandboxError(Exception):
    """Our own tool executor broke: the trial is invalid (tool_sandbox), it says nothing about the agent."""


@dataclass(frozen=True)
class FaultNote:
    """A fault that was declared for this call and came to pass: what an event of the timeline tells of it.

    `detail` says in words what was done to the answer, `instead_of` is the answer that the tool really gave (None
    where it was not run). The same `seed` does the same to the `nth` call of the tool (from 1) every time.
    """

    mode: str
    seed: int
    nth: int
    detail: str
    instead_of: Json = None


@dataclass(frozen=True)
class ToolOutcome:
    """What came of one call.

    status: "completed" (answered with `output`), "failed" (an error is answered: `error` says which in words), or
    "recorded" (nobody declared an answer: kept, and nothing goes back to the agent).
    `output_text`, if given, goes back to the agent letter for letter (a declared text, a malformed answer on
    purpose); otherwise `output` goes back as JSON.
    The session waits `delay_ms` on its own clock before it answers: the executor never sleeps. Infinite: nothing is
    ever answered. `fault` tells that this is what a declared fault made of the call.
    """

    status: Literal["completed", "failed", "recorded"]
    output: Json = None
    output_text: str | None = None
    error: str | None = None
    delay_ms: float = 0.0
    fault: FaultNote | None = None


class Executor(Protocol):
    """One trial's tools and state. Calls of one trial are executed one after the other.

    Raises ToolSandboxError only when the executor itself broke; what the author declared as an error is an outcome.
    """

    async def execute(self, name: str, arguments: dict[str, Json]) -> ToolOutcome: ...

    def declares(self, name: str) -> bool: ...

    def snapshot(self) -> dict[str, Json]: ...
