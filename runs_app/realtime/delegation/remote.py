"""The connector to a remote assistant (`wss://HOST/ws/assistant`): what it is told, and what it may tell."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from runs_app.realtime.delegation.assistant import Delegate, DelegationError, Desk, Executed
from runs_app.realtime.delegation.limits import MOST_BYTES, READY_S, Meter
from runs_app.realtime.delegation.reading import answered_of
from runs_app.realtime.dialects.base import Body
from runs_app.realtime.dialects.fields import object_in, text_in
from runs_app.realtime.endpoints import origin
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.live.events import Transcript
from runs_app.realtime.record import Json
from runs_app.realtime.transport import open_socket

GOODBYE_S = 2.0
SIDES = {"caller": "input", "agent": "output"}


@dataclass
class Pending:
    """A task that the assistant works at. `called`: calls that it has not told the end of."""

    desk: Desk
    over: asyncio.Future[None]
    published: bool = False
    called: set[str] = field(default_factory=set)


class RemoteAssistant:
    """Whatever breaks the protocol breaks every task, and every later one."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._meter = Meter()
        self._outbox: asyncio.Queue[Body] = asyncio.Queue()
        self._pending: dict[str, Pending] = {}
        self._handed: set[str] = set()
        self._broken: DelegationError | None = None
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._read())]

    def hear(self, piece: Transcript, *, last: bool = False) -> None:
        told = {"delta": piece.text, "start_ms": piece.start_ms, "end_ms": piece.end_ms}
        self._tell({"type": f"session.{SIDES[piece.side]}_transcript.delta", **told})

    async def answer(self, delegation_id: str, offset_ms: float, desk: Desk) -> None:
        if self._broken is not None:
            raise self._broken
        if delegation_id in self._handed:
            raise _protocol(f"the task {delegation_id} was handed on before")
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._handed.add(delegation_id)
        self._pending[delegation_id] = Pending(desk, over)
        told = {"id": delegation_id, "type": "delegation", "target": "client"}
        self._tell({"type": "session.delegation.created", "offset_ms": round(offset_ms), "delegation": told})
        try:
            await over
        finally:
            self._pending.pop(delegation_id, None)

    async def close(self, reason: str) -> None:
        self._tell({"type": "session.closed", "reason": reason})
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._outbox.join()
                await self._socket.close()
        except TimeoutError:
            self._socket.transport.abort()
        for task in self._tasks:
            task.cancel()

    def _tell(self, event: Body) -> None:
        if self._broken is None:
            self._outbox.put_nowait({"type": "live.event", "event": event})

    async def _write(self) -> None:
        while True:
            message = await self._outbox.get()
            try:
                await self._socket.send(json.dumps(message))
            except ConnectionClosed as error:
                self._break(_lost(error))
            finally:
                self._outbox.task_done()

    async def _read(self) -> None:
        try:
            while True:
                await self._on_message(read_message(await self._socket.recv(), self._meter))
        except ConnectionClosed as error:
            self._break(_lost(error))
        except DelegationError as error:
            self._break(error)

    def _break(self, error: DelegationError) -> None:
        self._broken = self._broken or error
        for pending in self._pending.values():
            if not pending.over.done():
                pending.over.set_exception(self._broken)

    async def _on_message(self, message: Body) -> None:
        kind, event = message.get("type"), object_in(message, "event")
        if kind == "error":
            told = object_in(message, "error")
            code, why = text_in(told, "code"), text_in(told, "message") or "no reason"
            raise DelegationError(f"the assistant service gave up: {why}", code=code)
        if kind == "live.send":
            await self._on_send(event)
        elif kind == "assistant.event":
            self._on_event(message, event)
        elif kind == "session.closed":
            raise DelegationError("the assistant service closed the session", code="session_closed")
        else:
            raise _protocol(f"a message of the type {kind!r}")

    async def _on_send(self, event: Body) -> None:
        """Only what is to be said of a task that waits for it."""
        if event.get("type") != "session.commentary.append":
            raise _protocol(f"it may not send {event.get('type')!r}")
        pending = self._waiting(event)
        pending.published = True
        await pending.desk.say(text_in(event, "content") or "")

    def _on_event(self, message: Body, event: Body) -> None:
        type = text_in(event, "type") or ""
        if type == "client_delegation.completed":
            self._completed(event)
        elif type == "client_delegation.failed":
            why = text_in(object_in(event, "error"), "message") or "no reason"
            raise DelegationError(f"the assistant service could not do the task: {why}", code="client_delegation")
        elif type in ("tool.called", "tool.completed", "tool.failed"):
            self._tool(type, event, self._about(message, event))
        elif type == "response.completed":
            self._about(message, event).desk.note(answered_of(event.get("response"), latency_ms=0.0))
        elif not type.startswith(("response.", "client_delegation.")):
            raise _protocol(f"an event of the type {type!r}")

    def _completed(self, event: Body) -> None:
        pending = self._waiting(event)
        if not pending.published and (text_in(event, "text") or "").strip():
            raise _protocol("a task was completed before anything was said of it")
        if pending.called:
            raise _protocol(f"a task was completed before its call {min(pending.called)}")
        if not pending.over.done():
            pending.over.set_result(None)
        del self._pending[text_in(event, "delegation_id") or ""]

    def _tool(self, type: str, event: Body, pending: Pending) -> None:
        told = object_in(event, "tool_execution") or event
        call_id, name = text_in(told, "call_id"), text_in(told, "name")
        if not call_id or not name:
            raise _protocol(f"{type} without its call_id or its name")
        if type == "tool.called":
            pending.called.add(call_id)
            pending.desk.note_called(call_id, name, object_in(told, "arguments"))
            return
        if call_id not in pending.called:
            raise _protocol(f"a result of the call {call_id}, which nobody made")
        pending.called.discard(call_id)
        state: Json = event.get("application_state")
        pending.desk.note_executed(
            Executed(
                call_id,
                name,
                object_in(told, "arguments"),
                "completed" if type == "tool.completed" else "failed",
                told.get("output"),
                state if isinstance(state, dict) else None,
            )
        )

    def _waiting(self, event: Body) -> Pending:
        """The task that an event names. One that nobody waits for was never handed on, or is over."""
        delegation_id = text_in(event, "delegation_id") or ""
        if delegation_id not in self._pending:
            raise _protocol(f"no task {delegation_id!r} waits for an answer")
        return self._pending[delegation_id]

    def _about(self, message: Body, event: Body) -> Pending:
        """As named, beside the event or in it; else the task that has waited longest."""
        if named := next((one for one in (event, message) if "delegation_id" in one), None):
            return self._waiting(named)
        if not self._pending:
            raise _protocol(f"{event.get('type')} while no task waits")
        return next(iter(self._pending.values()))


def read_message(raw: str | bytes, meter: Meter) -> Body:
    """Raises DelegationError."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    if problem := meter.exceeded(text):
        raise DelegationError(f"the assistant service sent {problem}", code="limit")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _protocol("what is not JSON") from error
    if not isinstance(message, dict):
        raise _protocol("what is no JSON object")
    return message


async def open_remote(delegate: Delegate) -> RemoteAssistant:
    """Connects, configures and waits until the service is ready. Raises DelegationError."""
    socket = await _open_socket(delegate)
    try:
        async with asyncio.timeout(READY_S):
            await socket.send(json.dumps(_configure(delegate)))
            answer = read_message(await socket.recv(), Meter())
    except (ConnectionClosed, TimeoutError, DelegationError) as error:
        socket.transport.abort()
        raise _not_ready(error) from error
    if answer.get("type") != "session.ready":
        await socket.close()
        told = text_in(object_in(answer, "error"), "message") or f"it answered {answer.get('type')!r}"
        raise DelegationError(f"the assistant service is not ready: {told}", code="not_ready")
    return RemoteAssistant(socket)


async def _open_socket(delegate: Delegate) -> ClientConnection:
    place = origin(delegate.endpoint)
    if not place.encrypted and not place.loopback:
        raise DelegationError(f"{place} is not encrypted: a token goes over wss alone", code="not_encrypted")
    token = {"Authorization": f"Bearer {delegate.token}"}
    try:
        return await open_socket(delegate.endpoint, token, timeout_s=READY_S, close_s=GOODBYE_S, most_bytes=MOST_BYTES)
    except BrokenOff as broken:
        stage, code, said = broken.ending.stage, broken.ending.code, broken.ending.message
        stage = stage if stage in ("authorisation", "provider_limit") else "delegation"
        raise DelegationError(f"the assistant service: {said}", code=code, stage=stage) from broken


def _configure(delegate: Delegate) -> Body:
    items = [{"type": "message", "role": role, "content": text} for role, text in delegate.history]
    told = {"model": delegate.model, "instructions": delegate.instructions, "tools": list(delegate.tools)}
    given = {key: value for key, value in told.items() if value}
    return {"type": "session.configure", **given, **({"initial_items": items} if items else {})}


def _not_ready(error: Exception) -> DelegationError:
    if isinstance(error, DelegationError):
        return error
    if isinstance(error, ConnectionClosed):
        return _lost(error)
    return DelegationError(f"the assistant service was not ready within {READY_S:g} s", code="not_ready")


def _lost(error: ConnectionClosed) -> DelegationError:
    if error.sent is not None and error.sent.code == 1009:
        return DelegationError("the assistant service sent a message that is too big", code="limit")
    how = f"code {error.rcvd.code}" if error.rcvd else "without a close frame"
    return DelegationError(f"the assistant service hung up ({how})", code="hung_up")


def _protocol(what: str) -> DelegationError:
    return DelegationError(f"the assistant service broke its protocol: {what}", code="client_protocol_error")
