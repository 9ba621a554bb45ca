"""Start a run: choose, see what it will cost in time, go."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from runs_app.estimate import Estimate
from runs_app.estimate import estimate as estimate_run
from runs_app.foresight import Way, cost_words, foresight
from runs_app.forms import RunForm, given
from runs_app.services import liveness
from runs_app.services.runs import start_run
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.pages import signed_in


@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """The form; the URL fills it in. A POST starts the run, or with action=check only says what it would be."""
    if request.method != "POST":
        form = _form(initial=given(request.GET))
        return _page(request, form, _estimate(_form(data=_filled(form))))
    form = _form(data=request.POST)
    if request.POST.get("action") != "check" and form.is_valid():
        try:
            return redirect(start_run(**_arguments(form), user=signed_in(request)))
        except SpecError as error:
            form.refuse(error.problems)
    return _page(request, form, _estimate(form))


@require_http_methods(["GET", "HEAD", "POST"])
def estimate(request: HttpRequest) -> HttpResponse:
    """What the run that the form describes would be: a fragment that it asks for while it is filled in. By POST, as
    scenarios picked by hand are more than an address holds. Nothing is started."""
    data = request.POST if request.method == "POST" else request.GET
    return render(request, "runs_app/run_new_estimate.html", _estimate(_form(data=data)))


def _form(**bound: Any) -> RunForm:
    runnable = Count("entries", filter=Q(entries__scenario__archived_at=None))
    versions = ConfigurationVersion.objects.filter(configuration__archived_at=None).select_related("configuration")
    return RunForm(
        **bound,
        suites=Suite.objects.current().annotate(size=runnable).order_by("name"),
        versions=versions.order_by("configuration__name", "-number"),
    )


def _filled(form: RunForm) -> QueryDict:
    """The values that the unsent form shows, as if they had been sent."""
    data = QueryDict(mutable=True)
    for bound in form:
        value = bound.value()
        data.setlist(bound.name, value if isinstance(value, list) else [] if value is None else [value])
    return data


def _arguments(form: RunForm) -> dict[str, Any]:
    data = form.cleaned_data
    wanted = {
        name: data[name]
        for name in (
            *("suite", "repeats", "concurrency", "mode", "real_time", "seed", "name", "tool_faults"),
            "stop_after_invalid",
        )
    }
    versions = None if form.selection.is_whole_suite else form.selection.versions()
    chosen = {"scenario_versions": versions, "configuration_versions": data["configurations"], "plan": form.plan}
    return {**wanted, **chosen}


def _estimate(form: RunForm) -> dict[str, Any]:
    """Keys: estimate (None until choices and numbers make sense), scenarios, configurations, repeats; then foresight
    and cost."""
    form.is_valid()  # cleans what is not cleaned yet: what is right of a wrong form still counts
    data = form.cleaned_data
    if not form.selection or not all(data.get(name) for name in ("configurations", "repeats", "concurrency")):
        return {"estimate": None}
    scenarios, configurations, repeats = form.selection.versions(), data["configurations"], data["repeats"]
    way = Way(data.get("mode") or "", data.get("real_time"))
    found: Estimate = estimate_run(
        scenarios,
        configurations,
        repeats=repeats,
        concurrency=data["concurrency"],
        mode=way.mode,
        real_time=way.real_time,
    )
    sight = foresight(
        suite=form.selection.suite,
        scenarios=scenarios,
        configurations=len(configurations),
        repeats=repeats,
        way=way,
        plan=form.plan,
    )
    return {
        "estimate": found,
        "scenarios": len(scenarios),
        "configurations": len(configurations),
        "repeats": repeats,
        "foresight": sight,
        "cost": cost_words(scenarios, configurations, repeats=repeats, way=way),
    }


def _page(request: HttpRequest, form: RunForm, said: dict[str, Any]) -> HttpResponse:
    context = {"form": form, **said, "idle": worker_missing()}
    # 200 for a refused form: the page says what to mend
    return render(request, "runs_app/run_new.html", context)


def worker_missing() -> str:
    """Why a run would wait, or "" when a worker answers."""
    if not settings.REDIS_URL:
        return "no queue is known: set REDIS_URL, or start everything with manage.py up"
    said = liveness.seen("conversations")
    return "" if said == "ok" else f"no worker takes conversations ({said.removeprefix('failed: ')}); see /healthz"
