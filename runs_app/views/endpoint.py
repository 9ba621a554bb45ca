"""Test connection of a tool's endpoint: allowed, reached, and let in, without a call of the tool."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from runs_app.realtime.http_tool import HttpTool
from runs_app.realtime.tools import ToolSandboxError
from runs_app.services import secrets, tooling
from runs_app.views.parts import is_htmx
from scenarios_app.models import Application
from scenarios_app.spec.application import Tool, parse_application
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.numbers import number_of

_WELL = "is there"
_WORDS = {
    401: "lets nobody in: look at the headers and their secrets",
    403: "lets nobody in: look at the headers and their secrets",
    404: "has nothing at this path, or nothing for OPTIONS: call the tool to be sure",
    405: f"{_WELL}; it takes no OPTIONS, which is fine",
    407: "is behind a proxy that wants credentials",
    501: f"{_WELL}; it takes no OPTIONS, which is fine",
}


@require_POST
def tool_endpoint(request: HttpRequest, name: str, tool: str) -> HttpResponse:
    """Sends OPTIONS to the endpoint of that tool, in the version that ?version= numbers, else the newest."""
    application: Application = get_object_or_404(Application.objects.named(name).select_related("latest"))
    level, said = _reached(_tool(request, application, tool))
    if is_htmx(request):
        return render(request, "runs_app/endpoint_reached.html", {"level": level, "said": said})
    messages.add_message(request, getattr(messages, level.upper()), said)
    return redirect(application)


def _tool(request: HttpRequest, application: Application, name: str) -> Tool:
    number = request.GET.get("version", "")
    version: Any = application.latest
    if number:
        version = get_object_or_404(application.versions, number=number_of(number))
    found = parse_application(version.content).tool(name)
    if found is None or found.http is None:
        raise Http404(f"no tool {name} that an endpoint answers")
    return found


def _reached(tool: Tool) -> tuple[str, str]:
    """success, warning or error, and what to say."""
    try:
        backend = tooling.endpoint_of(tool)
    except SpecError as error:
        return "error", "; ".join(problem.message for problem in error.problems)
    try:
        return told(backend, async_to_sync(backend.reach)())
    except ToolSandboxError as error:
        return "error", secrets.redact(str(error))


def told(backend: HttpTool, status: int) -> tuple[str, str]:
    usual = "redirects, and redirects are not followed" if 300 <= status < 400 else "is not well"
    words = _WORDS.get(status) or (_WELL if status < 300 or 400 <= status < 500 else usual)
    return "success" if words.startswith(_WELL) else "warning", f"{backend.place} {words} ({status})."
