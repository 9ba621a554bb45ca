"""Scenarios as a file: a suite, what a search found, or what was ticked."""

from __future__ import annotations

from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scenarios_app.services import export_suite, scenarios_document
from scenarios_app.services.bundles import export_scenarios, zipped
from scenarios_app.services.scenario_formats import CONTENT_TYPES
from scenarios_app.views.chosen import chosen_scenarios
from scenarios_app.views.pages import suite_or_404


@require_safe
def suite_export(request: HttpRequest, name: str) -> HttpResponse:
    """The suite in its order; ?format= json, yaml or csv. With recordings it is a ZIP of the file and their sounds."""
    suite = suite_or_404(name)
    return _download(request, suite.name, export_suite(suite=suite))


@require_safe
def scenarios_export(request: HttpRequest) -> HttpResponse:
    """The scenarios that ?id= names (several times), else all that the list's own search finds."""
    return _download(request, "scenarios", scenarios_document(chosen_scenarios(request.GET)))


def _download(request: HttpRequest, name: str, document: dict[str, object]) -> HttpResponse:
    kind = request.GET.get("format", "json")
    kind = kind if kind in CONTENT_TYPES else "json"
    stem = f"{name.replace('/', '-')}-{timezone.now():%Y-%m-%d}"
    export = export_scenarios(document=document, kind=kind, file_name=f"{stem}.{kind}")
    if export.sounds:
        response = HttpResponse(zipped(export, f"{stem}.{kind}"), content_type="application/zip")
    else:
        response = HttpResponse(export.text, content_type=CONTENT_TYPES[kind])
    file = f"{stem}.zip" if export.sounds else f"{stem}.{kind}"
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file)}"
    return response
