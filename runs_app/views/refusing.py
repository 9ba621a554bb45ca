"""What is answered to something that cannot be done now."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render


def refused(request: HttpRequest, title: str, reason: Exception) -> HttpResponse:
    """409 with words: as JSON for programs, as a page for people."""
    message = f"{str(reason)[:1].upper()}{str(reason)[1:]}."
    if request.accepts("text/html"):
        context = {"status": 409, "title": title, "message": message, "request_id": getattr(request, "request_id", "")}
        return render(request, "errors/page.html", context, status=409)
    return JsonResponse({"error": message}, status=409)
