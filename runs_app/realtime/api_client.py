"""The openai client as we use it for speech and judging: any compatible endpoint, and nothing of the environment.

By itself the client sends what OPENAI_ORG_ID, OPENAI_PROJECT_ID, OPENAI_ADMIN_KEY and OPENAI_CUSTOM_HEADERS hold to
whatever address it is given, follows redirects and asks the environment for a proxy. Here it sends the key that it
was given to the address that it was given, and only there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
from openai import AsyncOpenAI

from runs_app.realtime.certificates import certificates

# Sent when a configuration has no key: compatible servers without keys want the header all the same.
DUMMY_KEY = "none"

_OUR_HEADERS = frozenset(
    {"host", "accept", "accept-encoding", "connection", "user-agent", "content-type", "content-length"}
)


async def api_client(*, base_url: str, api_key: str | None, timeout_s: float) -> AsyncOpenAI:
    """A client for one base URL, to be used with `async with`. It never retries: callers decide that.

    A redirect is an answer like any other (openai.APIStatusError with its 3xx status).
    """
    key = api_key or DUMMY_KEY
    http = httpx2.AsyncClient(
        # Reading the certificates takes tens of milliseconds, too long for a loop that paces audio.
        verify=await asyncio.to_thread(certificates),
        timeout=timeout_s,
        follow_redirects=False,
        trust_env=False,
        event_hooks={"request": [_only_ours(key)]},
    )
    return AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=timeout_s, http_client=http)


def _only_ours(api_key: str) -> Callable[[httpx2.Request], Awaitable[None]]:
    async def clean(request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name not in _OUR_HEADERS and not name.startswith("x-stainless-"):
                del request.headers[name]
        request.headers["authorization"] = f"Bearer {api_key}"

    return clean
