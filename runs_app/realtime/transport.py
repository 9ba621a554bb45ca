"""The websocket: opened once, never again. A reconnect would silently make two conversations of one."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Mapping

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from runs_app.realtime import faults
from scenarios_app.spec.providers import azure_slip

MAX_FRAME_BYTES = 16 * 2**20
PING_S = 20.0

# At DEBUG, websockets logs handshake headers and frames: keys and callers' voices do not belong into logs.
quiet = logging.getLogger("runs_app.realtime.websockets")
quiet.setLevel(logging.WARNING)


class _ConnectOnce(connect):
    """Takes a redirect as what it is, a refusal: following it would carry the headers to another place."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


async def open_socket(
    url: str, headers: Mapping[str, str], *, timeout_s: float, close_s: float, most_bytes: int = MAX_FRAME_BYTES
) -> ClientConnection:
    """`most_bytes`: of one message that is taken. Raises BrokenOff with stage connect, authorisation or provider_limit.
    Messages hold no header and no URL."""
    try:
        return await _ConnectOnce(
            url,
            additional_headers=dict(headers),
            user_agent_header="soundcheck",
            compression=None,
            proxy=None,
            open_timeout=timeout_s,
            close_timeout=close_s,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            max_size=most_bytes,
            max_queue=64,
            logger=quiet,
        )
    except InvalidStatus as exc:
        body = (exc.response.body or b"").decode("utf-8", "replace")
        raise faults.refused_handshake(exc.response.status_code, body, hint=azure_slip(url) or "") from None
    except InvalidURI:
        raise faults.not_connected("url", "the URL is not a websocket address") from None
    except InvalidHandshake as exc:
        raise faults.not_connected("handshake", f"the other side does not speak websocket ({exc})") from None
    except TimeoutError:
        raise faults.not_connected("timeout", f"no answer to the handshake within {timeout_s:g} s") from None
    except OSError as exc:
        raise faults.not_connected(_network_code(exc), str(exc)) from None


async def close_socket(connection: ClientConnection, *, within_s: float) -> bool:
    """Close, and cut the line when the other side does not answer in time. True when it did."""
    try:
        async with asyncio.timeout(within_s):
            await connection.close()
        return connection.protocol.close_rcvd is not None
    except TimeoutError:
        return False
    finally:
        connection.transport.abort()


def closing_of(exc: ConnectionClosed) -> faults.Closing:
    """The close frame that decided: the other side's, or ours if we gave up first (a frame too big, no pong)."""
    if exc.rcvd is not None and exc.rcvd_then_sent is not False:
        return faults.Closing(exc.rcvd.code, exc.rcvd.reason, by_us=False)
    if exc.sent is not None:
        return faults.Closing(exc.sent.code, exc.sent.reason, by_us=True)
    return faults.Closing(None, "", by_us=False)


def _network_code(exc: OSError) -> str:
    if isinstance(exc, ssl.SSLError):
        return "tls"
    if isinstance(exc, socket.gaierror):
        return "dns"
    return "refused" if isinstance(exc, ConnectionRefusedError) else "network"
