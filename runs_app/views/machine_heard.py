"""What a machine hears of the agent: asked for by a button, while nothing else waits for it."""

from __future__ import annotations

import asyncio

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs_app.models import Trial
from runs_app.realtime.record import Record
from runs_app.services.transcribing import (
    CannotTranscribe,
    MachineHeard,
    Sounds,
    hear_by_machine,
    keep_machine_heard,
    prepare_sounds,
)
from runs_app.trial_page.machine_heard import machine_card
from runs_app.views.parts import is_htmx
from runs_app.views.refusing import refused

PATIENCE_S = 120.0  # for all stretches of all turns


@require_POST
async def machine_heard(request: HttpRequest, pk: int) -> HttpResponse:
    """Asks anew and keeps what it gets, unless that is no word. A fragment for htmx, else back to the trial's page."""
    trial = await sync_to_async(_trial)(pk)
    try:
        sounds = await sync_to_async(_prepared)(trial)
        async with asyncio.timeout(PATIENCE_S):
            heard = await hear_by_machine(sounds)
    except CannotTranscribe as reason:
        return await sync_to_async(_refused)(request, trial, reason)
    except TimeoutError:
        late = CannotTranscribe(f"nobody wrote all of it down within {PATIENCE_S:.0f} s")
        return await sync_to_async(_refused)(request, trial, late)
    return await sync_to_async(_answer)(request, trial, heard)


def _trial(pk: int) -> Trial:
    found: Trial = get_object_or_404(Trial.objects.counted(), pk=pk)
    return found


def _prepared(trial: Trial) -> Sounds:
    if not trial.is_done:
        raise CannotTranscribe("the trial is not over yet")
    return prepare_sounds(trial=trial)


def _answer(request: HttpRequest, trial: Trial, heard: MachineHeard) -> HttpResponse:
    if heard.worth_keeping:
        keep_machine_heard(trial=trial, heard=heard)
    elif not is_htmx(request):
        return _refused(request, trial, CannotTranscribe(heard.nothing))
    if not is_htmx(request):
        return redirect(f"{reverse('trial', args=[trial.pk])}#machine-heard")
    return _part(request, trial, heard)


def _refused(request: HttpRequest, trial: Trial, reason: CannotTranscribe) -> HttpResponse:
    if is_htmx(request):
        return _part(request, trial, None, f"Nothing was written down: {reason}.")
    return refused(request, "Nothing was written down", reason)


def _part(request: HttpRequest, trial: Trial, heard: MachineHeard | None, problem: str = "") -> HttpResponse:
    record = Record.from_json(trial.record) if trial.record else None
    context = {"trial": trial, "machine": machine_card(trial, record, heard), "machine_problem": problem}
    return render(request, "runs_app/machine_heard.html", context)
