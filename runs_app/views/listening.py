"""Listening: the player of a trial for pages that fetch it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs_app.listening.sheet import sheet_of
from runs_app.models import Trial
from scenarios_app.views.pages import signed_in


@require_safe
def player(request: HttpRequest, pk: int) -> HttpResponse:
    """The player alone, as a fragment. A trial that left nothing has none: 404."""
    found = get_object_or_404(Trial.objects.seen_by(signed_in(request)).with_versions(), pk=pk)
    sheet = sheet_of(found)
    if sheet is None:
        return HttpResponse("This trial left nothing to hear.", status=404, content_type="text/plain")
    return render(request, "runs_app/player.html", {"sheet": sheet})
