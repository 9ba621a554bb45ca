"""Recordings of a scenario: a file is added, from the disk or the microphone, and taken away again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from scenarios_app.forms.scenario import ScenarioForm
from scenarios_app.presentation import pretty_json
from scenarios_app.services import NotStored
from scenarios_app.services.recordings import keep_recording
from scenarios_app.services.scenario_recordings import add_recording, remove_recording, with_recording
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.editing import read_sent
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in
from scenarios_app.views.scenarios import scenario_or_404


@limited_body
@require_POST
def recording_add(request: HttpRequest, key: str) -> HttpResponse:
    """POST file, channel (from 1; empty: all). The page that it leads to says what became of it."""
    scenario, file = scenario_or_404(key), request.FILES.get("file")
    if file is None:
        messages.error(request, "Choose a file first.")
        return redirect(scenario)
    channel = number_of(request.POST.get("channel", ""))
    try:
        saved = add_recording(
            scenario=scenario,
            data=file.read(),
            name=file.name or "recording.wav",
            channel=channel,
            user=signed_in(request),
        )
        messages.success(request, f"Version {saved.version.number}: {saved.version.note}.")
    except SpecError as error:
        for problem in error.problems:
            messages.error(request, str(problem))
    return redirect(scenario)


@limited_body
@require_POST
def recording_typed(request: HttpRequest) -> JsonResponse:
    """Into a scenario that is being written: POST the editor's fields with `recording` and `recording_channel`. Gives
    the document with it as `text`, and what it `says`; 422 with {"error"}. No version is made before it is saved."""
    editor, file = read_sent(ScenarioForm, request), request.FILES.get("recording")
    try:
        if editor.unread or file is None:
            message = "choose a file first" if file is None else "mend what cannot be read in the editor first"
            raise SpecError([Problem("", message)])
        name, channel = file.name or "recording.wav", number_of(request.POST.get("recording_channel", ""))
        kept = keep_recording(data=file.read(), name=name, channel=channel, user=signed_in(request))
        document = with_recording(editor.document, name=name, sha256=kept.recording.sha256, channel=channel)
    except SpecError as error:
        return JsonResponse({"error": "; ".join(str(problem) for problem in error.problems)}, status=422)
    said = "; ".join((f"{name} is in", *kept.notes))
    return JsonResponse({"text": pretty_json(document), "says": f"{said}. It counts once you save."})


@require_POST
def recording_remove(request: HttpRequest, key: str) -> HttpResponse:
    scenario = scenario_or_404(key)
    try:
        saved = remove_recording(scenario=scenario, recording_id=request.POST.get("id", ""), user=signed_in(request))
        messages.success(request, f"Version {saved.version.number} is without it; older versions keep it.")
    except NotStored as error:
        raise Http404(str(error)) from error
    except SpecError as error:
        for problem in error.problems:
            messages.error(request, str(problem))
    return redirect(scenario)
