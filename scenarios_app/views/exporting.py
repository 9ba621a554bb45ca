"""What people wrote, as files: scenarios of a suite or a search, applications, configurations; and their schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scenarios_app.models import Application, Configuration
from scenarios_app.presentation import Json, Parsed, in_contract_order
from scenarios_app.querysets import NamedQuerySet
from scenarios_app.services import export_suite, scenarios_document
from scenarios_app.services.bundles import export_scenarios, zipped
from scenarios_app.services.named import APPLICATIONS, CONFIGURATIONS, Kind, exported_versions
from scenarios_app.services.scenario_formats import CONTENT_TYPES
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.schema import SCHEMAS
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


@require_safe
def applications_export(request: HttpRequest) -> HttpResponse:
    """Every version of those that the list shows, as `import_applications` reads them."""
    return _list_download(request, APPLICATIONS, Application.objects.current(), parse_application)


@require_safe
def configurations_export(request: HttpRequest) -> HttpResponse:
    """Every version of those that the list shows, as `import_configurations` reads them."""
    return _list_download(request, CONFIGURATIONS, Configuration.objects.current(), parse_configuration)


def _list_download(
    request: HttpRequest, kind: Kind, rows: NamedQuerySet, parse: Callable[[Json], Parsed]
) -> HttpResponse:
    contents = exported_versions(kind=kind, things=rows.matching(request.GET.get("q", "").strip()))
    found = [in_contract_order(content, parse) for content in contents]
    text = f"{json.dumps(found, indent=2, ensure_ascii=False)}\n"
    response = HttpResponse(text, content_type=CONTENT_TYPES["json"])
    response["Content-Disposition"] = f'attachment; filename="{kind.word}s-{timezone.now():%Y-%m-%d}.json"'
    return response


@require_safe
def file_schema(request: HttpRequest, of: str) -> HttpResponse:
    """JSON Schema of a file of scenarios, applications or configurations."""
    if of not in SCHEMAS:
        raise Http404(f"there is a schema of {', '.join(SCHEMAS)}")
    response = JsonResponse(SCHEMAS[of](), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Type"] = "application/schema+json"
    response["Content-Disposition"] = f'attachment; filename="{of}.schema.json"'
    return response


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
