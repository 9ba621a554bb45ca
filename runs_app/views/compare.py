"""The comparison page: two or more configurations over the same scenarios. Everything shown is in the address."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from runs_app.comparing.choice import METRICS, BadChoice, choice_of
from runs_app.comparing.export import as_csv, as_json
from runs_app.comparing.page import Page, page_of
from runs_app.models import Run

PAGE_SIZE = 100
RECENT = 20


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    try:
        choice = choice_of(request.GET)
        page = page_of(choice) if choice.runs else None
    except BadChoice as problem:
        return _pick(request, problem=str(problem), status=404 if "there is no run" in str(problem) else 400)
    if page is None:
        return _pick(request)
    return _page(request, page)


def _pick(request: HttpRequest, *, problem: str = "", status: int = 200) -> HttpResponse:
    context = {"recent": _recent(at_least=2), "problem": problem}
    return render(request, "runs_app/compare_pick.html", context, status=status)


def _recent(*, at_least: int) -> list[Run]:
    runs = Run.objects.select_related("suite").annotate(width=Count("configurations")).filter(width__gte=at_least)
    # a query that counts by group forgets the model's own order
    return list(runs.order_by("-id").prefetch_related("configurations__configuration_version__configuration")[:RECENT])


def _page(request: HttpRequest, page: Page) -> HttpResponse:
    if request.headers.get("HX-Request") and page.state != "running":
        # the page that polls while a run goes on is drawn anew, with its charts, once there is something to compare
        return HttpResponse(headers={"HX-Refresh": "true"})
    table = Paginator(page.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    recent = [run for run in _recent(at_least=1) if run not in page.loaded.runs]
    context = {"shown": page, "page": table, "metrics": METRICS, "recent": recent}
    response = render(request, "runs_app/compare.html", context)
    patch_vary_headers(response, ("HX-Request",))
    return response


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    try:
        choice = choice_of(request.GET)
        if not choice.runs:
            raise BadChoice("run: name the run to compare, such as ?run=7")
        page = page_of(choice)
    except BadChoice as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    if request.GET.get("format") == "csv":
        headers = {"Content-Disposition": 'attachment; filename="comparison.csv"'}
        return HttpResponse(as_csv(page), content_type="text/csv; charset=utf-8", headers=headers)
    # strict: a NaN would be an error here and not something that half of all readers refuse
    return JsonResponse(as_json(page), json_dumps_params={"allow_nan": False, "ensure_ascii": False})
