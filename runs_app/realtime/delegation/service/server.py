"""The reference assistant service: `ws /ws/assistant` for connectors with the token, `GET /health` for everybody."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from runs_app.realtime.clock import Clock, MonotonicClock
from runs_app.realtime.delegation.limits import PATH, ServiceLimits
from runs_app.realtime.delegation.service.session import Office, ServiceSession

HOST, PORT = "127.0.0.1", 8795

# At DEBUG, websockets logs handshake headers and frames: tokens and what callers say do not belong into logs.
quiet = logging.getLogger("runs_app.realtime.assistant_service")
quiet.setLevel(logging.WARNING)


class Door:
    """Who may come in. `origins`: of pages that may connect; other programs send none."""

    def __init__(self, token: str, origins: Collection[str], most: int) -> None:
        self._token, self._origins, self._most = token, frozenset(origins), most
        self.inside = 0

    def refuse(self, request: Request) -> Response | None:
        """An answer instead of the upgrade."""
        path = request.path.partition("?")[0]
        if path == "/health":
            return _answer(HTTPStatus.OK, {"status": "ok", "assistant": "client"})
        if path != PATH:
            return _answer(HTTPStatus.NOT_FOUND, {"error": {"message": f"there are {PATH} and /health"}})
        if not self._knows(request.headers.get_all("Authorization")):
            return _answer(HTTPStatus.UNAUTHORIZED, {"error": {"message": "one Authorization header, with the token"}})
        if any(origin not in self._origins for origin in request.headers.get_all("Origin")):
            return _answer(HTTPStatus.FORBIDDEN, {"error": {"message": "this origin may not connect"}})
        if self.inside >= self._most:
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": {"message": f"{self._most} sessions are open"}})
        return None

    def _knows(self, given: list[str]) -> bool:
        expected = f"Bearer {self._token}".encode()
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), expected)


@asynccontextmanager
async def assistant_service(
    office: Office,
    *,
    token: str,
    origins: Collection[str] = (),
    host: str = HOST,
    port: int = PORT,
    limits: ServiceLimits | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Server]:
    """The service while the block lasts. `port` 0: any free one."""
    known = limits or ServiceLimits()
    door = Door(token, origins, known.connections)

    async def converse(socket: ServerConnection) -> None:
        door.inside += 1
        try:
            await ServiceSession(socket, office, known, clock or MonotonicClock()).run()
        finally:
            door.inside -= 1

    async with serve(
        converse,
        host,
        port,
        process_request=lambda _, request: door.refuse(request),
        max_size=known.message_bytes,
        server_header="soundcheck",
        logger=quiet,
    ) as server:
        yield server


def _answer(status: HTTPStatus, body: object) -> Response:
    data = json.dumps(body).encode()
    headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(data)), "Connection": "close"})
    return Response(status.value, status.phrase, headers, data)
