"""Writing scenarios: new, edit, duplicate, and the check while typing."""

from __future__ import annotations

import copy

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from scenarios_app.forms.scenario import scenario_form
from scenarios_app.forms.slots import Document
from scenarios_app.models import Scenario
from scenarios_app.offers import known_names, offers
from scenarios_app.presentation import in_contract_order
from scenarios_app.services import create_scenario, save_scenario, scenario_warnings
from scenarios_app.services.scenarios import free_key
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.views.editing import edit_page
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import content_to_edit, signed_in
from scenarios_app.views.scenarios import scenario_or_404

BLANK: Document = {
    "id": "",
    "title": "",
    "interaction": "single_turn",
    "tags": [],
    "input": {"text": ""},
    "application": {"initial_state": {}},
    "expected": {"answer": ""},
}
TEMPLATE = "scenarios_app/scenario_edit.html"


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenario_edit(request: HttpRequest, key: str) -> HttpResponse:
    scenario, offered = scenario_or_404(key), offers()
    assert scenario.latest is not None

    def save(content: Document, note: str, number: int | None) -> Scenario:
        saved = save_scenario(
            scenario=scenario, content=content, user=signed_in(request), note=note, expected_number=number
        )
        said = f"Saved as version {saved.version.number}." if saved.created else "Nothing had changed: no new version."
        messages.success(request, said)
        return scenario

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=scenario_form(offered),
        document=in_contract_order(content_to_edit(request, scenario), parse_scenario),
        number=scenario.latest.number,
        judge=scenario_warnings,
        save=save,
        context={"scenario": scenario, **known_names(offered)},
        fixed="id",
    )


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenario_new(request: HttpRequest) -> HttpResponse:
    """A blank scenario, or with ?from=KEY a copy of that one under a free id."""
    offered = offers()

    def save(content: Document, note: str, number: int | None) -> Scenario:
        version = create_scenario(content=content, user=signed_in(request), note=note)
        messages.success(request, f"{version.scenario.key} is saved as version 1.")
        return version.scenario

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=scenario_form(offered),
        document=_beginning(request),
        number=None,
        judge=scenario_warnings,
        save=save,
        context={"scenario": None, **known_names(offered)},
    )


def _beginning(request: HttpRequest) -> Document:
    if request.method == "POST" or not request.GET.get("from"):
        return copy.deepcopy(BLANK)
    original = scenario_or_404(request.GET["from"])
    assert original.latest is not None
    return {**in_contract_order(original.latest.content, parse_scenario), "id": free_key(original.key)}
