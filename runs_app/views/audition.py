"""Hear it: the caller's words as an agent would hear them, of a stored scenario or of one that is being written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe
from pydantic import ValidationError

from runs_app.audio_http import LASTING
from runs_app.realtime.speech import CallerAudioError
from runs_app.realtime.wav import wav_bytes
from runs_app.services.audition import Audition, CannotHear, hear, prepare_audition, voices
from runs_app.services.caller_voice import recorded_sound
from runs_app.views.parts import is_htmx
from scenarios_app.forms.editor import read_editor
from scenarios_app.forms.scenario import ScenarioForm
from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.spec.conditions import PRESETS
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.numbers import number_of
from scenarios_app.spec.recordings import Recording


@require_http_methods(["GET", "HEAD", "POST"])
async def audition(request: HttpRequest) -> HttpResponseBase:
    """GET: the controls, for htmx as a fragment. POST: the sound as WAV, what it is in the header X-Heard as JSON;
    422 with {"error"} where there is nothing to hear. Words come from hear_scenario or from the editor's own fields."""
    if request.method != "POST":
        return await sync_to_async(_controls)(request)
    try:
        heard = await hear(await sync_to_async(_prepared)(request))
    except CannotHear as problem:
        if "text/html" in request.headers.get("Accept", ""):  # a plain form, without the module
            return await sync_to_async(_controls)(request, str(problem))
        return JsonResponse({"error": str(problem)}, status=422)
    answer = HttpResponse(wav_bytes(heard.samples), content_type="audio/wav")
    answer["X-Heard"] = json.dumps(heard.facts)
    answer["Content-Disposition"] = 'inline; filename="caller.wav"'
    return answer


def _controls(request: HttpRequest, problem: str = "") -> HttpResponse:
    key = request.GET.get("scenario", "") or _sent(request, "hear_scenario")
    number = request.GET.get("version", "") or request.POST.get("hear_version", "")
    version = _version(key, number) if key else None
    content = version.content if version else {}
    context = {
        "problem": problem,
        "scenario": version.scenario if version else None,
        "version": version,
        "voices": voices(),
        "conditions": tuple(PRESETS),
        "turns": range(1, 2 + len(content.get("input", {}).get("turns") or [])),
    }
    part = "audition_controls" if is_htmx(request) else "audition"
    return render(request, f"runs_app/{part}.html", context, status=422 if problem else 200)


def _version(key: str, number: str) -> ScenarioVersion:
    scenario: Scenario = get_object_or_404(Scenario.objects.with_latest(), key__iexact=key)
    wanted = number_of(number)
    if wanted is None and scenario.latest is not None:
        return scenario.latest
    found: ScenarioVersion = get_object_or_404(scenario.versions.select_related("scenario"), number=wanted)
    return found


def _prepared(request: HttpRequest) -> Audition:
    return prepare_audition(
        given=_given(request),
        turn=number_of(request.POST.get("hear_turn", "")) or 1,
        configuration=_sent(request, "hear_voice"),
        condition=request.POST.get("hear_condition", ""),
    )


def _given(request: HttpRequest) -> Mapping[str, Any]:
    if key := _sent(request, "hear_scenario"):
        given: Mapping[str, Any] = _version(key, request.POST.get("hear_version", "")).content["input"]
        return given
    try:
        document = read_editor(ScenarioForm, request.POST).document
    except SpecError as error:
        raise BadRequest("The form has lost the document it edits. Load the page again.") from error
    written = document.get("input")
    return written if isinstance(written, dict) else {}


def _sent(request: HttpRequest, name: str) -> str:
    """A name to look for; PostgreSQL refuses to look for one with NUL."""
    return clean_text(request.POST.get(name, ""))


@require_safe
def recording_sound(request: HttpRequest, sha256: str) -> HttpResponse:
    """A recording as the agent hears it, of ?channel=; 404 with the reason where there is none."""
    channel = number_of(request.GET.get("channel", ""))
    try:
        audio = recorded_sound(Recording(id=sha256[:12], path=sha256[:12], sha256=sha256, channel=channel))
    except ValidationError:
        return _no_sound("there is no such recording: it takes a SHA-256, and channels count from 1")
    except CallerAudioError as problem:
        return _no_sound(str(problem))
    answer = HttpResponse(wav_bytes(audio.samples), content_type="audio/wav")
    answer["Cache-Control"] = LASTING
    return answer


def _no_sound(reason: str) -> HttpResponse:
    return HttpResponse(reason, status=404, content_type="text/plain; charset=utf-8")
