"""Writing scenarios: new, edit, duplicate; what was typed before goes on where it was left."""

from __future__ import annotations

import copy
import secrets
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST

from scenarios_app.beginnings import scenario_templates, template_named
from scenarios_app.forms.editor import Editor, open_editor, read_editor
from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.scenario import scenario_form
from scenarios_app.forms.slots import Document
from scenarios_app.models import Scenario, ScenarioDraft
from scenarios_app.offers import known_names, offers
from scenarios_app.presentation import in_contract_order
from scenarios_app.services import create_scenario, finish_page, save_scenario, scenario_warnings
from scenarios_app.services.scenarios import free_key
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.views.differences import bring_in, since_of, told_meanwhile
from scenarios_app.views.editing import edit_page
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import content_to_edit, signed_in, templates_offered
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
MOST_OTHERS = 20  # unfinished scenarios that the page lists


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenario_edit(request: HttpRequest, key: str) -> HttpResponse:
    scenario, offered, person = scenario_or_404(key), offers(), signed_in(request)
    assert scenario.latest is not None
    form_class = scenario_form(offered)
    draft = ScenarioDraft.objects.of(person).filter(scenario=scenario).first()
    opens = request.method != "POST" and draft is not None
    begun = _begun(form_class, draft) if opens and draft and not request.GET.get("from") else None

    def bring(editor: Editor, context: dict[str, Any]) -> Editor:
        brought, told = bring_in(editor, scenario, since_of(request))
        context |= told
        return brought

    def save(content: Document, note: str, number: int | None) -> Scenario:
        saved = save_scenario(scenario=scenario, content=content, user=person, note=note, expected_number=number)
        finish_page(person=person, tab=request.POST.get("tab", ""), scenario=scenario)
        said = f"Saved as version {saved.version.number}." if saved.created else "Nothing had changed: no new version."
        messages.success(request, said)
        return scenario

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=form_class,
        document=in_contract_order(content_to_edit(request, scenario), parse_scenario),
        number=draft.number if draft and begun else scenario.latest.number,
        judge=scenario_warnings,
        save=save,
        context={
            "scenario": scenario,
            "draft": draft,
            "other_draft": draft if opens and not begun else None,
            **_opened(request, draft, begun),
            **known_names(offered),
        },
        fixed="id",
        begun=begun,
        meanwhile=lambda document, since: told_meanwhile(scenario, document, since),
        acts={"merge": bring},
    )


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenario_new(request: HttpRequest) -> HttpResponse:
    """A blank scenario, with ?from=KEY a copy of that one under a free id, with ?draft=ID what was begun before."""
    offered, person = offers(), signed_in(request)
    form_class = scenario_form(offered)
    mine = ScenarioDraft.objects.of(person)
    sent = request.POST if request.method == "POST" else request.GET
    draft = mine.of_page(sent.get("draft", ""), sent.get("tab", ""))
    begun = _begun(form_class, draft) if draft and request.method != "POST" else None

    def save(content: Document, note: str, number: int | None) -> Scenario:
        version = create_scenario(content=content, user=person, note=note)
        finish_page(person=person, tab=request.POST.get("tab", ""), draft=draft)
        messages.success(request, f"{version.scenario.key} is saved as version 1.")
        return version.scenario

    others = mine.begun_new().exclude(pk=draft.pk if draft else 0) if request.method != "POST" else mine.none()
    return edit_page(
        request,
        template=TEMPLATE,
        form_class=form_class,
        document=_beginning(request),
        number=None,
        judge=scenario_warnings,
        save=save,
        context={
            "scenario": None,
            **templates_offered(request, scenario_templates()),
            "draft": draft,
            "others": others[:MOST_OTHERS],
            "others_count": others.count(),
            **_opened(request, draft, begun),
            **known_names(offered),
        },
        begun=begun,
    )


@require_POST
def scenario_restore(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Makes an older version the newest again."""
    scenario = scenario_or_404(key)
    version = get_object_or_404(scenario.versions, number=number)
    try:
        saved = save_scenario(
            scenario=scenario, content=version.content, user=signed_in(request), note=f"Version {number} restored"
        )
    except SpecError as error:
        messages.error(request, f"Version {number} is no longer what a scenario may be: {error}")
        return redirect("scenario-version", scenario.key, number)
    said = f"Version {number} is restored as version {saved.version.number}."
    messages.success(request, said if saved.created else f"The newest version says what version {number} says.")
    return redirect(scenario)


def _begun(form_class: type[SlotForm], draft: ScenarioDraft) -> Editor | None:
    """What the draft holds, in its form where it has one; None when this form cannot read it any more."""
    try:
        editor = read_editor(form_class, {**draft.fields, "action": "open"})
    except SpecError:
        return None
    return editor if editor.form or editor.unread else open_editor(form_class, editor.document)


def _opened(request: HttpRequest, draft: ScenarioDraft | None, begun: Editor | None) -> dict[str, str | bool]:
    """`tab` tells this page from the same one in another tab."""
    opened: dict[str, str | bool] = {"tab": request.POST.get("tab") or secrets.token_hex(8)}
    return opened | {"is_draft": True, "note": draft.fields.get("note", "")} if draft and begun else opened


def _beginning(request: HttpRequest) -> Document:
    if request.method != "POST" and request.GET.get("template"):
        document = template_named(scenario_templates(), request.GET["template"]).fresh()
        is_taken = Scenario.objects.keyed(document["id"]).exists()
        return {**document, "id": free_key(document["id"]) if is_taken else document["id"]}
    if request.method == "POST" or not request.GET.get("from"):
        return copy.deepcopy(BLANK)
    original = scenario_or_404(request.GET["from"])
    assert original.latest is not None
    return {**in_contract_order(original.latest.content, parse_scenario), "id": free_key(original.key)}
