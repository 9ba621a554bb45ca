"""Small middlewares: a request id for logs and error pages, the content security policy, and addresses without NUL."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from asgiref.sync import iscoroutinefunction
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.decorators import sync_and_async_middleware
from django_htmx.http import HttpResponseClientRedirect

from evalsite import logs

# Plotly and the lanes of the player set styles from scripts; no inline script is ever needed (json_script is data).
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
Finish = Callable[[HttpResponseBase], HttpResponseBase]
Around = Callable[[HttpRequest], AbstractContextManager[Finish]]


def _new_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else secrets.token_hex(6)


def _both(around: Around) -> Callable[[Any], Any]:
    """A middleware for sync and async chains: `around` is entered with the request and given the response."""

    @sync_and_async_middleware
    def factory(get_response: Any) -> Any:
        async def asynchronous(request: HttpRequest) -> HttpResponseBase:
            with around(request) as finish:
                return finish(await get_response(request))

        def synchronous(request: HttpRequest) -> HttpResponseBase:
            with around(request) as finish:
                return finish(get_response(request))

        return asynchronous if iscoroutinefunction(get_response) else synchronous

    return factory


@contextmanager
def _request_id(request: HttpRequest) -> Iterator[Finish]:
    known = _new_id(request)
    request.request_id = known  # type: ignore[attr-defined]

    def finish(response: HttpResponseBase) -> HttpResponseBase:
        response["X-Request-ID"] = known
        return response

    with logs.ids(request=known):
        yield finish


@contextmanager
def _policy(request: HttpRequest) -> Iterator[Finish]:
    def finish(response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    yield finish


@contextmanager
def _address(request: HttpRequest) -> Iterator[Finish]:
    """PostgreSQL takes no text with a NUL: a filter or a name with one is no address of this site."""
    if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        raise BadRequest("the address holds a NUL character")
    yield lambda response: response


class SignInRequired(LoginRequiredMiddleware):
    """As Django's, but a part of a page that a script asked for sends the whole page to sign in, not itself."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:  # type: ignore[override]
        answer = super().handle_no_permission(request, view_func)
        if request.headers.get("HX-Request") != "true":
            return answer
        page = urlsplit(request.headers.get("HX-Current-URL", "/"))
        back = urlencode({"next": urlunsplit(("", "", page.path, page.query, ""))})
        return HttpResponseClientRedirect(f"{resolve_url(self.get_login_url(view_func))}?{back}")


request_id = _both(_request_id)
content_security_policy = _both(_policy)
address_without_nul = _both(_address)
