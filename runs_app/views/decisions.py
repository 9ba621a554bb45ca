"""Decisions: made on a comparison, listed, and shown as they were made."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs_app.comparing.choice import BadChoice, choice_of
from runs_app.comparing.export import as_json
from runs_app.comparing.page import Page, page_of
from runs_app.frozen import read_frozen
from runs_app.models import Decision
from runs_app.plans import plan_of
from runs_app.refusable import RefusableForm
from runs_app.reporting.results import redactor_for
from runs_app.services.baselines import baseline_of
from runs_app.services.decisions import frozen_document, record_decision, suite_of
from scenarios_app.models import ConfigurationVersion
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.hashing import content_hash
from scenarios_app.views.pages import signed_in

PAGE_SIZE = 50
NOT_FROZEN = (
    "show",
    "q",
    "tag",
    "kind",
    "page",
    "sort",
    "candidate",
)  # a record holds every scenario, whatever was filtered


class DecideForm(RefusableForm):
    choice = forms.ChoiceField(
        choices=Decision.Choice.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Say what is decided.", "invalid_choice": "Choose one of the three."},
    )
    note = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        label="Why",
        help_text="Whoever reads this later was not there.",
        error_messages={"required": "Write down why."},
    )
    promote = forms.BooleanField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def decide(request: HttpRequest) -> HttpResponse:
    """The comparison of the address, about to be frozen. A POST freezes what was seen, and nothing else."""
    query = _query(request)
    try:
        page = page_of(choice_of(query))
    except BadChoice as problem:
        raise Http404(str(problem)) from problem
    document = frozen_document(as_json(page))
    candidate = _candidate(page, request.GET.get("candidate", ""))
    if candidate is None:
        return render(request, "runs_app/decide_nothing.html", {"state": page.state, "query": query.urlencode()})
    form = DecideForm(request.POST if request.method == "POST" else None)
    changed = request.method == "POST" and request.POST.get("seen") != content_hash(document)
    if request.method == "POST" and form.is_valid() and not changed:
        try:
            return redirect(_record(request, form, page, document, candidate, query))
        except SpecError as error:
            form.refuse(error.problems)
    return render(request, "runs_app/decide.html", _shown(form, page, document, candidate, query, changed=changed))


def _query(request: HttpRequest) -> QueryDict:
    query = request.GET.copy()
    for name in NOT_FROZEN:
        query.pop(name, None)
    return query


def _candidate(page: Page, label: str) -> ConfigurationVersion | None:
    """The one beside the baseline, or the one that is named; None while there is no pair to decide on."""
    if page.state != "over":
        return None
    for column in page.columns[1:]:
        if label in ("", column.label):
            return column.version
    return None


def _record(
    request: HttpRequest,
    form: DecideForm,
    page: Page,
    document: dict[str, Any],
    candidate: ConfigurationVersion,
    query: QueryDict,
) -> Decision:
    decision = record_decision(
        document=document,
        query=query.urlencode(),
        runs=page.loaded.runs,
        baseline_version=page.columns[0].version,
        candidate_version=candidate,
        hypothesis=" ".join(plan_of(page.loaded.runs).hypotheses),
        user=signed_in(request),
        **form.cleaned_data,
    )
    messages.success(request, "Decided. This record never changes.")
    return decision


def _shown(
    form: DecideForm,
    page: Page,
    document: dict[str, Any],
    candidate: ConfigurationVersion,
    query: QueryDict,
    *,
    changed: bool,
) -> dict[str, Any]:
    suite = suite_of(page.loaded.runs)
    return {
        "form": form,
        "frozen": read_frozen(document, str(candidate)),
        "seen": content_hash(document),
        "changed": changed,
        "plan": plan_of(page.loaded.runs),
        "suite": suite,
        "baseline": baseline_of(suite),
        "query": query.urlencode(),
        "candidates": [column.label for column in page.columns[1:]],
        "candidate": str(candidate),
    }


@require_safe
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    found = _decision(pk)
    context = {
        "decision": found,
        "frozen": read_frozen(found.document, str(found.candidate_version)),
        "is_intact": content_hash(found.document) == found.document_hash,
        "promoted": found.baselines.with_names().first(),
        "notice": redactor_for([]).notice,
    }
    return render(request, "runs_app/decision.html", context)


@require_safe
def decision_json(request: HttpRequest, pk: int) -> HttpResponse:
    """The frozen comparison itself, with what was decided on it."""
    found = _decision(pk)
    redactor = redactor_for(found.runs.all())
    body = {
        "decision": found.pk,
        "decided_at": found.decided_at.isoformat(),
        "reviewer": found.reviewer,
        "choice": found.choice,
        "hypothesis": found.hypothesis,
        "note": found.note,
        "document_hash": found.document_hash,
        "comparison": found.document,
    }
    answer = {"notice": redactor.notice, **redactor.json(body)}
    headers = {"Content-Disposition": f'attachment; filename="decision-{pk}.json"'}
    return JsonResponse(answer, json_dumps_params={"ensure_ascii": False, "allow_nan": False}, headers=headers)


def _decision(pk: int) -> Decision:
    names = ("suite", "baseline_version__configuration", "candidate_version__configuration", "decided_by")
    return get_object_or_404(Decision.objects.select_related(*names), pk=pk)


@require_safe
def decisions(request: HttpRequest) -> HttpResponse:
    """All of them, newest first. ?suite="""
    names = ("suite", "baseline_version__configuration", "candidate_version__configuration")
    found = Decision.objects.select_related(*names).defer("document")
    if suite := request.GET.get("suite", ""):
        found = found.filter(suite__name__iexact=suite)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "runs_app/decisions.html", {"page": page, "suite": suite})
