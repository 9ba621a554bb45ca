"""Try once now: what stands in the scenario editor, talked through once, or held against a trial that was kept."""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from runs_app import live
from runs_app.models import Run, Trial
from runs_app.querysets import TrialQuerySet
from runs_app.services.draft_grading import Prepared, grade_now, held_beside, prepare_draft_grading
from runs_app.services.runs import NotPossible
from runs_app.services.temporary import throw_away
from runs_app.services.trying import try_scenario
from runs_app.trial_page.context import context_of, shown_now
from runs_app.views.parts import is_htmx, part_or_page
from runs_app.views.run_new import worker_missing
from scenarios_app.forms.editor import Editor, read_editor
from scenarios_app.forms.scenario import ScenarioForm
from scenarios_app.models import Configuration, ConfigurationVersion
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

PATIENCE_S = 90.0  # for all that a judge is asked
LAST_LINES = 12
MOST_KEPT = 30  # trials to choose from


@require_safe
def panel(request: HttpRequest) -> HttpResponse:
    """What can be tried, for the editor of ?scenario=. A fragment."""
    return render(request, "runs_app/try_panel.html", _choices(request, request.GET.get("scenario", "")))


@limited_body
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """One trial of what stands in the form; without a configuration chosen, the page where one chooses."""
    editor, problems = _read(request), list[Problem]()
    version = _configuration(request)
    if version is None:
        problems = [Problem("configuration", "choose who is called")]
    problems += editor.problems
    if version is not None and not problems:
        try:
            run = try_scenario(content=editor.document, configuration_version=version, user=signed_in(request))
        except SpecError as error:
            problems = list(error.problems)
        else:
            return _told(request, run) if is_htmx(request) else redirect("try", run.pk)
    return _refused(request, problems, editor)


@never_cache
@require_safe
def shown(request: HttpRequest, pk: int) -> HttpResponse:
    """How the try goes on, and what came of it. Asks again by itself until it is over."""
    return _told(request, _own(request, pk))


@require_POST
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    throw_away(run=_own(request, pk))
    return HttpResponse() if is_htmx(request) else redirect("scenarios")


@require_POST
async def grade(request: HttpRequest) -> HttpResponse:
    """The expectations in the form against the conversation of a kept trial. Nothing is stored."""
    prepared = await sync_to_async(_prepared)(request)
    if isinstance(prepared, HttpResponse):
        return prepared
    try:
        async with asyncio.timeout(PATIENCE_S):
            result = await grade_now(prepared)
    except TimeoutError:
        late = Problem("judge", f"gave no verdict within {PATIENCE_S:.0f} s; try again")
        return await sync_to_async(_refused)(request, [late])
    context = {"found": held_beside(prepared, result)}
    return await sync_to_async(part_or_page)(request, "try_graded", context, page="try")


def _prepared(request: HttpRequest) -> Prepared | HttpResponse:
    editor = _read(request)
    if editor.problems:
        return _refused(request, editor.problems, editor)
    number = number_of(request.POST.get("try_trial", ""))
    trial = Trial.objects.counted().with_versions().filter(pk=number).first() if number is not None else None
    if trial is None:
        return _refused(request, [Problem("trial", "choose a trial to grade")], editor)
    try:
        return prepare_draft_grading(trial=trial, content=editor.document)
    except SpecError as error:
        return _refused(request, error.problems, editor)
    except NotPossible as error:
        return _refused(request, [Problem("trial", str(error))], editor)


def _read(request: HttpRequest) -> Editor:
    try:
        return read_editor(ScenarioForm, request.POST)
    except SpecError as error:
        raise BadRequest("The form has lost the document it edits. Load the page again.") from error


def _own(request: HttpRequest, pk: int) -> Run:
    found: Run = get_object_or_404(Run.everything.tries_of(signed_in(request)), pk=pk)
    return found


def _configuration(request: HttpRequest) -> ConfigurationVersion | None:
    number = number_of(request.POST.get("try_configuration", ""))
    known = ConfigurationVersion.objects.filter(configuration__in=Configuration.objects.current())
    return known.select_related("configuration").filter(pk=number).first() if number is not None else None


def _choices(request: HttpRequest, key: str) -> dict[str, Any]:
    newest = Configuration.objects.current().filter(latest__isnull=False).select_related("latest__configuration")
    tries = Run.everything.tries_of(signed_in(request))
    called = tries.last_called() or Run.objects.last_called()
    return {
        "key": key,
        "versions": [configuration.latest for configuration in newest],
        "chosen": number_of(request.POST.get("try_configuration", "")) or (called and called.latest_id),
        "kept": _kept(key) if key else (),
        "last": tries.order_by("-pk").first(),
        "idle": worker_missing(),
    }


def _kept(key: str) -> TrialQuerySet:
    """The newest conversations of the scenario that can be graded again."""
    found = Trial.objects.counted().gradable().filter(scenario_version__scenario__key__iexact=key)
    return found.with_versions().defer("record", "metrics").order_by("-pk")[:MOST_KEPT]


def _told(request: HttpRequest, run: Run) -> HttpResponse:
    trial: Trial = get_object_or_404(run.trials.with_versions())  # a later try of this person may have taken its place
    context: dict[str, Any] = {"run": run, "trial": trial, "idle": worker_missing() if trial.status == "queued" else ""}
    if trial.is_done:
        context |= context_of(trial, shown_now(trial))
    else:
        stream = live.stream(trial)
        context |= {"lines": stream["lines"][-LAST_LINES:], "count": len(stream["lines"])}
    return part_or_page(request, "try_told", context, page="try")


def _refused(request: HttpRequest, problems: Any, editor: Editor | None = None) -> HttpResponse:
    context = {"problems": problems}
    if editor is not None and not is_htmx(request):
        key = editor.document.get("id")
        context |= {**_choices(request, key if isinstance(key, str) else ""), "sent": _sent(request)}
    return part_or_page(request, "try_refused", context, page="try")


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    """The form as it was sent, for a browser without scripts that has yet to choose who is called."""
    own = ("csrfmiddlewaretoken", "try_configuration", "try_trial")
    return [(name, value) for name, values in request.POST.lists() if name not in own for value in values]
