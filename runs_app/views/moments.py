"""What a trial gives to the editor of scenarios: a scenario from a moment of it, and how often a scenario was used."""

from __future__ import annotations

import math

from django.contrib import messages
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs_app.models import Trial
from runs_app.services.moments import NothingRecorded, begin_scenario
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.pages import signed_in

LONGEST_S = 86_400.0


@require_POST
def scenario_from_moment(request: HttpRequest, pk: int) -> HttpResponse:
    """`t` is the moment in seconds on the trial's timeline. Goes to the editor, with a draft."""
    trial = get_object_or_404(Trial.objects.seen_by(signed_in(request)).with_versions(), pk=pk)
    text = request.POST.get("t", "")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and -LONGEST_S <= seconds <= LONGEST_S):
        messages.error(request, f"{text[:40]!r} is no moment in seconds, such as 13.4.")
        return redirect(trial)
    try:
        begun = begin_scenario(trial=trial, t_ms=seconds * 1000, person=signed_in(request))
    except (NothingRecorded, SpecError) as problem:
        messages.error(request, str(problem))
        return redirect(trial)
    if not begun.state_known:
        messages.warning(request, "The state at that moment is not known: the state at the start stands below.")
    if not begun.has_words:
        messages.info(request, "The caller said nothing after that moment: write what he says next.")
    return redirect(f"{reverse('scenario-new')}?draft={begun.draft.pk}")


@require_safe
def scenario_uses(request: HttpRequest, key: str) -> HttpResponse:
    """A line for the scenario's pages: in how many trials it was used, and what the newest run with it came to."""
    used = Trial.objects.counted().filter(scenario_version__scenario__key__iexact=key)
    counts = used.aggregate(trials=Count("pk"), runs=Count("run", distinct=True), newest=Max("run"))
    of_newest = used.filter(run=counts["newest"]).exclude(outcome="") if counts["newest"] else used.none()
    outcomes = of_newest.values("outcome").order_by("outcome").annotate(count=Count("pk"))
    return render(request, "runs_app/scenario_uses.html", {**counts, "outcomes": outcomes})
