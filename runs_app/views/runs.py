from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs_app import live
from runs_app.models import Run
from runs_app.services import runs as services


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    return render(request, "runs_app/runs.html", {"runs": Run.objects.select_related("suite")[:100]})


@require_safe
def run_new(request: HttpRequest) -> HttpResponse:
    return render(request, "runs_app/run_new.html", {})


@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Run, pk=pk)
    return render(request, "runs_app/run.html", {**live.panel(found), "htmx_extensions": "hx-ws"})


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Run, pk=pk)
    try:
        services.cancel_run(run=found)
    except services.AlreadyFinished as reason:
        return JsonResponse({"error": str(reason)}, status=409)
    return redirect(found)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Run, pk=pk)
    services.retry_invalid(run=found)
    return redirect(found)


@require_safe
def results(request: HttpRequest, pk: int) -> HttpResponse:
    from runs_app.reporting import results as reporting

    return JsonResponse(reporting.run_results(get_object_or_404(Run, pk=pk)))
