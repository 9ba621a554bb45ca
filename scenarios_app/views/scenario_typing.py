"""A scenario while it is typed: both sides of the editor checked, each brought up to the other, the draft kept."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from scenarios_app.forms.editor import Editor
from scenarios_app.forms.matching import same
from scenarios_app.forms.scenario import scenario_form
from scenarios_app.models import Scenario, ScenarioDraft, ScenarioVersion
from scenarios_app.offers import offers
from scenarios_app.services import drop_drafts, finish_page, keep_draft, scenario_warnings
from scenarios_app.spec.numbers import number_of
from scenarios_app.views.differences import bring_in, since_of, told_meanwhile
from scenarios_app.views.editing import fix, read_sent
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in
from scenarios_app.views.scenario_edit import BLANK
from scenarios_app.views.scenarios import scenario_or_404


@limited_body
@require_POST
def scenario_validate(request: HttpRequest) -> HttpResponse:
    """Problems at their fields and lines, and what the other side shows now. The form is sent anew when the JSON was
    typed in, or when a button of the form was pressed (`action`). With `autosave` what was typed is kept as a draft."""
    editor = read_sent(scenario_form(offers()), request)
    scenario = Scenario.objects.with_latest().keyed(request.POST.get("scenario", "")).first()
    context: dict[str, Any] = {"scenario": scenario, "number": number_of(request.POST.get("number", ""))}
    if request.POST.get("action") == "merge" and scenario is not None:
        editor, told = bring_in(editor, scenario, since_of(request))
        context |= told
    elif scenario is not None and request.POST.get("since"):  # a save was held back: both differences stay in sight
        context |= told_meanwhile(scenario, editor.document, since_of(request))
    editor.check(scenario_warnings)
    if scenario is not None:
        fix(editor, "id")
    anew = editor.view == "json" or bool(request.POST.get("action"))
    context |= {"editor": editor, "rebuilt": anew and editor.form_side is not None}
    if request.POST.get("autosave"):
        begun_on = context["number"] if context.get("merged") else since_of(request)
        context |= _kept(request, editor, scenario, begun_on)
    context["newer"] = _newer(scenario, context["number"])
    return render(request, "scenarios_app/scenario_check.html", context)


def _newer(scenario: Scenario | None, number: int | None) -> ScenarioVersion | None:
    """What somebody saved after the version that is being edited."""
    latest = scenario.latest if scenario else None
    return latest if latest and number is not None and latest.number > number else None


def _kept(request: HttpRequest, editor: Editor, scenario: Scenario | None, number: int | None) -> dict[str, Any]:
    """Keeps the draft, where something differs from what is stored; what the page says of it."""
    person, asked = signed_in(request), request.POST.get("draft", "")
    draft = ScenarioDraft.objects.of(person).of_page(asked, request.POST.get("tab", ""))
    if scenario is None and asked and draft is None:  # thrown away or saved meanwhile, by another tab
        return {"gone": True}
    stored = scenario.latest.content if scenario and scenario.latest else BLANK
    if not editor.unread and same(editor.document, stored):
        drop_drafts(person=person, scenario=scenario, draft=draft)
        return {"kept": True}
    given = editor.document.get("title")
    title = given if isinstance(given, str) else ""
    fields = {name: str(text) for name, text in request.POST.items()}
    if request.POST.get("action") and not editor.unread:  # the buttons of rows have changed them
        fields |= {"view": "json", "text_json": editor.json_text}
    begun_on = number if scenario and scenario.versions.filter(number=number or 0).exists() else None
    kept = keep_draft(person=person, fields=fields, title=title, scenario=scenario, number=begun_on, draft=draft)
    return {"kept": True, "draft": kept} if kept else {"gone": True}


@require_POST
def draft_discard(request: HttpRequest) -> HttpResponse:
    """Of the scenario that `scenario` names, or the new one that `draft` numbers."""
    person = signed_in(request)
    scenario = scenario_or_404(request.POST["scenario"]) if request.POST.get("scenario") else None
    draft = ScenarioDraft.objects.of(person).numbered(request.POST.get("draft", ""))
    finish_page(person=person, tab=request.POST.get("tab", ""), scenario=scenario, draft=draft)
    messages.success(request, "The draft is thrown away.")
    return redirect("scenario-edit", scenario.key) if scenario else redirect("scenario-new")
