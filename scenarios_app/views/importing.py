"""Importing a file of scenarios: checked first, stored when the person says so."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.models import Suite
from scenarios_app.services import ImportReport, NotStored, find_suite, import_scenarios
from scenarios_app.services.pending import KEPT, drop_upload, keep_upload, read_upload
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

_SALT = "scenarios_app.import"
_KEPT_TEXT = 200_000  # characters of a pasted text that the page gives back for correction


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenarios_import(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"suite": request.POST.get("suite", request.GET.get("suite", ""))}
    if request.method == "POST":
        try:
            if "checked" in request.POST:
                return _store(request)
            context |= _check(request)
        except SpecError as error:
            text = request.POST.get("text", "")
            context |= {"problems": error.problems, "text": text if len(text) <= _KEPT_TEXT else ""}
        except NotStored as error:
            context["problems"] = [Problem("file", str(error))]
    context["suites"] = Suite.objects.current()
    return render(request, "scenarios_app/import.html", context)


def _check(request: HttpRequest) -> dict[str, Any]:
    """A dry run of what was sent. Raises SpecError."""
    suite, data, file_name = request.POST.get("suite", ""), *_sent_file(request)
    report = import_scenarios(data=data, suite_name=suite, dry_run=True)
    kept = {"token": keep_upload(data=data), "suite": suite, "file": file_name, "user": request.user.pk}
    return {"report": report, "checked": signing.dumps(kept, salt=_SALT), "file_name": file_name}


def _sent_file(request: HttpRequest) -> tuple[bytes, str]:
    file = request.FILES.get("file")
    if file is not None and file.size:
        return file.read(), file.name or "The file"
    text = request.POST.get("text", "")
    if not text.strip():
        raise SpecError([Problem("file", "choose a file, or paste its text")])
    return text.encode("utf-8", "replace"), "The pasted text"


def _store(request: HttpRequest) -> HttpResponse:
    try:
        kept = signing.loads(request.POST["checked"], salt=_SALT, max_age=KEPT)
    except signing.BadSignature as error:
        raise NotStored("the checked file is no longer kept here: choose it again") from error
    if kept["user"] != request.user.pk:
        raise NotStored("another person checked that file: choose it again")
    data = read_upload(kept["token"])
    report = import_scenarios(data=data, suite_name=kept["suite"], user=signed_in(request))
    drop_upload(kept["token"])
    messages.success(request, _said(report))
    return redirect(find_suite(kept["suite"]))


def _said(report: ImportReport) -> str:
    return f"Imported: {report.counts}."
