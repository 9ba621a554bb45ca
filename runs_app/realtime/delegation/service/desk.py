"""The service's side of one task: calls are executed here, and everything is told to the connector."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import inf

from runs_app.realtime.calls import read_arguments
from runs_app.realtime.clock import Clock
from runs_app.realtime.delegation.assistant import DELEGATION_S, Answered, Executed
from runs_app.realtime.delegation.commentary import pieces_of
from runs_app.realtime.dialects.base import Body, CallSeen
from runs_app.realtime.record import Json
from runs_app.realtime.toolround import output_text
from runs_app.realtime.tools import Executor, ToolOutcome
from scenarios_app.spec.jsontext import finite

MOST_ROUNDS = 10
GIVEN_UP = f"This could not be finished: its tools were called in {MOST_ROUNDS} rounds, and more are not allowed."
Tell = Callable[[Body], Awaitable[None]]


@dataclass
class ServiceDesk:
    delegation_id: str
    executor: Executor
    tell: Tell  # a whole message
    clock: Clock
    said: list[str] = field(default_factory=list)
    rounds: int = 0
    over: bool = False  # tools were called after the last round allowed
    untold: list[Body] = field(default_factory=list)

    async def run(self, calls: Sequence[CallSeen]) -> dict[str, str]:
        await self._tell_responses()
        outputs: dict[str, str] = {}
        self.over = self.rounds >= MOST_ROUNDS
        if self.over:
            return outputs
        self.rounds += 1
        for call in calls:
            outputs[call.call_id or ""] = await self._one(call)
        return outputs

    async def _one(self, call: CallSeen) -> str:
        arguments = read_arguments(call.arguments or "")
        told: Body = {"call_id": call.call_id, "name": call.name or "", "arguments": arguments.value or {}}
        await self._event("tool.called", **told)
        outcome = await self._outcome(call.name or "", arguments.value, arguments.error)
        text = output_text(outcome)
        ran = outcome.status == "completed"
        execution = {**told, "status": "completed" if ran else "failed", "output": finite(outcome.output or text)}
        state = self.executor.snapshot()
        await self._event(f"tool.{execution['status']}", application_state=state, tool_execution=execution)
        return text

    async def _outcome(self, name: str, arguments: dict[str, Json] | None, problem: str | None) -> ToolOutcome:
        if arguments is None:
            return ToolOutcome("failed", {"error": problem}, error=problem)
        if not self.executor.declares(name):
            return ToolOutcome("failed", {"error": f"there is no tool {name}"}, error=f"there is no tool {name}")
        outcome = await self.executor.execute(name, arguments)
        if outcome.delay_ms > 0:
            wait_s = min(outcome.delay_ms / 1000, DELEGATION_S) if outcome.delay_ms < inf else DELEGATION_S
            await self.clock.sleep_until(self.clock.now_s() + wait_s)
        return outcome

    async def say(self, text: str) -> None:
        await self._tell_responses()
        self.said.append(text)
        for piece in pieces_of(text):
            event = {"type": "session.commentary.append", "delegation_id": self.delegation_id, "content": piece}
            await self.tell({"type": "live.send", "event": event})

    async def finish(self) -> None:
        """A task that was given up says so: the voice would take silence, or what was said so far, for its end."""
        await self._tell_responses()
        if self.over:
            await self.say(GIVEN_UP)
        await self._event("client_delegation.completed", text=" ".join(self.said))

    def note(self, answered: Answered) -> None:
        usage = asdict(answered.usage) if answered.usage else {}
        content = [{"type": "output_text", "text": answered.text}]
        message = {"type": "message", "role": "assistant", "content": content}
        response: Body = {"id": answered.response_id, "status": answered.status, "usage": usage}
        self.untold.append({**response, "output": [message] if answered.text else []})

    def note_called(self, call_id: str, name: str, arguments: dict[str, Json]) -> None:
        raise NotImplementedError("the service's backend executes nothing by itself")

    def note_executed(self, executed: Executed) -> None:
        raise NotImplementedError("the service's backend executes nothing by itself")

    async def _tell_responses(self) -> None:
        responses, self.untold = self.untold, []
        for response in responses:
            await self._event("response.completed", response=response)

    async def _event(self, type: str, **told: Json) -> None:
        event = {"type": type, "delegation_id": self.delegation_id, **told}
        await self.tell({"type": "assistant.event", "event": event})
