"""One trial: its page, its files, and what a person may do with it."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import aget_object_or_404, get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs_app import audio_http
from runs_app.known import open_marks, with_marks
from runs_app.models import Trial
from runs_app.problems import kind_in_words
from runs_app.reporting import trial_files
from runs_app.reporting.redaction import site_redactor
from runs_app.reviews.page import Draft, neighbours, panel
from runs_app.reviews.wanted import Wanted, wanted_of
from runs_app.services import runs as run_services
from runs_app.trial_page.context import Shown, context_of, shown_now
from runs_app.trial_page.machine_heard import machine_card
from runs_app.views.refusing import refused
from scenarios_app.spec import jsontext
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.pages import signed_in


def _trial(pk: int) -> Trial:
    wanted = Trial.objects.counted().select_related(
        "run__suite",
        "scenario_version__scenario",
        "configuration_version__configuration",
        "review_assignment__person",
    )
    return get_object_or_404(wanted, pk=pk)


@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """?grading=, ?attempt= and ?ev= choose among what is stored; what runs_app.reviews.wanted reads of the address
    says which trials come before and after."""
    return page(request, pk, wanted_of(request.GET))


def page(
    request: HttpRequest, pk: int, wanted: Wanted, *, draft: Draft | None = None, status: int = 200
) -> HttpResponse:
    """`draft`: a review that was refused."""
    [found] = with_marks([_trial(pk)], open_marks())
    viewer = signed_in(request)
    context = context_of(found, _shown(request, found))
    context |= neighbours(found, wanted, viewer)
    context["machine"] = machine_card(found, context["record"])
    context |= panel(found, wanted, viewer, context["grades"], draft)
    return render(
        request,
        "runs_app/trial.html",
        {"htmx_extensions": "", "wanted": wanted, "problem": _problem(found), **context},
        status=status,
    )


def _problem(found: Trial) -> str:
    """What its failure is one of, in words."""
    return kind_in_words(found.failure_kind) if found.failure_kind else ""


def _shown(request: HttpRequest, found: Trial) -> Shown:
    now = shown_now(found)
    number, attempt = number_of(request.GET.get("grading", "")), number_of(request.GET.get("attempt", ""))
    chosen = next((grading for grading in now.gradings if grading.number == number), now.grading)
    known = attempt is not None and found.events.filter(attempt=attempt).exists()
    return replace(
        now,
        grading=chosen,
        event=number_of(request.GET.get("ev", "")),
        attempt=attempt if known and attempt is not None else now.attempt,
    )


async def _served(request: HttpRequest, pk: int, field: str, content_type: str, suffix: str) -> HttpResponseBase:
    seen = Trial.objects.seen_by(cast(User, await request.auser()))
    found = await aget_object_or_404(seen.only(field), pk=pk)
    name = getattr(found, field)
    if not name:
        raise Http404
    try:
        return await audio_http.serve(
            request,
            default_storage,
            name,
            content_type=content_type,
            filename=f"trial-{pk}{suffix}",
            download="download" in request.GET,
        )
    except FileNotFoundError as gone:
        raise Http404 from gone


@require_safe
async def audio(request: HttpRequest, pk: int) -> HttpResponseBase:
    return await _served(request, pk, "wav", "audio/wav", ".wav")


@require_safe
async def peaks(request: HttpRequest, pk: int) -> HttpResponseBase:
    return await _served(request, pk, "peaks", "application/json", "-peaks.json")


@require_safe
async def events(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The file itself, with ranges; without the values of REDACT_FIELDS where there are some."""
    redactor = site_redactor()
    if redactor.fields:
        answer: HttpResponseBase = await sync_to_async(_redacted_events)(request, pk)
    else:
        answer = await _served(request, pk, "events_file", "application/x-ndjson", "-events.jsonl")
    answer["X-Notice"] = redactor.notice
    return answer


def _redacted_events(request: HttpRequest, pk: int) -> HttpResponse:
    found = _trial(pk)
    try:
        content = trial_files.redacted_events(found, trial_files.trial_redactor(found))
    except FileNotFoundError as gone:
        raise Http404 from gone
    return _attached(request, HttpResponse(content, content_type="application/x-ndjson"), f"trial-{pk}-events.jsonl")


@require_safe
def as_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything stored about the trial, as one strict JSON document. It says what of it is redacted."""
    document = trial_files.trial_document(_trial(pk))
    answer = HttpResponse(jsontext.dumps(document), content_type="application/json")
    return _attached(request, answer, f"trial-{pk}.json")


def _attached(request: HttpRequest, answer: HttpResponse, name: str) -> HttpResponse:
    if "download" in request.GET:
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = _trial(pk)
    try:
        run_services.cancel_trial(trial=found)
    except run_services.AlreadyFinished as reason:
        return refused(request, "The trial was not cancelled", reason)
    return redirect(found)


@require_POST
def regrade(request: HttpRequest, pk: int) -> HttpResponse:
    found = _trial(pk)
    try:
        run_services.regrade_trial(trial=found)
    except run_services.NotPossible as reason:
        return refused(request, "Nothing is graded again", reason)
    return redirect(found)
