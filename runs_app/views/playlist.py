"""The failure playlist: what failed, one after the other, and whose fault it was."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from runs_app.listening.playlist import FAULTS, BadPlaylist, NoSuchRun, asked_of, playlist_of
from runs_app.models import PlaylistPlace, Trial
from runs_app.services.listening import keep_place
from runs_app.services.reviewing import NotReviewable, save_review
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.numbers import number_of


@require_safe
def playlist(request: HttpRequest) -> HttpResponse:
    try:
        found = playlist_of(asked_of(request.GET))
    except BadPlaylist as problem:
        status = 404 if isinstance(problem, NoSuchRun) else 400
        return render(request, "runs_app/playlist.html", {"playlist": None, "problem": str(problem)}, status=status)
    place = PlaylistPlace.objects.filter(listener=cast(User, request.user), playlist=found.asked.key).first()
    numbers = [item.trial.pk for item in found.items]
    begin = numbers.index(place.trial_id) if place and place.trial_id in numbers else 0
    context = {"playlist": found, "begin": begin, "left_off": bool(begin), "faults": list(enumerate(FAULTS, start=1))}
    return render(request, "runs_app/playlist.html", context)


@require_POST
def place(request: HttpRequest) -> HttpResponse:
    """POST playlist=KEY and trial=N, or no trial at the end."""
    key = request.POST.get("playlist", "")
    if len(key) != 64 or not key.isalnum():
        return JsonResponse({"error": "playlist: that is no playlist of ours"}, status=400)
    number = request.POST.get("trial", "")
    trial = get_object_or_404(Trial.objects.counted(), pk=number_of(number) or 0) if number else None
    keep_place(listener=cast(User, request.user), playlist=key, trial=trial)
    return HttpResponse(status=204)


@require_POST
def fault(request: HttpRequest, pk: int) -> HttpResponse:
    """POST fault=agent, caller, judge or infrastructure; empty takes it back."""
    trial = get_object_or_404(Trial.objects.counted(), pk=pk)
    chosen = request.POST.get("fault", "")
    if chosen and chosen not in FAULTS:
        return JsonResponse({"error": f"fault: {chosen[:40]!r} is none of {', '.join(FAULTS)}"}, status=400)
    if not chosen and not trial.reviews.filter(current=True).exists():
        return JsonResponse({"trial": pk, "fault": ""})  # there is nothing to take back
    try:
        review = save_review(trial=trial, user=cast(User, request.user), fault=chosen)
    except NotReviewable as reason:
        return JsonResponse({"error": str(reason)}, status=409)
    except SpecError as refused:  # a person said before that it passed
        return JsonResponse({"error": str(refused)}, status=400)
    return JsonResponse({"trial": pk, "fault": review.fault})
