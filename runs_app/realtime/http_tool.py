"""Tools that the author's own endpoint answers: one POST for each call.

An answer of the tool and a failure on the way are told apart by the status: 2xx is the result; a 4xx with JSON is the
tool's refusal, which the agent is told; everything else (no connection, a time-out, a redirect, 401, 403, 429, 5xx,
what is no JSON) says nothing about the agent and is ToolSandboxError. Redirects are not followed and no proxy is asked,
so that a call, its state and its headers go to the allowed origin and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

from runs_app.realtime.certificates import certificates
from runs_app.realtime.endpoints import shown
from runs_app.realtime.record import Json
from runs_app.realtime.tool_backends import Asked, Given
from runs_app.realtime.tools import ToolSandboxError
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean_text, load

TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 65_536

# 4xx of a gateway, a proxy or a lock on the door: not what the tool itself says.
_NOT_THE_TOOL = frozenset({401, 403, 405, 407, 408, 413, 414, 415, 421, 425, 426, 429, 431})
_SHOWN = 200


@dataclass(frozen=True)
class HttpTool:
    """A Backend. `url` and `headers` are rendered and allowed already; `trial` tells the endpoint who asks."""

    url: str = field(repr=False)  # its query may hold a key
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = TIMEOUT_S
    send_state: bool = False
    trial: Mapping[str, Json] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Its address as it may be shown."""
        return shown(self.url)

    async def answer(self, asked: Asked) -> Given:
        async with self._failing_in_words():
            return _read(*await self._post(asked))

    async def reach(self) -> int:
        """The status that it gives OPTIONS, which asks for nothing to be done. Raises ToolSandboxError."""
        async with self._failing_in_words(), self._client(await asyncio.to_thread(certificates)) as client:
            return (await client.options(self.url, headers=self._headers())).status_code

    @asynccontextmanager
    async def _failing_in_words(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except TimeoutError as error:
            raise ToolSandboxError(f"{shown(self.url)} gave no answer within {self.timeout_s:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise ToolSandboxError(f"{shown(self.url)} could not be asked: {reason}") from error
        except _NoAnswer as error:
            raise ToolSandboxError(f"{shown(self.url)} {error}") from error

    async def _post(self, asked: Asked) -> tuple[int, str, bytes]:
        body: dict[str, Json] = {"tool": asked.tool, "arguments": asked.arguments, "trial": dict(self.trial)}
        if self.send_state:
            body["state"] = asked.state
        headers = self._headers() | {"content-type": "application/json"}
        content = json.dumps(body, ensure_ascii=False).encode()
        async with (
            # Reading the certificates takes tens of milliseconds, too long for a loop that paces audio.
            self._client(await asyncio.to_thread(certificates)) as client,
            client.stream("POST", self.url, content=content, headers=headers) as response,
        ):
            return response.status_code, response.headers.get("content-type", ""), await _limited(response)

    def _headers(self) -> dict[str, str]:
        usual = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "soundcheck"}
        return usual | {name.lower(): value for name, value in self.headers.items()}

    def _client(self, verify: ssl.SSLContext) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(verify=verify, timeout=self.timeout_s, follow_redirects=False, trust_env=False)


class _NoAnswer(Exception):
    """What came back is not an answer of the tool; the message goes on after the address."""


async def _limited(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise _NoAnswer(f"answered with more than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _read(status: int, content_type: str, body: bytes) -> Given:
    if 200 <= status < 300:
        return Given(_value(status, content_type, body) if body.strip() else {})
    if 400 <= status < 500 and status not in _NOT_THE_TOOL:
        refusal = _value(status, content_type, body)
        return Given(refusal, error=_words(refusal))
    note = " (redirects are not followed)" if 300 <= status < 400 else ""
    raise _NoAnswer(f"answered {status}{note}{_beginning(body)}")


def _value(status: int, content_type: str, body: bytes) -> Json:
    if 200 <= status < 300 and content_type.partition(";")[0].strip().lower() == "text/plain":
        return clean_text(body.decode("utf-8", "replace"))
    try:
        return load(body)
    except SpecError as error:
        raise _NoAnswer(f"answered {status} with what is no JSON{_beginning(body)}") from error


def _beginning(body: bytes) -> str:
    text = " ".join(clean_text(body[: 4 * _SHOWN].decode("utf-8", "replace")).split())
    return f": {text[:_SHOWN]}" if text else ""


def _words(refusal: Json) -> str:
    """The sentence in a refusal: a text, or that under error, message, detail or error.message."""
    if isinstance(refusal, str) and refusal.strip():
        return refusal
    for key in ("error", "message", "detail", "title"):
        found = refusal.get(key) if isinstance(refusal, dict) else None
        if isinstance(found, str | dict) and found:
            return _words(found)
    return json.dumps(refusal, ensure_ascii=False)[:_SHOWN]
