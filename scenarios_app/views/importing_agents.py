"""Importing configurations: checked first, stored on the person's yes. What is kept between never holds a key."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.services import NotStored, import_agents, read_agents
from scenarios_app.services.agent_files import agents_document, agents_of
from scenarios_app.services.pending import drop_upload, keep_upload
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.jsontext import dumps, load
from scenarios_app.views.checked import read_note, sent_files, sign, text_to_mend
from scenarios_app.views.limits import few_fields, limited_body
from scenarios_app.views.pages import signed_in


@limited_body
@few_fields
@require_http_methods(["GET", "HEAD", "POST"])
def configurations_import(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"name": request.POST.get("name", "")}
    if request.method == "POST":
        try:
            if "checked" in request.POST:
                return _store(request)
            context |= _check(request)
        except SpecError as error:
            context |= {"problems": error.problems, "text": text_to_mend(request)}
        except NotStored as error:
            context["problems"] = [Problem("file", str(error))]
    return render(request, "scenarios_app/import_configurations.html", context)


def _check(request: HttpRequest) -> dict[str, Any]:
    """A dry run. Raises SpecError."""
    agents = read_agents(files=sent_files(request), name=request.POST.get("name", ""))
    report = import_agents(agents=agents, dry_run=True)
    token = keep_upload(data=dumps(agents_document(agents)).encode())
    return {"report": report, "checked": sign(request, token=token)}


def _store(request: HttpRequest) -> HttpResponse:
    note, data = read_note(request, "checked")
    report = import_agents(agents=agents_of(load(data)), user=signed_in(request))
    drop_upload(note["token"])
    messages.success(request, f"Imported: {report.counts}.")
    return redirect("configurations")
