"""A real websocket server that follows a script: the agent under test in our tests.

    async with serving([Send(session_created()), Expect("session.update"), ...]) as server:
        ...connect to server.url...
    assert server.sessions[0].types() == ["session.update", ...]

Every session plays the same steps (or what `script(session)` returns). Client events are logged with the
monotonic time at which they were read, sent ones with the time just before they were written, so a test
shares one clock with both sides. A step that waits in vain ends the session and fails the `async with`.
`serving_in_thread` is for tests that block: the server then has a loop of its own.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.scripted_steps import Call, Close, Drop, Expect, Hang, Pause, Send, SendRaw, Step, StopReading

MAX_FRAME_BYTES = 64 * 2**20


Script = Sequence[Step] | Callable[["Session"], Sequence[Step]]


@dataclass(frozen=True)
class Logged:
    at_s: float  # time.monotonic()
    event: dict[str, Any]


@dataclass
class Session:
    """One connection: what came and went."""

    connection: ServerConnection
    index: int
    path: str
    headers: Headers
    received: list[Logged] = field(default_factory=list)
    sent: list[Logged] = field(default_factory=list)
    closed_s: float | None = None
    frames_sent: int = 0
    cursor: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    reader: asyncio.Task[None] | None = None

    def types(self, *, appends: bool = False) -> list[str]:
        """Types of the client's events in order; audio appends only when asked for."""
        kinds = [logged.event.get("type", "?") for logged in self.received]
        return [kind for kind in kinds if appends or not kind.endswith(".append")]

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [logged.event for logged in self.received if logged.event.get("type") == kind]

    def received_at(self, kind: str, nth: int = 0) -> float:
        return _moments(self.received, kind)[nth]

    def sent_at(self, kind: str, nth: int = 0) -> float:
        return _moments(self.sent, kind)[nth]

    async def send(self, frame: dict[str, Any] | str | bytes) -> None:
        if isinstance(frame, dict):
            self.sent.append(Logged(time.monotonic(), frame))
        self.frames_sent += 1
        await self.connection.send(json.dumps(frame) if isinstance(frame, dict) else frame)


@dataclass
class ScriptedServer:
    script: Script
    refuse: int | None = None
    refuse_headers: Mapping[str, str] = field(default_factory=dict)
    refuse_body: str = "refused"
    handshake_delay_ms: float = 0.0
    sessions: list[Session] = field(default_factory=list)
    refused: int = 0
    upgrades: list[Request] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    port: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def pause(self, ms: float) -> None:
        """Real time, but no longer than the server stands."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ms / 1000):
                await self.stopping.wait()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/realtime"

    @property
    def open_sessions(self) -> int:
        return sum(session.closed_s is None for session in self.sessions)

    def check(self) -> None:
        if self.problems:
            raise AssertionError("; ".join(self.problems))

    async def answer_upgrade(self, connection: ServerConnection, request: Request) -> Response | None:
        self.upgrades.append(request)
        if self.handshake_delay_ms:
            await self.pause(self.handshake_delay_ms)
        if self.refuse is None:
            return None
        self.refused += 1
        body = self.refuse_body.encode()
        headers = Headers({**self.refuse_headers, "Content-Length": str(len(body)), "Connection": "close"})
        return Response(self.refuse, HTTPStatus(self.refuse).phrase, headers, body)

    async def handle(self, connection: ServerConnection) -> None:
        request = connection.request
        assert request is not None
        session = Session(connection, len(self.sessions), request.path, request.headers)
        self.sessions.append(session)
        session.reader = asyncio.create_task(_read(session))
        try:
            for step in self.script(session) if callable(self.script) else self.script:
                await self.play(session, step)
            await connection.wait_closed()
        except ConnectionClosed:
            pass  # the client may leave whenever it likes
        except TimeoutError as exc:
            self.problems.append(f"session {session.index}: {exc}")
        finally:
            session.reader.cancel()
            session.closed_s = time.monotonic()

    async def play(self, session: Session, step: Step) -> None:
        match step:
            case Send(event):
                await session.send(event(session) if callable(event) else event)
            case SendRaw(frame):
                await session.send(frame)
            case Expect(kind, within_s):
                await _expect(session, kind, within_s)
            case Pause(ms):
                await self.pause(ms)
            case StopReading():
                assert session.reader is not None
                session.reader.cancel()
                session.connection.transport.pause_reading()
            case Close(code, reason):
                await session.connection.close(code, reason)
            case Drop():
                session.connection.transport.abort()
            case Hang():
                await session.connection.wait_closed()
            case Call(function):
                await function(session)


def _moments(log: list[Logged], kind: str) -> list[float]:
    return [logged.at_s for logged in log if logged.event.get("type") == kind]


async def _read(session: Session) -> None:
    with suppress(ConnectionClosed):
        async for frame in session.connection:
            session.received.append(Logged(time.monotonic(), json.loads(frame)))
            session.news.set()
    session.news.set()


async def _expect(session: Session, kind: str, within_s: float) -> None:
    try:
        async with asyncio.timeout(within_s):
            while not _found(session, kind):
                if session.closed_s or session.connection.close_code is not None:
                    raise ConnectionClosed(None, None)
                session.news.clear()
                await session.news.wait()
    except TimeoutError:
        raise TimeoutError(f"no {kind} within {within_s} s, only {session.types()[-8:]}") from None


def _found(session: Session, kind: str) -> bool:
    for place in range(session.cursor, len(session.received)):
        if session.received[place].event.get("type") == kind:
            session.cursor = place + 1
            return True
    return False


async def _start(server: ScriptedServer, port: int) -> Server:
    listening = await serve(
        server.handle,
        "127.0.0.1",
        port,
        process_request=server.answer_upgrade,
        compression=None,
        max_size=MAX_FRAME_BYTES,
        close_timeout=0.5,
        ping_interval=None,
    )
    server.port = next(iter(listening.sockets)).getsockname()[1]
    return listening


async def _stop(listening: Server, server: ScriptedServer) -> None:
    server.stopping.set()
    for session in server.sessions:
        if session.closed_s is None:
            session.connection.transport.abort()
    listening.close()
    await listening.wait_closed()


@asynccontextmanager
async def serving(script: Script, *, port: int = 0, **options: Any) -> AsyncIterator[ScriptedServer]:
    """Serve the script on a free port (or `port`) of the running loop. Options: ScriptedServer's fields."""
    server = ScriptedServer(script, **options)
    listening = await _start(server, port)
    try:
        yield server
    finally:
        await _stop(listening, server)
    server.check()


@contextmanager
def serving_in_thread(script: Script, *, port: int = 0, **options: Any) -> Iterator[ScriptedServer]:
    """The same in a thread with a loop of its own, for tests that block theirs or start other processes."""
    server, loop = ScriptedServer(script, **options), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(_start(server, port), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(_stop(listening, server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
    server.check()
