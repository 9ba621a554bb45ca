"""Fragments that show which sentences of some instructions the simulator heeds, for the editor and the page."""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from scenarios_app.forms.configuration import ConfigurationForm
from scenarios_app.forms.editor import read_editor
from scenarios_app.forms.slots import Document
from scenarios_app.services.understanding import understand
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.limits import limited_body

TEMPLATE = "scenarios_app/_understood.html"


@limited_body
@require_POST
def instructions_understood(request: HttpRequest) -> HttpResponse:
    """Of what is being typed; empty where there is nothing to say."""
    try:
        document = read_editor(ConfigurationForm, request.POST).document
    except SpecError as error:
        raise BadRequest("The form has lost the document it edits. Load the page again.") from error
    return _fragment(request, document)


@require_safe
def version_understood(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Of a stored version; 204 where there is nothing to say, and htmx then leaves the page as it is."""
    version = get_object_or_404(configuration_or_404(name).versions, number=number)
    fragment = _fragment(request, version.content)
    return fragment if fragment.content else HttpResponse(status=204)


def _fragment(request: HttpRequest, document: Document) -> HttpResponse:
    instructions, endpoint = document.get("instructions"), document.get("endpoint")
    parts = None
    if isinstance(instructions, str) and isinstance(endpoint, str):
        parts = understand(instructions=instructions, endpoint=endpoint)
    return render(request, TEMPLATE, {"parts": parts}) if parts else HttpResponse()
