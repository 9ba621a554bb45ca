"""Fix it here: the panel beside a failed trial, as a page of its own where no script runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs_app.fix_page import progress_of
from runs_app.guards import CHOSEN, Guard, guards_of
from runs_app.models import Fix, Run, Trial
from runs_app.services.fixing import MOST_REPEATS, USUAL_REPEATS, draft_of, keep_fix, start_fix
from runs_app.services.runs import NotPossible
from runs_app.services.temporary import throw_away
from runs_app.trial_page.context import context_of, shown_now
from runs_app.views.parts import is_htmx, part_or_page
from runs_app.views.refusing import refused
from runs_app.views.run_new import worker_missing
from scenarios_app.diffing import diff_words
from scenarios_app.services import ChangedMeanwhile
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.factors import prompt_in
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

Context = dict[str, Any]


@limited_body
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def fix(request: HttpRequest, pk: int) -> HttpResponse:
    """The prompt and the guards to choose, and what the last try of this person on this trial came to."""
    trial = get_object_or_404(Trial.objects.counted().failed().with_versions(), pk=pk)
    found, guards = _current(request, trial), guards_of(trial)
    asked = _offered(trial, found, guards)
    if request.method == "POST":
        asked = _asked(request, guards)
        try:
            found = start_fix(trial=trial, user=signed_in(request), **_arguments(asked, guards))
        except SpecError as error:
            asked["problems"] = error.problems
        except NotPossible as error:
            asked["problems"] = (Problem("", str(error)),)
        else:
            if not is_htmx(request):
                return redirect("trial-fix", trial.pk)
    context = {"trial": trial, "guards": guards, "asked": asked, "most": MOST_REPEATS, "idle": worker_missing()}
    return part_or_page(request, "fix_panel", {**context, **(_told(found) if found else {})}, page="fix")


@never_cache
@require_safe
def told(request: HttpRequest, pk: int) -> HttpResponse:
    """How the run goes, before and after. Asks again by itself until it is over."""
    found = _own(request, pk)
    return part_or_page(request, "fix_told", {"trial": found.trial, **_told(found)}, page="fix")


@require_safe
def conversation(request: HttpRequest, pk: int, trial_pk: int) -> HttpResponse:
    """One trial of the fix: its recording, transcript and verdict."""
    found = _own(request, pk)
    trial = get_object_or_404(found.run.trials.with_versions(), pk=trial_pk)
    context = context_of(trial, shown_now(trial))
    return part_or_page(request, "fix_conversation", {**context, "fix": found}, page="fix")


@require_POST
def keep(request: HttpRequest, pk: int) -> HttpResponse:
    found = _own(request, pk)
    number = number_of(request.POST.get("number", ""))
    note = clean_text(request.POST.get("note", "")).strip()[:500]
    try:
        version = keep_fix(fix=found, user=signed_in(request), note=note, expected_number=number)
    except (NotPossible, SpecError) as reason:
        return refused(request, "The prompt was not kept", reason)
    except ChangedMeanwhile as error:
        messages.warning(request, f"{error} Keep it again to put it on top; the newer one stays as it is.")
        return redirect("trial-fix", found.trial_id)
    messages.success(request, f"Saved as {version}. The run that tried it out counts from now on.")
    return redirect(f"{reverse('compare')}?run={found.run_id}")


@require_POST
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    found = _own(request, pk)
    throw_away(run=found.run)
    messages.success(request, "Thrown away: the prompt and its trials are gone.")
    return redirect(found.trial)


def _own(request: HttpRequest, pk: int) -> Fix:
    runs = Run.everything.fixes_of(signed_in(request))
    fixes = Fix.objects.select_related("run", "trial__configuration_version__configuration")
    return get_object_or_404(fixes.filter(run__in=runs), run=pk)


def _current(request: HttpRequest, trial: Trial) -> Fix | None:
    runs = Run.everything.fixes_of(signed_in(request))
    fixes = Fix.objects.filter(trial=trial, run__in=runs)
    return fixes.select_related("run", "trial__configuration_version__configuration").first()


def _offered(trial: Trial, found: Fix | None, guards: list[Guard]) -> Context:
    """What the form shows before anybody changes it: the text of the last try, else the prompt as it is."""
    draft = draft_of(found.run) if found else None
    chosen = _guards_in(found) if found else {guard.version.pk for guard in guards[:CHOSEN]}
    repeats = found.run.repeats if found else USUAL_REPEATS
    return {"prompt": prompt_in((draft or trial.configuration_version).content), "chosen": chosen, "repeats": repeats}


def _guards_in(found: Fix) -> set[int]:
    return set(found.run.scenarios.values_list("scenario_version", flat=True))


def _asked(request: HttpRequest, guards: list[Guard]) -> Context:
    text = request.POST.get("prompt", "").replace("\r\n", "\n")
    numbers = {number_of(number) for number in request.POST.getlist("guard")}
    repeats = request.POST.get("repeats", "")
    return {"prompt": text, "chosen": {g.version.pk for g in guards} & numbers, "repeats": repeats}


def _arguments(asked: Context, guards: list[Guard]) -> Context:
    """Raises SpecError."""
    repeats = number_of(asked["repeats"])
    if repeats is None:
        raise SpecError([Problem("repeats", f"must be a number from 1 to {MOST_REPEATS}")])
    chosen = [guard.version for guard in guards if guard.version.pk in asked["chosen"]]
    return {"prompt": asked["prompt"], "guards": chosen, "repeats": repeats}


def _told(found: Fix) -> Context:
    base = found.trial.configuration_version
    draft = draft_of(found.run)
    return {
        "fix": found,
        "progress": progress_of(found),
        "base": base,
        "newest": base.configuration.latest,
        "words": diff_words(prompt_in(base.content), prompt_in(draft.content)) if draft else None,
    }
