"""The websocket endpoints `/v1/realtime` and `/v1/live/sessions`, from the handshake with its options to the close."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from runs_app.simulator.dialects import BETA_PATH, choose
from runs_app.simulator.ear import Ear
from runs_app.simulator.live_session import LiveSession
from runs_app.simulator.options import OptionError, Options, read_options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.session import Session
from runs_app.simulator.voices import Voices
from runs_app.simulator.wire import error_event, new_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

REALTIME_PATHS = ("/v1/realtime", "/openai/v1/realtime", BETA_PATH)
LIVE_PATHS = ("/v1/live/sessions", "/openai/v1/live/sessions")

_EARLY_MESSAGES = {
    "invalid_api_key": "Incorrect API key provided.",
    "session_limit_reached": "Too many sessions at the same time.",
    "beta_api_shape_disabled": "The beta shape of the Realtime API is no longer available here: use the GA shape.",
}


async def converse(scope: Scope, receive: Receive, send: Send, *, ear: Ear, voices: Voices) -> None:
    """One connection, from the handshake to its end."""
    await receive()  # websocket.connect
    headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
    try:
        options = read_options(headers, scope["query_string"].decode("latin1"))
    except OptionError as error:
        await _accept(scope, send)
        await _refuse(send, "invalid_value", str(error), param=error.name, close_code=1008)
        return
    if status := options.faults.refusal_status() or _azure_status(scope, options):
        await refuse_handshake(send, status)
        return
    await _accept(scope, send)
    if ending := options.faults.early_end():
        code, close_code = ending
        await _refuse(send, code, _EARLY_MESSAGES[code], param=None, close_code=close_code)
        return
    async with asyncio.TaskGroup() as group:
        session = _session(scope, headers, options, _outlet(group, send), ear, voices)
        await session.open()
        # A client may stay silent as long as the session lives: the session's own expiry ends this wait.
        while (message := await receive())["type"] != "websocket.disconnect":
            await session.receive(message.get("text") or (message.get("bytes") or b"").decode("utf-8", "replace"))
        session.end()


async def refuse_handshake(send: Send, status: int) -> None:
    """Answer the upgrade with an HTTP status (the ASGI extension "websocket.http.response", see serve.py)."""
    await send({"type": "websocket.http.response.start", "status": status, "headers": []})
    await send({"type": "websocket.http.response.body", "body": b""})


def _session(
    scope: Scope, headers: dict[str, str], options: Options, outlet: Outlet, ear: Ear, voices: Voices
) -> Session | LiveSession:
    if scope["path"].rstrip("/") in LIVE_PATHS:
        return LiveSession(options=options, ear=ear, voices=voices, outlet=outlet)
    dialect = choose(scope["path"], headers, scope.get("subprotocols", ()))
    return Session(options=options, dialect=dialect, ear=ear, voices=voices, outlet=outlet)


def _outlet(group: asyncio.TaskGroup, send: Send) -> Outlet:
    async def send_text(text: str) -> None:
        await send({"type": "websocket.send", "text": text})

    async def close(code: int, reason: str) -> None:
        await send({"type": "websocket.close", "code": code, "reason": reason})

    return Outlet(group=group, send=send_text, close=close)


async def _accept(scope: Scope, send: Send) -> None:
    offered = scope.get("subprotocols", ())
    await send({"type": "websocket.accept", "subprotocol": "realtime" if "realtime" in offered else None})


def _azure_status(scope: Scope, options: Options) -> int | None:
    """Azure's GA address takes no version: who sends one is turned away as if the key were wrong."""
    return 401 if scope["path"].startswith("/openai/v1/") and options.api_version else None


async def _refuse(send: Send, code: str, message: str, *, param: str | None, close_code: int) -> None:
    event = {"event_id": new_id("event"), **error_event(code, message, param=param)}
    event["error"].pop("event_id")  # no client event was to blame
    await send({"type": "websocket.send", "text": json.dumps(event)})
    await send({"type": "websocket.close", "code": close_code, "reason": f"invalid_request_error.{code}"})
