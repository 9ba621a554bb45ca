"""Reviewing: the queue, a person's verdict on a trial, who is to give it, and marked moments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs_app.models import Mark, Run, Trial
from runs_app.problems import kind_in_words
from runs_app.reviews import page as shown
from runs_app.reviews.wanted import OUTCOMES, SIGNS, Wanted, beside, trials_of, wanted_of
from runs_app.services import reviewing
from runs_app.services.reviewing import NotReviewable
from runs_app.views import trials
from scenarios_app.models import Suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.views.pages import signed_in

PAGE_SIZE = 50
REVIEWED_WORDS = {"no": "not yet reviewed", "yes": "reviewed", "disagree": "person and machine disagree", "any": "all"}
RECENT_RUNS = 50


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """Trials to review. What is on show is in the address; without a word about it, what nobody has reviewed yet."""
    viewer = signed_in(request)
    wanted = _queue_of(request.GET)
    chosen = trials_of(wanted, viewer)
    page = Paginator(
        chosen.with_versions().select_related("review_assignment__person").defer("record"), PAGE_SIZE
    ).get_page(request.GET.get("page"))
    agreed = shown.agreement_of(trials_of(wanted.without("reviewed"), viewer))
    context = {
        "wanted": wanted,
        "page": page,
        "rows": shown.listed(list(page)),
        "first": page.object_list[0] if page.paginator.count else None,
        "progress": shown.progress_of(wanted, viewer),
        "mine": shown.progress_of(Wanted(who="me"), viewer),
        "agreement": agreed,
        "crosses": [
            (machine, agreed.counts.get((machine, "passed"), 0), agreed.counts.get((machine, "failed"), 0))
            for machine in ("passed", "failed")
        ],
        "people": shown.people(),
        **_choices(wanted, viewer),
    }
    return render(request, "runs_app/review_queue.html", context)


def _queue_of(query: QueryDict) -> Wanted:
    wanted = wanted_of(query)
    return replace(wanted, queue=True, reviewed=wanted.reviewed or "no")


def _sent(request: HttpRequest) -> QueryDict:
    """The query of the page that a form was on."""
    return QueryDict(request.POST.get("wanted", ""))


def _choices(wanted: Wanted, viewer: User) -> dict[str, Any]:
    chosen = trials_of(wanted.without("kind", "reviewed", "outcome", "sign"), viewer)
    kinds = chosen.exclude(failure_kind="").order_by("failure_kind").values_list("failure_kind", flat=True).distinct()
    known = list(dict.fromkeys([*kinds[:100], *([wanted.kind] if wanted.kind else [])]))
    runs = list(Run.objects.order_by("-pk")[:RECENT_RUNS])
    return {
        "runs": runs,
        "other_run": wanted.run if wanted.run not in {run.pk for run in runs} else None,
        "suites": Suite.objects.filter(runs__isnull=False).distinct().order_by("name"),
        "outcomes": OUTCOMES,
        "kinds": [(kind, kind_in_words(kind)) for kind in known],
        "signs": SIGNS.items(),
        "reviewed_words": REVIEWED_WORDS.items(),
    }


@require_POST
def assign(request: HttpRequest) -> HttpResponse:
    """Gives everything that the filter names to a person; an empty name takes it back."""
    viewer = signed_in(request)
    wanted = _queue_of(_sent(request))
    person = _person(request.POST.get("person", ""))
    count = reviewing.assign_reviews(trials=trials_of(wanted, viewer), person=person, by=viewer)
    what = f"{count} {'trial' if count == 1 else 'trials'}"
    messages.success(request, f"{what} given to {person.get_username()}." if person else f"{what} given to nobody.")
    return redirect(f"{reverse('review')}?{wanted.query}")


@require_POST
def assign_one(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Trial.objects.counted(), pk=pk)
    person = _person(request.POST.get("person", ""))
    reviewing.assign_reviews(trials=Trial.objects.filter(pk=found.pk), person=person, by=signed_in(request))
    return redirect(_trial_url(found.pk, wanted_of(_sent(request))))


def _person(name: str) -> User | None:
    return get_object_or_404(User, username=clean_text(name), is_active=True) if name else None


@require_POST
def save(request: HttpRequest, pk: int) -> HttpResponse:
    """Stores the review, then goes to the next trial of the queue, or stays where `then` is not `next`."""
    found, viewer = get_object_or_404(Trial.objects.counted(), pk=pk), signed_in(request)
    wanted, given = wanted_of(_sent(request)), _given(request.POST)
    onward = request.POST.get("then") == "next"
    if onward and not any(given.values()) and not found.reviews.filter(current=True).exists():
        messages.info(request, f"Nothing was said of {str(found).lower()}; it stays without a review.")
        return _go_on(request, found, wanted, viewer)
    try:
        reviewing.save_review(trial=found, user=viewer, **given)
    except SpecError as refused:
        return _refused(request, found, wanted, given, [str(problem) for problem in refused.problems])
    except NotReviewable as reason:
        return _refused(request, found, wanted, given, [str(reason)])
    if onward:
        return _go_on(request, found, wanted, viewer)
    messages.success(request, "The review is saved.")
    return redirect(_trial_url(found.pk, wanted))


def _given(form: QueryDict) -> dict[str, Any]:
    """`score:DIMENSION` is a number, or empty for none. A field that the form leaves out is not touched."""
    scores = {name.removeprefix("score:"): form.get(name, "") for name in form if name.startswith("score:")}
    return {
        "verdict": form.get("verdict"),
        "fault": form.get("fault"),
        "note": form.get("note"),
        "scores": {name: _number(str(text)) for name, text in scores.items() if text} if scores else None,
    }


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _go_on(request: HttpRequest, found: Trial, wanted: Wanted, viewer: User) -> HttpResponse:
    """The next one; at the end of the queue the first that is left; then the queue itself."""
    chosen = trials_of(wanted if wanted.query else Wanted(run=found.run_id), viewer)
    following = beside(chosen, found, "next")
    if following is None and wanted.reviewed == "no":
        following = chosen.exclude(pk=found.pk).values_list("pk", flat=True).first()
    if following is not None:
        return redirect(_trial_url(following, wanted))
    messages.success(request, "That was the last one.")
    return redirect(f"{reverse('review')}?{wanted.query}" if wanted.queue else _trial_url(found.pk, wanted))


def _trial_url(pk: int, wanted: Wanted) -> str:
    query = f"?{wanted.query}" if wanted.query else ""
    return f"{reverse('trial', args=[pk])}{query}#review"


def _refused(
    request: HttpRequest, found: Trial, wanted: Wanted, given: dict[str, Any], problems: list[str]
) -> HttpResponse:
    """The page again, with what was given and why it was not taken."""
    kept = {name: value for name, value in given.items() if value is not None}
    return trials.page(request, found.pk, wanted, draft=shown.Draft(**kept, problems=tuple(problems)), status=400)


@require_POST
def mark(request: HttpRequest, pk: int) -> HttpResponse:
    """A moment of the call, `at_ms`, with an optional note; answers what the lane of marks shows of it."""
    found = get_object_or_404(Trial.objects.counted(), pk=pk)
    at_ms = _number(request.POST.get("at_ms", ""))
    try:
        if not isinstance(at_ms, float):
            return JsonResponse({"error": "at_ms: must be a number"}, status=400)
        made = reviewing.add_mark(trial=found, at_ms=at_ms, note=request.POST.get("note", ""), user=signed_in(request))
    except SpecError as refused:
        return JsonResponse({"error": str(refused)}, status=400)
    except NotReviewable as reason:
        return JsonResponse({"error": str(reason)}, status=409)
    by = signed_in(request).get_username()
    return JsonResponse({"mark": made.pk, "at_ms": made.at_ms, "label": made.note or by}, status=201)


@require_POST
def unmark(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Mark, pk=pk)
    reviewing.remove_mark(mark=found)
    return redirect(_trial_url(found.trial_id, wanted_of(_sent(request))))
