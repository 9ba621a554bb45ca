"""Writing configurations: new, edit, duplicate, and the check while typing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from scenarios_app.beginnings import configuration_templates, free_name, template_named
from scenarios_app.forms.configuration import ConfigurationForm
from scenarios_app.forms.slots import Document
from scenarios_app.models import Application, Configuration
from scenarios_app.presentation import in_contract_order
from scenarios_app.services import configuration_warnings, create_configuration, save_configuration
from scenarios_app.spec.conditions import PRESETS
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.editing import check_fragment, edit_page
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import content_to_edit, signed_in, templates_offered

TEMPLATE = "scenarios_app/configuration_edit.html"


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def configuration_edit(request: HttpRequest, name: str) -> HttpResponse:
    """The newest version, or with ?from=NUMBER an older one, as the beginning of the next."""
    configuration = configuration_or_404(name)
    assert configuration.latest is not None

    def save(content: Document, note: str, number: int | None) -> Configuration:
        saved = save_configuration(
            configuration=configuration, content=content, user=signed_in(request), note=note, expected_number=number
        )
        said = f"Saved as {saved.version}." if saved.created else "Nothing had changed: no new version."
        messages.success(request, said)
        return configuration

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=ConfigurationForm,
        document=in_contract_order(content_to_edit(request, configuration), parse_configuration),
        number=configuration.latest.number,
        judge=configuration_warnings,
        save=save,
        context={"configuration": configuration, **beside()},
        fixed="name",
    )


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def configuration_new(request: HttpRequest) -> HttpResponse:
    """A template (?template=, else one that can be run here), or with ?from=NAME a copy of that one."""

    def save(content: Document, note: str, number: int | None) -> Configuration:
        version = create_configuration(content=content, user=signed_in(request), note=note)
        messages.success(request, f"Saved as {version}.")
        return version.configuration

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=ConfigurationForm,
        document=_beginning(request),
        number=None,
        judge=configuration_warnings,
        save=save,
        context={"configuration": None, **templates_offered(request, configuration_templates()), **beside()},
    )


def _beginning(request: HttpRequest) -> Document:
    if request.GET.get("from"):
        original = configuration_or_404(request.GET["from"])
        assert original.latest is not None
        return {**in_contract_order(original.latest.content, parse_configuration), "name": f"{original.name[:90]} copy"}
    name = request.GET.get("template") or ("simulator" if settings.SIMULATOR_URL else "openai-realtime")
    document = template_named(configuration_templates(), name).fresh()
    taken = Configuration.objects.values_list("name", flat=True)
    return {**document, "name": free_name(taken, document["name"])}


def beside() -> dict[str, Any]:
    """What the editor shows beside its fields: applications to choose from, and what can be told of the prompt."""
    return {"applications": _application_labels(), "conditions": PRESETS, "understood_field": "instructions"}


def _application_labels() -> list[str]:
    """Each application as NAME, and each of its versions as NAME@N."""
    labels: list[Any] = []
    for application in Application.objects.current().select_related("latest"):
        newest = application.latest.number if application.latest else 0
        labels += [application.name, *(f"{application.name}@{number}" for number in range(newest, 0, -1))]
    return labels


@limited_body
@require_POST
def configuration_validate(request: HttpRequest) -> HttpResponse:
    return check_fragment(request, ConfigurationForm, configuration_warnings)
