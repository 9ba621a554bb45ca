"""Fragments about instructions, for the editor and the page: how long they are, and what the simulator heeds."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from scenarios_app.diffing import count_lines
from scenarios_app.forms.configuration import ConfigurationForm
from scenarios_app.forms.slots import Document
from scenarios_app.services.understanding import Part, understand
from scenarios_app.spec.prompts import prompt_size
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.editing import read_sent
from scenarios_app.views.limits import limited_body

TEMPLATE = "scenarios_app/_understood.html"


@limited_body
@require_POST
def instructions_understood(request: HttpRequest) -> HttpResponse:
    """Of what is being typed; empty without instructions."""
    editor = read_sent(ConfigurationForm, request)
    before = editor.form.document if editor.form else editor.document
    context = {**_length(editor.document, before), "parts": _parts(editor.document)}
    return render(request, "scenarios_app/_prompt_told.html", context)


@require_safe
def version_understood(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Of a stored version; 204 where there is nothing to say, and htmx then leaves the page as it is."""
    version = get_object_or_404(configuration_or_404(name).versions, number=number)
    parts = _parts(version.content)
    return render(request, TEMPLATE, {"parts": parts}) if parts else HttpResponse(status=204)


def _length(document: Document, before: Document) -> dict[str, object]:
    text, old = (_instructions(one) for one in (document, before))
    added, removed = count_lines(old, text)
    return {"size": prompt_size(text) if text.strip() else None, "added": added, "removed": removed}


def _instructions(document: Document) -> str:
    text = document.get("instructions")
    return text if isinstance(text, str) else ""


def _parts(document: Document) -> tuple[Part, ...] | None:
    instructions, endpoint = document.get("instructions"), document.get("endpoint")
    if isinstance(instructions, str) and isinstance(endpoint, str):
        return understand(instructions=instructions, endpoint=endpoint)
    return None
