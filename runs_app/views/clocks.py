"""The page of a run's two clocks."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs_app.clocks import clocks_of, histogram
from runs_app.grading.metrics import CLOCKS_DIFFER_MS
from runs_app.models import Run


@require_safe
def clocks(request: HttpRequest, pk: int) -> HttpResponse:
    run: Run = get_object_or_404(Run.objects.with_people(), pk=pk)
    found = clocks_of(run)
    context = {
        "run": run,
        "clocks": found,
        "summaries": list(zip(found.labels, found.summaries, strict=True)),
        "limit": CLOCKS_DIFFER_MS,
        "figures": [{"id": "clocks", "figure": histogram(found)}] if found.measured else [],
    }
    return render(request, "runs_app/run_clocks.html", context)
