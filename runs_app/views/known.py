"""Known failures: the list, one mark with its history, and how a failure is marked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs_app.known import open_marks, passing_now
from runs_app.known_forms import ChangeForm, MarkForm
from runs_app.models import KnownFailure, Run, Trial
from runs_app.problems import kind_in_words, trials_of_kind
from runs_app.services import known_failures as services
from scenarios_app.models import Scenario
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.pages import signed_in

MOST_LIFTED = 100
MOST_TRIALS = 20


@require_safe
def known_failures(request: HttpRequest) -> HttpResponse:
    """Open marks, those first that ask for something; then the latest that were lifted."""
    open_ = list(KnownFailure.objects.open().with_names())
    lifted = KnownFailure.objects.filter(lifted_at__isnull=False).with_names().order_by("-lifted_at")[:MOST_LIFTED]
    passing = {one.mark.pk: one for one in passing_now(open_marks())}
    rows = [{"mark": mark, "words": _words(mark), "passing": passing.get(mark.pk)} for mark in open_]
    rows.sort(key=lambda row: (not row["mark"].is_expired, row["passing"] is None))
    return render(request, "runs_app/known_failures.html", {"rows": rows, "lifted": lifted})


def _words(mark: KnownFailure) -> str:
    return kind_in_words(mark.kind) if mark.kind else ""


@require_http_methods(["GET", "HEAD", "POST"])
def known_failure(request: HttpRequest, pk: int) -> HttpResponse:
    """One mark. A POST changes it, or with action=lift lifts it."""
    mark = get_object_or_404(KnownFailure.objects.with_names(), pk=pk)
    initial = {"ticket": mark.ticket, "note": mark.note, "expires_on": mark.expires_on}
    form = ChangeForm(request.POST) if request.method == "POST" else ChangeForm(initial=initial)
    if request.method == "POST":
        try:
            if request.POST.get("action") == "lift":
                services.lift_known(mark=mark, reason=request.POST.get("reason", ""), user=signed_in(request))
                messages.success(request, f"The mark of {mark} is lifted: its failures count again.")
                return redirect(mark)
            if form.is_valid():
                services.change_known(mark=mark, **form.cleaned_data, user=signed_in(request))
                messages.success(request, "The mark is changed.")
                return redirect(mark)
        except SpecError as error:
            form.refuse(error.problems)
    return render(request, "runs_app/known_failure.html", {"form": form, **_about(mark)})


def _about(mark: KnownFailure) -> dict[str, Any]:
    found = Trial.objects.counted().failed(mark.kind or None).filter(scenario_version__scenario=mark.scenario)
    if mark.configuration is not None:
        found = found.filter(configuration_version__configuration=mark.configuration)
    trials = found.with_versions().defer("record", "metrics").order_by("-pk")
    passing = next((one for one in passing_now(open_marks()) if one.mark.pk == mark.pk), None)
    return {
        "mark": mark,
        "words": _words(mark),
        "changes": mark.changes.select_related("created_by"),
        "failures": list(trials[:MOST_TRIALS]),
        "failed": trials.count(),
        "passing": passing,
    }


@require_http_methods(["GET", "HEAD", "POST"])
def known_failure_new(request: HttpRequest) -> HttpResponse:
    """Marks what failed in ?trial=, or with ?run= and ?kind= everything in the run that failed so."""
    trial, kind, scenarios = _meant(request)
    form = MarkForm(
        request.POST if request.method == "POST" else None, scenarios=scenarios, initial=_initial(trial, scenarios)
    )
    if request.method == "POST" and form.is_valid():
        try:
            marks = _mark(form, kind, trial, request)
        except SpecError as error:
            form.refuse(error.problems)
        else:
            messages.success(request, f"{_listed(marks)} marked as known, until {marks[0].expires_on.isoformat()}.")
            return redirect(marks[0]) if len(marks) == 1 else redirect("known-failures")
    context = {"form": form, "trial": trial, "kind": kind, "words": kind_in_words(kind)}
    return render(request, "runs_app/known_failure_new.html", context)


def _meant(request: HttpRequest) -> tuple[Trial, str, list[Scenario]]:
    """(a trial that failed so, the kind, the scenarios). Raises Http404 where nothing did."""
    trials = Trial.objects.counted().failed().with_versions().defer("record", "metrics")
    pk, run = number_of(request.GET.get("trial", "")), number_of(request.GET.get("run", ""))
    if pk is not None:
        trial = get_object_or_404(trials, pk=pk)
        return trial, trial.failure_kind, [trial.scenario_version.scenario]
    kind = request.GET.get("kind", "")
    found = trials_of_kind([get_object_or_404(Run, pk=run)], kind) if run is not None else Trial.objects.none()
    first = found.first()
    if first is None:
        raise Http404("No trial failed so.")
    keys = found.order_by().values("scenario_version__scenario")
    return first, kind, list(Scenario.objects.filter(pk__in=keys).order_by("key"))


def _initial(trial: Trial, scenarios: list[Scenario]) -> dict[str, Any]:
    return {
        "scenarios": [scenario.key for scenario in scenarios],
        "configuration": trial.configuration_version.configuration.name,
        "only_kind": bool(trial.failure_kind),
    }


def _mark(form: MarkForm, kind: str, trial: Trial, request: HttpRequest) -> list[KnownFailure]:
    """Raises SpecError."""
    data = form.cleaned_data
    only_kind = data.pop("only_kind")
    return services.mark_known(**data, kind=kind if only_kind else "", trial=trial, user=signed_in(request))


def _listed(marks: list[KnownFailure]) -> str:
    return f"{marks[0]} is" if len(marks) == 1 else f"{len(marks)} scenarios are"
