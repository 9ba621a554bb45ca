"""A scenario from a customer's call: a file, a channel, a cut, the words; and it is there with its recording."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from runs_app.realtime.transcription import Recogniser
from runs_app.realtime.wav import AudioFormatError
from runs_app.services.cutting import cut_recording
from runs_app.services.transcribing import CannotTranscribe, configured_recogniser, words_of_call
from scenarios_app.models import Scenario
from scenarios_app.services import create_scenario
from scenarios_app.services.recordings import keep_recording
from scenarios_app.services.scenario_recordings import recording_entry
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.numbers import number_of
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

CHANNELS = (("1", "left (1)"), ("2", "right (2)"), *((str(n), str(n)) for n in range(3, 9)))
FIELDS = ("id", "title", "text", "channel", "start_s", "end_s")
PATIENCE_S = 90.0  # for the words of a cut


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def from_call(request: HttpRequest) -> HttpResponse:
    """POST file, channel (from 1; empty: all), start_s, end_s (empty: the end), id, title, text. Goes to its editor,
    where expectations are written; with a problem back to the page, where the file must be chosen again."""
    context: dict[str, Any] = {"sent": {name: request.POST.get(name, "") for name in FIELDS}, "channels": CHANNELS}
    if request.method == "POST":
        try:
            return _created(request)
        except SpecError as error:
            context["problems"] = error.problems
    return render(request, "runs_app/from_call.html", context, status=422 if "problems" in context else 200)


@limited_body
@require_POST
async def words(request: HttpRequest) -> HttpResponse:
    """What a machine hears in the cut: {"text"}, or 422 with {"error"}; a plain form gets its page, words in it."""
    try:
        asked = await sync_to_async(_asked)(request)
        async with asyncio.timeout(PATIENCE_S):
            text, problem = await words_of_call(*asked), ""
    except SpecError as error:
        text, problem = "", "; ".join(map(str, error.problems))
    except CannotTranscribe as reason:
        text, problem = "", str(reason)
    except TimeoutError:
        text, problem = "", f"nobody wrote it down within {PATIENCE_S:.0f} s"
    if not text and not problem:
        problem = "no words were caught in it"
    if "text/html" in request.headers.get("Accept", ""):
        return await sync_to_async(_prefilled)(request, text, problem)
    return JsonResponse({"error": problem} if problem else {"text": text}, status=422 if problem else 200)


def _asked(request: HttpRequest) -> tuple[Recogniser, bytes]:
    return configured_recogniser(), _cut(request)[1]


def _prefilled(request: HttpRequest, text: str, problem: str) -> HttpResponse:
    """The words that stand there already are a person's, and stay."""
    sent = {name: request.POST.get(name, "") for name in FIELDS}
    sent["text"] = sent["text"].strip() or text
    context = {"sent": sent, "channels": CHANNELS, "told": text, "not_told": problem}
    return render(request, "runs_app/from_call.html", context, status=422 if problem else 200)


def _cut(request: HttpRequest) -> tuple[str, bytes]:
    """The name of the file that was sent, and what is cut out of it. Raises SpecError."""
    file = request.FILES.get("file")
    if file is None:
        raise SpecError([Problem("file", "choose the call's recording")])
    name, channel = file.name or "call.wav", number_of(request.POST.get("channel", ""))
    start_ms, end_ms = _ms(request, "start_s") or 0.0, _ms(request, "end_s")
    try:
        return name, cut_recording(data=file.read(), channel=channel, start_ms=start_ms, end_ms=end_ms)
    except AudioFormatError as error:
        raise SpecError([Problem(name, f"cannot be cut so: {error}")]) from error


def _created(request: HttpRequest) -> HttpResponse:
    if request.FILES.get("file") is None:
        raise SpecError([Problem("file", "choose the call's recording")])
    content = _content(request)
    parse_scenario(content)  # before anything is kept
    name, cut = _cut(request)
    kept = keep_recording(data=cut, name=f"{content['id']}.wav", user=signed_in(request))
    entry = recording_entry([], name=f"{content['id']}.wav", sha256=kept.recording.sha256)
    content["input"]["recordings"] = [{**entry, "metadata": _origin(request, name)}]
    scenario: Scenario = create_scenario(
        content=content, user=signed_in(request), note=f"Cut out of the call {name}"[:500]
    ).scenario
    messages.success(request, f"{scenario.key} is saved with its recording. Now write what must be true afterwards.")
    return redirect("scenario-edit", key=scenario.key)


def _content(request: HttpRequest) -> dict[str, Any]:
    text = request.POST.get("text", "").strip()
    return {
        "id": request.POST.get("id", "").strip(),
        "title": request.POST.get("title", "").strip() or text[:80],
        "interaction": "single_turn",
        "mode": "audio",
        "input": {"text": text},
        "expected": {},
    }


def _ms(request: HttpRequest, field: str) -> float | None:
    """Seconds as people type them. Raises SpecError."""
    text = request.POST.get(field, "").strip().replace(",", ".")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < 1e6:
        raise SpecError([Problem(field, "must be a number of seconds, such as 12.4")])
    return seconds * 1000


def _origin(request: HttpRequest, name: str) -> dict[str, Any]:
    """Where in which call it was, for who wonders later."""
    facts = {"call": name, "channel": request.POST.get("channel", ""), "from_s": request.POST.get("start_s", "")}
    return {key: value for key, value in {**facts, "to_s": request.POST.get("end_s", "")}.items() if value}
