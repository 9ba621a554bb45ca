"""Runs: the list, one run as it happens and as it ended, and what a person may do with it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from runs_app import live, run_page
from runs_app.models import Outcome, Run, RunStatus, Trial
from runs_app.reporting.junit import junit_xml
from runs_app.reporting.redaction import site_redactor
from runs_app.reporting.results import run_results
from runs_app.reporting.trials_csv import trials_csv
from runs_app.reviews.wanted import SIGNS, with_sign
from runs_app.run_rows import matching, rows_of
from runs_app.services import runs as services
from runs_app.views.refusing import refused
from runs_app.views.run_new import worker_missing
from scenarios_app.spec.numbers import number_of

PAGE_SIZE = 25


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    """All runs, newest first. ?q= words, ?status=, ?sign= of a trial, ?page="""
    words, status, sign = (request.GET.get(name, "").strip() for name in ("q", "status", "sign"))
    wanted, sign = status if status in RunStatus.values else "", sign if sign in SIGNS else ""
    found = with_sign(matching(words, wanted), sign) if sign else matching(words, wanted)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    shown: dict[str, Any] = {"page": page, "rows": rows_of(page), "filtered": bool(words or wanted or sign)}
    chosen = {"q": words, "status": wanted, "statuses": RunStatus.values, "sign": sign, "signs": SIGNS.items()}
    return render(request, "runs_app/runs.html", {**shown, **chosen})


@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole page, complete without JavaScript. ?trial= names the trial whose events are shown."""
    found = _run(pk)
    pinned = _pinned(request, found)
    context = {**live.panel(found, pinned), **_beside(found), "pinned": pinned, "htmx_extensions": "hx-ws"}
    return render(request, "runs_app/run.html", context)


@never_cache
@require_safe
def live_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """The parts that the socket would have sent, for pages whose socket is refused."""
    found = _run(pk)
    return render(request, "runs_app/run_live.html", live.panel(found, _pinned(request, found)))


@never_cache
@require_safe
def findings(request: HttpRequest, pk: int) -> HttpResponse:
    """What stands around the live panel, again: the head and its buttons, failures, and the results at the end."""
    return render(request, "runs_app/run_around.html", _beside(_run(pk)))


@never_cache
@require_safe
def earlier(request: HttpRequest, pk: int) -> HttpResponse:
    """The events of a trial before ?before=, a sequence number."""
    trial = get_object_or_404(Trial.objects.counted().only("pk", "attempt"), pk=pk)
    before = number_of(request.GET.get("before", ""))
    lines = live.earlier_lines(trial, before) if before is not None else []
    more = bool(lines) and lines[0].seq > live.first_seq(trial)
    return render(request, "runs_app/live/earlier_rows.html", {"trial": trial, "lines": lines, "has_earlier": more})


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = _run(pk)
    try:
        services.cancel_run(run=found)
    except services.AlreadyFinished as reason:
        return refused(request, "The run was not cancelled", reason)
    return redirect(found)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    found = _run(pk)
    try:
        count = services.retry_invalid(run=found)
    except services.NotPossible as reason:
        return refused(request, "Nothing was tried again", reason)
    again = f"{count} invalid {'trial is' if count == 1 else 'trials are'} tried again."
    messages.success(request, again if count else "None is invalid.")
    return redirect(found)


@require_POST
def regrade(request: HttpRequest, pk: int) -> HttpResponse:
    found = _run(pk)
    try:
        count = services.regrade_run(run=found)
    except services.NotPossible as reason:
        return refused(request, "Nothing is graded again", reason)
    again = f"{count} {'conversation is' if count == 1 else 'conversations are'} graded again."
    messages.success(request, f"{again} Earlier gradings stay with each trial.")
    return redirect(found)


@require_safe
def results(request: HttpRequest, pk: int) -> HttpResponse:
    return JsonResponse(run_results(_run(pk)), json_dumps_params={"ensure_ascii": False, "indent": 2})


@require_safe
def junit(request: HttpRequest, pk: int) -> HttpResponse:
    return _download(junit_xml(_run(pk)), "application/xml", f"run-{pk}-junit.xml")


@require_safe
def as_csv(request: HttpRequest, pk: int) -> HttpResponse:
    return _download(trials_csv(_run(pk)), "text/csv; charset=utf-8", f"run-{pk}-trials.csv")


def _download(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Notice": site_redactor().notice}
    return HttpResponse(content, content_type=content_type, headers=headers)


def _run(pk: int) -> Run:
    found: Run = get_object_or_404(Run.objects.with_people(), pk=pk)
    return found


def _pinned(request: HttpRequest, found: Run) -> Trial | None:
    """The trial that ?trial= names; None, which follows what runs, when it names none of this run."""
    number = number_of(request.GET.get("trial", ""))
    return live.chosen_trial(found, number) if number is not None else None


def _beside(found: Run) -> dict[str, Any]:
    entries = run_page.configurations(found)
    waits = not found.is_over and not found.trials.filter(status="running").exists()
    return {
        **run_page.findings(found),
        "entries": entries,
        "simulated": any(entry.simulated for entry in entries),
        "again_url": run_page.again_url(found, entries),
        "retryable": found.is_over
        and not found.cancel_requested_at
        and found.trials.filter(outcome=Outcome.INVALID).exists(),
        "gradable": found.is_over and found.trials.gradable().exists(),
        "export_notice": site_redactor().notice,
        "idle": worker_missing() if waits else "",
    }
