"""Reports that open offline: one HTML file of a run or of a comparison."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from runs_app.comparing.choice import BadChoice
from runs_app.comparing.page import page_asked
from runs_app.models import Run
from runs_app.reporting.html_report import comparison_report, run_report
from runs_app.reporting.redaction import site_redactor


@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    return _file(run_report(get_object_or_404(Run, pk=pk)), f"run-{pk}-report.html")


@require_safe
def comparison(request: HttpRequest) -> HttpResponse:
    """The address is the comparison's; ?candidate=NAME@VERSION leaves out the others beside the baseline."""
    try:
        page = page_asked(request.GET)
    except BadChoice as problem:
        raise Http404(str(problem)) from problem
    return _file(comparison_report(page, request.GET.get("candidate", "")), "comparison-report.html")


def _file(text: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Notice": site_redactor().notice}
    return HttpResponse(text, content_type="text/html; charset=utf-8", headers=headers)
