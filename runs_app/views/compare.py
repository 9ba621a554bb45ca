"""The comparison page: two or more configurations over the same scenarios. Everything shown is in the address."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from runs_app.comparing.choice import METRICS, BadChoice, choice_of
from runs_app.comparing.export import as_csv, as_json
from runs_app.comparing.page import Page, page_of
from runs_app.models import Run
from runs_app.reporting.redaction import site_redactor
from runs_app.reporting.results import redactor_for
from scenarios_app.models import Configuration, ConfigurationVersion
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.pages import two_versions

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
    context = {
        "shown": page,
        "page": table,
        "metrics": METRICS,
        "recent": recent,
        "export_notice": site_redactor().notice,
    }
    response = render(request, "runs_app/compare.html", context)
    patch_vary_headers(response, ("HX-Request",))
    return response


@require_safe
def versions(request: HttpRequest, name: str) -> HttpResponse:
    """Two versions of a configuration, ?from= and ?to=, by default the newest and the one before: to the newest run
    that holds both, or to a new run that would."""
    configuration = configuration_or_404(name)
    old, new = two_versions(request, list(configuration.versions.newest_first()))
    if old == new:
        raise Http404("One version alone cannot be compared.")
    run = Run.objects.holding([old, new]).first()
    if run is not None:
        return redirect(f"{reverse('compare')}?{urlencode({'run': run.pk, 'a': str(old), 'b': str(new)})}")
    messages.info(request, f"No run holds both {old} and {new} yet. This one would.")
    return redirect(_run_of(configuration, [old, new]))


def _run_of(configuration: Configuration, versions: Sequence[ConfigurationVersion]) -> str:
    """The new-run form with these versions, and the suite that the configuration last ran with."""
    last = Run.objects.filter(configurations__configuration_version__configuration=configuration)
    suite = last.filter(suite__archived_at=None).exclude(suite=None).values_list("suite__name", flat=True).first()
    given = {"configurations": [str(version) for version in versions], **({"suite": suite} if suite else {})}
    return f"{reverse('run-new')}?{urlencode(given, doseq=True)}"


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    try:
        choice = choice_of(request.GET)
        if not choice.runs:
            raise BadChoice("run: name the run to compare, such as ?run=7")
        page = page_of(choice)
    except BadChoice as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    redactor = redactor_for(page.loaded.runs)
    if request.GET.get("format") == "csv":
        headers = {"Content-Disposition": 'attachment; filename="comparison.csv"', "X-Notice": redactor.notice}
        text = redactor.text(as_csv(page))
        return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
    document = {"notice": redactor.notice, **redactor.json(as_json(page))}
    # strict: a NaN would be an error here and not something that half of all readers refuse
    return JsonResponse(document, json_dumps_params={"allow_nan": False, "ensure_ascii": False})
