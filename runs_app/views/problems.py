"""Failures by kind: the problems of some runs, and the trials of one of them."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs_app.comparing.choice import MOST_RUNS
from runs_app.known import open_marks, with_marks
from runs_app.models import Run
from runs_app.problems import kind_in_words, problems_of, trials_of_kind
from scenarios_app.spec.numbers import number_of

PAGE_SIZE = 50


@require_safe
def problems(request: HttpRequest) -> HttpResponse:
    """?run=, once or more; with ?kind= the trials that failed so, and with ?scenario= those of one scenario."""
    numbers = [number for text in request.GET.getlist("run") if (number := number_of(text)) is not None]
    runs = list(Run.objects.filter(pk__in=numbers[:MOST_RUNS]).order_by("pk"))
    if not runs:
        raise Http404("Name a run, such as ?run=7")
    marks = open_marks()
    kind, scenario = request.GET.get("kind"), request.GET.get("scenario", "")
    page = None
    if kind is not None or scenario:
        page = Paginator(trials_of_kind(runs, kind, scenario=scenario), PAGE_SIZE).get_page(request.GET.get("page"))
        with_marks(page, marks)
    context = {
        "runs": runs,
        "kind": kind,
        "words": kind_in_words(kind) if kind is not None else "",
        "scenario": scenario,
        "page": page,
        "problems": problems_of(runs, marks),
    }
    return render(request, "runs_app/problems.html", context)
