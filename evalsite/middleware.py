"""Two small middlewares: a request id for logs and error pages, and the content security policy."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from evalsite import logs

# Plotly and wavesurfer set styles from scripts; no inline script is ever needed (json_script is data).
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'self'",
    ]
)
GetResponse = Callable[[HttpRequest], HttpResponse] | Callable[[HttpRequest], Awaitable[HttpResponse]]


def _new_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else secrets.token_hex(6)


@sync_and_async_middleware
def request_id(get_response):  # type: ignore[no-untyped-def]
    if iscoroutinefunction(get_response):

        async def middleware(request):  # type: ignore[no-untyped-def]
            request.request_id = _new_id(request)
            with logs.ids(request=request.request_id):
                response = await get_response(request)
            response["X-Request-ID"] = request.request_id
            return response
    else:

        def middleware(request):  # type: ignore[no-untyped-def]
            request.request_id = _new_id(request)
            with logs.ids(request=request.request_id):
                response = get_response(request)
            response["X-Request-ID"] = request.request_id
            return response

    return middleware


@sync_and_async_middleware
def content_security_policy(get_response):  # type: ignore[no-untyped-def]
    if iscoroutinefunction(get_response):

        async def middleware(request):  # type: ignore[no-untyped-def]
            response = await get_response(request)
            response.headers.setdefault("Content-Security-Policy", POLICY)
            return response
    else:

        def middleware(request):  # type: ignore[no-untyped-def]
            response = get_response(request)
            response.headers.setdefault("Content-Security-Policy", POLICY)
            return response

    return middleware
