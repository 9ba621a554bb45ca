"""A scenario while it is typed: both sides of the editor checked, each brought up to the other."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from scenarios_app.forms.scenario import scenario_form
from scenarios_app.offers import offers
from scenarios_app.services import scenario_warnings
from scenarios_app.views.editing import read_sent
from scenarios_app.views.limits import limited_body


@limited_body
@require_POST
def scenario_validate(request: HttpRequest) -> HttpResponse:
    """Problems at their fields and lines, and what the other side shows now. The form is sent anew when the JSON was
    typed in, or when a button of the form was pressed (`action`)."""
    editor = read_sent(scenario_form(offers()), request)
    editor.check(scenario_warnings)
    anew = editor.view == "json" or bool(request.POST.get("action"))
    context = {"editor": editor, "rebuilt": anew and editor.form_side is not None}
    return render(request, "scenarios_app/scenario_check.html", context)
