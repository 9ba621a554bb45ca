"""Listening to two configurations without knowing which is which."""

from __future__ import annotations

from typing import Any, cast

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs_app import audio_http
from runs_app.listening.blind import SIDES, BadDuel, Duel, blind_sheet, duel_of, duel_url, left_for, pairs_of, tally_of
from runs_app.models import Preference, Trial
from runs_app.services.listening import AlreadyDecided, decide_pair, open_pair


@require_http_methods(["GET", "HEAD", "POST"])
def duel(request: HttpRequest) -> HttpResponse:
    """What was liked so far; POST opens the next pair."""
    try:
        found = duel_of(request.GET)
    except BadDuel as problem:
        return render(request, "runs_app/blind.html", {"problem": str(problem)}, status=400)
    left = left_for(found, cast(User, request.user))
    if request.method == "POST" and left:
        opened = _opened(request, left)
        if opened is not None:
            return redirect(opened)
        messages.warning(request, "The recordings of the pairs that are left are not there any more.")
    context = {"duel": found, "pairs": len(pairs_of(found)), "left": len(left), "tally": tally_of(found.a, found.b)}
    return render(request, "runs_app/blind.html", context)


def _opened(request: HttpRequest, left: list[tuple[int, int]]) -> Preference | None:
    """The first of these pairs that storage still has."""
    for numbers in left:
        a, b = (Trial.objects.counted().get(pk=pk) for pk in numbers)
        if default_storage.exists(a.wav) and default_storage.exists(b.wav):
            return open_pair(listener=cast(User, request.user), a=a, b=b)
    return None


def _pair(request: HttpRequest, pk: int) -> Preference:
    return cast(Preference, get_object_or_404(Preference.objects.with_trials(), pk=pk, listener=request.user))


@require_http_methods(["GET", "HEAD", "POST"])
def pair(request: HttpRequest, pk: int) -> HttpResponse:
    """Two recordings called first and second. POST liked=first, second or neither; then it says whose they were."""
    found = _pair(request, pk)
    problem = ""
    if request.method == "POST":
        try:
            found = decide_pair(pair=found, liked=request.POST.get("liked", ""))
            return redirect(found)
        except AlreadyDecided:
            return redirect(found)
        except ValueError as wrong:
            problem = str(wrong)
    try:
        sheets = [blind_sheet(found, side) for side in SIDES]
    except FileNotFoundError:
        gone = {"problem": "A recording of this pair is not there any more."}
        return render(request, "runs_app/blind.html", gone, status=404)
    context: dict[str, Any] = {"pair": found, "sheets": sheets, "problem": problem}
    if found.liked:
        context |= _told(found, cast(User, request.user))
    return render(request, "runs_app/blind_pair.html", context, status=400 if problem else 200)


def _told(found: Preference, listener: User) -> dict[str, Any]:
    """What a listener may know once the pair is decided."""
    a, b = found.trial_a, found.trial_b
    runs = list(dict.fromkeys([a.run_id, b.run_id]))
    known = Duel(tuple(runs), a.configuration_version, b.configuration_version)
    return {
        "trials": found.in_order,
        "duel": known,
        "duel_url": duel_url(runs, known.a.pk, known.b.pk),
        "tally": tally_of(known.a, known.b),
        "left": len(left_for(known, listener)),
    }


async def _served(request: HttpRequest, pk: int, side: str, field: str, content_type: str) -> HttpResponseBase:
    if side not in SIDES:
        raise Http404
    found = await sync_to_async(_pair)(request, pk)
    name = getattr(found.in_order[SIDES.index(side)], field)
    if not name:
        raise Http404
    suffix = name.rpartition(".")[2]
    try:
        return await audio_http.serve(
            request, default_storage, name, content_type=content_type, filename=f"{side}.{suffix}"
        )
    except FileNotFoundError as gone:
        raise Http404 from gone


@require_safe
async def audio(request: HttpRequest, pk: int, side: str) -> HttpResponseBase:
    return await _served(request, pk, side, "wav", "audio/wav")


@require_safe
async def peaks(request: HttpRequest, pk: int, side: str) -> HttpResponseBase:
    return await _served(request, pk, side, "peaks", "application/json")
