"""Parts of pages: alone for htmx, within a page of their own where no script runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def part_or_page(request: HttpRequest, part: str, context: dict[str, Any], *, page: str) -> HttpResponse:
    """`page` includes what stands in `part`."""
    template = part if is_htmx(request) else page
    return render(request, f"runs_app/{template}.html", {**context, "part": f"runs_app/{part}.html"})
