"""A suite by its runs: what each scenario is good for, the trend, a smoke subset, and the baseline."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs_app.insight import LANES, Insight, insight_of, smoke, trend_chart
from runs_app.models import Run, RunConfiguration, RunStatus
from runs_app.services.baselines import baseline_of, promote_baseline
from scenarios_app.models import Suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.pages import signed_in

USUAL_MINUTES = 5
MOST_MINUTES = 600


@require_safe
def suite_insight(request: HttpRequest, name: str) -> HttpResponse:
    """?minutes= of the smoke subset, ?tag= of the scenarios that are listed."""
    suite = _suite(name)
    found = insight_of(suite)
    minutes = min(number_of(request.GET.get("minutes", "")) or USUAL_MINUTES, MOST_MINUTES)
    tag = request.GET.get("tag", "")
    shown = tag if tag in found.tags else ""
    context = {
        "suite": suite,
        "insight": found,
        "rows": [row for row in found.rows if shown in ("", row.item.tag)],
        "tag": shown,
        "minutes": minutes,
        "lanes": LANES,
        **_smoke(found, minutes),
        "figures": [{"id": "chart-trend", "figure": trend_chart(found)}] if found.points else [],
        "baseline": baseline_of(suite),
        "baselines": suite.baselines.with_names()[:20],
        "candidates": _candidates(suite),
    }
    return render(request, "runs_app/insight.html", context)


def _suite(name: str) -> Suite:
    found = Suite.objects.filter(name__iexact=name).first()
    if found is None:
        raise Http404("There is no such suite.")
    return found


def _smoke(found: Insight, minutes: int) -> dict[str, Any]:
    picks = smoke(found, minutes=minutes) if found.runs else []
    newest = [str(entry.configuration_version) for entry in _entries(found.runs[-1])] if found.runs else []
    asked = {"scenarios": [pick.scenario_id for pick in picks], "configurations": newest[-1:], "repeats": 1}
    seconds = sum(pick.seconds for pick in picks)
    return {
        "picks": picks,
        "smoke_minutes": seconds / 60 / LANES,
        "smoke_url": f"{reverse('run-new')}?{urlencode({**asked, 'concurrency': LANES}, doseq=True)}",
    }


def _entries(run: Run) -> list[RunConfiguration]:
    return list(run.configurations.select_related("configuration_version__configuration").order_by("position"))


def _candidates(suite: Suite) -> list[RunConfiguration]:
    """What can be promoted: the configurations of the newest finished run that has any."""
    newest = Run.objects.filter(suite=suite, status=RunStatus.DONE).order_by("-pk").first()
    return _entries(newest) if newest is not None else []


@require_POST
def promote(request: HttpRequest, name: str) -> HttpResponse:
    suite = _suite(name)
    chosen = number_of(request.POST.get("entry", ""))
    entry = next((one for one in _candidates(suite) if one.pk == chosen), None)
    if entry is None:
        messages.error(request, "Choose a configuration of the newest finished run.")
        return redirect("suite-insight", suite.name)
    version, note = entry.configuration_version, request.POST.get("note", "")
    try:
        promote_baseline(suite=suite, configuration_version=version, run=entry.run, note=note, user=signed_in(request))
    except SpecError as error:
        messages.error(request, "; ".join(f"{one.path} {one.message}" for one in error.problems))
    else:
        messages.success(request, f"{version} is the baseline of {suite} now.")
    return redirect("suite-insight", suite.name)
