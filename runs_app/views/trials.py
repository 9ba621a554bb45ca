"""One trial: its page, its files, and what a person may do with it."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import aget_object_or_404, get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs_app import audio_http
from runs_app.known import open_marks, with_marks
from runs_app.listening.sheet import sheet_of
from runs_app.listening.window import evidence_span
from runs_app.models import Grading, Trial
from runs_app.realtime.record import Record
from runs_app.reporting import trial_files
from runs_app.reporting.redaction import site_redactor
from runs_app.services import runs as run_services
from runs_app.trial_page.state import state_rows
from runs_app.trial_page.transcript import Line, transcript
from runs_app.trial_page.verdicts import grouped
from runs_app.views.numbers import number_of
from scenarios_app.spec import jsontext

FIRST_EVENTS = 500


def _trial(pk: int) -> Trial:
    wanted = Trial.objects.select_related(
        "run__suite", "scenario_version__scenario", "configuration_version__configuration"
    )
    return get_object_or_404(wanted, pk=pk)


@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    [found] = with_marks([_trial(pk)], open_marks())
    number = request.GET.get("grading", "")
    gradings = list(found.gradings.prefetch_related("checks", "grades"))
    shown = next((g for g in gradings if number and str(g.number) == number), None)
    shown = shown or next((g for g in gradings if g.current), None)
    event = number_of(request.GET.get("ev", ""))
    return render(
        request, "runs_app/trial.html", {"htmx_extensions": "", **_context(found, shown, gradings, event=event)}
    )


def _context(found: Trial, shown: Grading | None, gradings: list[Grading], *, event: int | None) -> dict[str, Any]:
    record = Record.from_json(found.record) if found.record else None
    checks = [_check(c) for c in shown.checks.all()] if shown else []
    turns = shown.turns if shown else []
    page: dict[str, Any] = {
        "trial": found,
        "record": record,
        "scenario": found.scenario_version.content,
        "grading": shown,
        "gradings": gradings,
        "checks": checks,
        "check_groups": grouped(checks),
        "grades": list(shown.grades.all()) if shown else [],
        "metrics": shown.metrics if shown else {},
        "simulated": trial_files.is_simulated(found),
        "export_notice": site_redactor().notice,
        "events": list(found.events.filter(attempt=found.attempt)[: FIRST_EVENTS + 1]),
        "most_events": FIRST_EVENTS,
        **_neighbours(found),
    }
    if record is not None:
        page |= {
            "lines": [_line(line, record, turns) for line in transcript(record)],
            "sheet": sheet_of(found, shown, event=event),
            "state_rows": state_rows(record),
        }
    return page


def _check(check: Any) -> dict[str, Any]:
    row = {name: getattr(check, name) for name in ("check_id", "status", "required", "reason", "evidence")}
    row["span"] = evidence_span(row)
    return row


def _line(line: Line, record: Record, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """A line of the transcript with what was recognised of it, or how soon it was said."""
    numbers = next((row for row in turns if row.get("index") == line.turn), {})
    if line.who == "caller":
        return {"line": line, "heard": record.turns[line.turn].heard_text, "numbers": numbers}
    return {"line": line, "numbers": numbers}


def _neighbours(found: Trial) -> dict[str, Any]:
    ids = list(Trial.objects.filter(run=found.run_id).order_by("position").values_list("pk", flat=True))
    place = ids.index(found.pk)
    return {
        "previous": ids[place - 1] if place > 0 else None,
        "next": ids[place + 1] if place + 1 < len(ids) else None,
    }


async def _served(request: HttpRequest, pk: int, field: str, content_type: str, suffix: str) -> HttpResponseBase:
    found = await aget_object_or_404(Trial.objects.only(field), pk=pk)
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
        return JsonResponse({"error": str(reason)}, status=409)
    return redirect(found)


@require_POST
def regrade(request: HttpRequest, pk: int) -> HttpResponse:
    found = _trial(pk)
    try:
        run_services.regrade_trial(trial=found)
    except run_services.NotPossible as reason:
        return JsonResponse({"error": str(reason)}, status=409)
    return redirect(found)
