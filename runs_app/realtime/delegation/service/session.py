"""One session of the assistant service: configured once, then tasks as the voice hands them on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from runs_app.realtime.clock import Clock
from runs_app.realtime.context import context_here, with_context
from runs_app.realtime.delegation.assistant import Delegate, DelegationError
from runs_app.realtime.delegation.limits import Meter, ServiceLimits
from runs_app.realtime.delegation.responses import ResponsesAssistant, open_responses
from runs_app.realtime.delegation.service.desk import ServiceDesk
from runs_app.realtime.delegation.service.messages import (
    Configure,
    DelegationCreated,
    LiveEvent,
    ServiceError,
    SessionClosed,
    TranscriptDelta,
    read,
)
from runs_app.realtime.dialects.base import Body
from runs_app.realtime.live.events import Transcript
from runs_app.realtime.record import Json
from runs_app.realtime.tools import Executor, ToolSandboxError

SIDES: dict[str, Literal["caller", "agent"]] = {
    "session.input_transcript.delta": "caller",
    "session.output_transcript.delta": "agent",
}


@dataclass(frozen=True)
class Office:
    """What the service works with. `backend`: where it thinks, with the model that is used when none is asked for, and
    the definitions of its tools. `new_executor`: a fresh state for each session."""

    backend: Delegate
    facts: dict[str, Json]
    new_executor: Callable[[], Executor]


class ServiceSession:
    def __init__(self, socket: ServerConnection, office: Office, limits: ServiceLimits, clock: Clock) -> None:
        self._socket, self._office, self._limits, self._clock = socket, office, limits, clock
        self._executor = office.new_executor()
        self._meter = Meter(limits.session_bytes, limits.events)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._handed: set[str] = set()
        self._gone = asyncio.Event()  # a task went wrong
        self._trouble: ServiceError | None = None

    async def run(self) -> None:
        """Until the connector closes, a limit is reached or something goes wrong; the connector learns what."""
        try:
            async with asyncio.timeout(self._limits.session_s):
                await self._serve()
        except ServiceError as error:
            await self._end_with(error)
        except TimeoutError:
            told = f"a session lasts {self._limits.session_s:g} s at most"
            await self._end_with(ServiceError("client_session_timeout", told))
        except ConnectionClosed:
            pass
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _serve(self) -> None:
        assistant = await self._configured()
        try:
            await self._tell({"type": "session.ready"})
            while await self._on_event(assistant, await self._next()):
                pass
            await self._tell({"type": "session.closed"})
        finally:
            await assistant.close("the session is over")

    async def _configured(self) -> ResponsesAssistant:
        try:
            async with asyncio.timeout(self._limits.configure_s):
                asked = await self._read()
        except TimeoutError as error:
            told = f"no session.configure within {self._limits.configure_s:g} s"
            raise ServiceError("client_session_timeout", told) from error
        if not isinstance(asked, Configure):
            raise ServiceError("client_protocol_error", "session.configure comes first")
        return await open_responses(self._delegate(asked), self._clock)

    def _delegate(self, asked: Configure) -> Delegate:
        """The connector may choose among the service's tools, and cannot bring any."""
        own = self._office.backend
        wanted = None if asked.tools is None else {tool.name for tool in asked.tools}
        context = context_here(self._office.facts, self._executor.snapshot())
        return Delegate(
            endpoint=own.endpoint,
            model=asked.model or own.model,
            instructions=with_context(asked.instructions, context),
            tools=tuple(tool for tool in own.tools if wanted is None or tool["name"] in wanted),
            history=tuple((item.role, item.content) for item in asked.initial_items),
            api_key=own.api_key,
            reasoning=own.reasoning,
            verbosity=own.verbosity,
            max_output_tokens=own.max_output_tokens,
        )

    async def _read(self) -> Configure | LiveEvent:
        raw = await self._socket.recv()
        if problem := self._meter.exceeded(raw if isinstance(raw, str) else raw.decode("utf-8", "replace")):
            raise ServiceError("client_limit_reached", problem)
        return read(raw)

    async def _next(self) -> LiveEvent:
        """What comes next, or the trouble of a task."""
        reading = asyncio.ensure_future(self._read())
        trouble = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait((reading, trouble), return_when=asyncio.FIRST_COMPLETED)
            if self._trouble is not None:
                raise self._trouble
            message = await reading
        finally:
            trouble.cancel()
            reading.cancel()
        if isinstance(message, Configure):
            raise ServiceError("client_protocol_error", "the session is configured already")
        return message

    async def _on_event(self, assistant: ResponsesAssistant, message: LiveEvent) -> bool:
        event = message.event
        if isinstance(event, TranscriptDelta):
            assistant.hear(Transcript(SIDES[event.type], event.delta, event.start_ms, event.end_ms))
        elif isinstance(event, DelegationCreated):
            self._begin(assistant, event)
        return not isinstance(event, SessionClosed)

    def _begin(self, assistant: ResponsesAssistant, event: DelegationCreated) -> None:
        delegation_id, limits = event.delegation.id, self._limits
        if delegation_id in self._handed:
            raise ServiceError("client_protocol_error", f"the task {delegation_id} was handed on before")
        self._handed.add(delegation_id)
        if len(self._tasks) >= limits.pending:
            raise ServiceError("client_limit_reached", f"more than {limits.pending} tasks at once")
        if len(self._handed) > limits.delegations:
            raise ServiceError("client_limit_reached", f"more than {limits.delegations} tasks in one session")
        task = asyncio.create_task(self._answer(assistant, delegation_id, event.offset_ms))
        self._tasks[delegation_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(delegation_id, None))

    async def _answer(self, assistant: ResponsesAssistant, delegation_id: str, offset_ms: float) -> None:
        desk = ServiceDesk(delegation_id, self._executor, self._tell, self._clock)
        try:
            handed = {"type": "client_delegation.handoff", "delegation_id": delegation_id}
            await self._tell({"type": "assistant.event", "event": handed})
            async with asyncio.timeout(self._limits.delegation_s):
                await assistant.answer(delegation_id, offset_ms, desk)
            await desk.finish()
        except TimeoutError:
            told = f"the task {delegation_id} took longer than {self._limits.delegation_s:g} s"
            self._go_wrong(ServiceError("client_session_timeout", told))
        except (DelegationError, ToolSandboxError) as error:
            self._go_wrong(ServiceError("client_assistant_error", str(error)))
        except ConnectionClosed:
            pass  # the reading side notices

    def _go_wrong(self, error: ServiceError) -> None:
        self._trouble = self._trouble or error
        self._gone.set()

    async def _tell(self, message: Body) -> None:
        await self._socket.send(json.dumps(message, ensure_ascii=False))

    async def _end_with(self, error: ServiceError) -> None:
        try:
            await self._tell({"type": "error", "error": {"code": error.code, "message": str(error)}})
            await self._socket.close(1008, error.code)
        except ConnectionClosed:
            pass
