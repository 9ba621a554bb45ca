"""The bug capsule of a moment, as one file or as a zip. ?t= is the moment in seconds."""

from __future__ import annotations

import math

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from runs_app.capsule.build import Capsule, capsule_of, html_of, zip_of
from runs_app.models import Trial

LONGEST_S = 86_400.0


class BadMoment(Exception):
    """The address names no moment."""


@require_safe
def as_html(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        capsule = _capsule(request, pk)
    except BadMoment as problem:
        return HttpResponse(str(problem), status=400, content_type="text/plain; charset=utf-8")
    return _file(html_of(capsule).encode(), f"{capsule.name}.html", "text/html; charset=utf-8")


@require_safe
def as_zip(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        capsule = _capsule(request, pk)
    except BadMoment as problem:
        return HttpResponse(str(problem), status=400, content_type="text/plain; charset=utf-8")
    return _file(zip_of(capsule), f"{capsule.name}.zip", "application/zip")


def _capsule(request: HttpRequest, pk: int) -> Capsule:
    trial = get_object_or_404(Trial.objects.counted().with_versions(), pk=pk)
    text = request.GET.get("t", "0")
    try:
        seconds = float(text)
    except ValueError:
        raise BadMoment(f"t: {text[:40]!r} is no moment in seconds, such as 13.4") from None
    if not (math.isfinite(seconds) and 0 <= seconds <= LONGEST_S):
        raise BadMoment(f"t: {text[:40]!r} must be from 0 to {LONGEST_S:.0f} s")
    return capsule_of(trial, seconds * 1000)


def _file(body: bytes, name: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(body, content_type=content_type, headers=headers)
