"""Requests that carry a whole file: refused by their length, before a byte of them is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from scenarios_app.spec.numbers import number_of

View = Callable[..., Any]  # gives a response, or promises one
MOST_FIELDS = 1_000  # of a page that takes a file; an editor has more
_FRAME = 64 * 1024  # field names and boundaries around a file of exactly the limit


def most_bytes() -> int:
    return int(settings.IMPORT_LIMIT_MB) * 1024 * 1024 + _FRAME


def limited_body(view: View) -> View:
    """413 for a request above IMPORT_LIMIT_MB, 400 for one whose length is no number.

    The CSRF check reads the form, so it must come after the length check: hence exempt outside, protected inside.
    """
    protected = csrf_protect(view)

    if iscoroutinefunction(view):

        async def guarded_async(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            refusal = await sync_to_async(_refusal)(request)  # a page, whose head asks who is signed in
            return refusal or await protected(request, *args, **kwargs)

        return csrf_exempt(wraps(view)(guarded_async))

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _refusal(request) or protected(request, *args, **kwargs)

    return csrf_exempt(wraps(view)(guarded))


def _refusal(request: HttpRequest) -> HttpResponse | None:
    length = number_of(request.META.get("CONTENT_LENGTH") or "0")
    if length is None:
        raise BadRequest("The Content-Length of the request is no number of bytes.")
    return too_large(request, length) if length > most_bytes() else None


def few_fields(view: View) -> View:
    """400 for a form of more than MOST_FIELDS fields: the page that sent it is not ours."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if len(request.POST) > MOST_FIELDS:
            raise BadRequest(f"The form has {len(request.POST):,} fields; this page takes {MOST_FIELDS:,}.")
        return view(request, *args, **kwargs)

    return guarded


def too_large(request: HttpRequest, length: int) -> HttpResponse:
    context = {
        "status": 413,
        "title": "That is too large",
        "message": f"You sent {length / 1024 / 1024:.1f} MB; the limit is {settings.IMPORT_LIMIT_MB} MB "
        "(IMPORT_LIMIT_MB). Split the file, or ask the operator to raise the limit. Nothing was stored.",
        "request_id": getattr(request, "request_id", ""),
    }
    template = "errors/fragment.html" if request.headers.get("HX-Request") == "true" else "errors/page.html"
    return render(request, template, context, status=413)
