"""What answers a tool that has no declared answers: an endpoint of the author's, a class of the operator's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from runs_app.realtime.record import Json


@dataclass(frozen=True)
class Asked:
    """One call whose arguments fit their schema. `state` is a copy of the trial's."""

    tool: str
    arguments: dict[str, Json]
    state: dict[str, Json]


@dataclass(frozen=True)
class Given:
    """The answer. `error`, in words, makes it a failed execution; `state`, if given, is the state from now on."""

    result: Json = None
    error: str | None = None
    state: dict[str, Json] | None = None


class Backend(Protocol):
    """Raises ToolSandboxError for whatever says nothing about the agent: nobody answers, the answer is no answer."""

    async def answer(self, asked: Asked) -> Given: ...
