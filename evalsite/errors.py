"""Error pages in the site's look, with the request's id and no stack trace."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def _page(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    context = {
        "status": status,
        "title": title,
        "message": message,
        "request_id": getattr(request, "request_id", ""),
    }
    template = "errors/fragment.html" if request.headers.get("HX-Request") == "true" else "errors/page.html"
    return render(request, template, context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(
        request,
        400,
        "That request could not be read",
        str(exception or "") or "Something in it is not as expected.",
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, "Not allowed", str(exception or "") or "You may not do this.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 404, "Nothing here", "There is no such page, or it was removed.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    origin = request.headers.get("Origin", "none")
    allowed = ", ".join(settings.CSRF_TRUSTED_ORIGINS) or "none"
    message = (
        f"The form was not accepted ({reason.rstrip('.')}). The browser named the origin {origin}; "
        f"SITE_ORIGINS allows {allowed}. Load the page again, or add the origin to SITE_ORIGINS."
    )
    if origin == "null":
        message += " Browsers name null when a proxy adds the header Referrer-Policy: no-referrer; take it out there."
    return _page(request, 403, "The form was not accepted", message)
