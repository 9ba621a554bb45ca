"""Applications: the list, one application with its tools, versions and their difference, and the editor."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from scenarios_app.beginnings import application_templates, free_name, template_named
from scenarios_app.diffing import diff_texts
from scenarios_app.forms.application import ApplicationForm
from scenarios_app.forms.slots import Document
from scenarios_app.models import Application, ApplicationVersion
from scenarios_app.presentation import in_contract_order, other_results, pretty_json, tool_cards
from scenarios_app.services import application_warnings, create_application, save_application
from scenarios_app.spec.application import parse_application
from scenarios_app.views.editing import check_fragment, edit_page
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import content_to_edit, page_of, second_look, signed_in, templates_offered, two_versions

TEMPLATE = "scenarios_app/application_edit.html"
# what the console is opened with: words, and the fault that is laid over the call
PRESETS = (
    ("Call it", ""),
    ("slow", "delay:3s"),
    ("down", "error"),
    ("silent", "timeout"),
    ("empty", "empty"),
    ("garbled", "malformed"),
    ("hostile", "hostile"),
    ("stale", "stale"),
    ("of the wrong type", "wrong_type"),
)
BLANK: Document = {
    "name": "",
    "facts": {},
    "tools": [
        {
            "name": "look_up",
            "description": "Say what the tool does and when to call it.",
            "parameters": {
                "type": "object",
                "properties": {"what": {"type": "string", "description": "What to look up."}},
                "required": ["what"],
            },
            "answers": [{"result": {"found": "{{ args.what }}"}}],
        }
    ],
}


def _application_or_404(name: str) -> Application:
    application: Application = get_object_or_404(Application.objects.named(name).select_related("latest"))
    return application


@require_safe
def application_list(request: HttpRequest) -> HttpResponse:
    q = request.GET.get("q", "").strip()
    rows = Application.objects.current().matching(q).select_related("latest", "latest__created_by")
    return render(request, "scenarios_app/applications.html", {"q": q, "page": page_of(request, rows)})


@require_safe
def application_page(request: HttpRequest, name: str) -> HttpResponse:
    application = _application_or_404(name)
    return _show(request, application, application.latest)


@require_safe
def application_version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    application = _application_or_404(name)
    return _show(request, application, get_object_or_404(application.versions, number=number))


def _show(request: HttpRequest, application: Application, version: ApplicationVersion | None) -> HttpResponse:
    if version is None:
        raise Http404
    content = version.content
    context = {
        "application": application,
        "version": version,
        "versions": application.versions.newest_first(),
        "tools": tool_cards(content),
        "facts": pretty_json(content["facts"]) if content.get("facts") else "",
        "tool_results_given": "tool_results" in content,
        "tool_results": pretty_json(others) if (others := other_results(content)) else "",
        "json": pretty_json(in_contract_order(content, parse_application)),
        "presets": PRESETS,
        "warnings": second_look(application_warnings, content),
    }
    return render(request, "scenarios_app/application.html", context)


@require_safe
def application_diff(request: HttpRequest, name: str) -> HttpResponse:
    application = _application_or_404(name)
    versions = list(application.versions.newest_first())
    old, new = two_versions(request, versions)
    difference = diff_texts(pretty_json(old.content, sort_keys=True), pretty_json(new.content, sort_keys=True))
    context = {
        "thing": application,
        "word": "application",
        "versions": versions,
        "old": old,
        "new": new,
        "parts": [("Content", difference)],
    }
    return render(request, "scenarios_app/diff.html", context)


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def application_edit(request: HttpRequest, name: str) -> HttpResponse:
    application = _application_or_404(name)
    assert application.latest is not None

    def save(content: Document, note: str, number: int | None) -> Application:
        saved = save_application(
            application=application, content=content, user=signed_in(request), note=note, expected_number=number
        )
        said = f"Saved as {saved.version}." if saved.created else "Nothing had changed: no new version."
        messages.success(request, said)
        return application

    return edit_page(
        request,
        template=TEMPLATE,
        form_class=ApplicationForm,
        document=in_contract_order(content_to_edit(request, application), parse_application),
        number=application.latest.number,
        judge=application_warnings,
        save=save,
        context={"application": application},
        fixed="name",
    )


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def application_new(request: HttpRequest) -> HttpResponse:
    """A small example to start from, with ?template= one of the demo's, or with ?from=NAME a copy of that one."""

    def save(content: Document, note: str, number: int | None) -> Application:
        version = create_application(content=content, user=signed_in(request), note=note)
        messages.success(request, f"Saved as {version}.")
        return version.application

    document = _beginning(request)
    if request.GET.get("from"):
        original = _application_or_404(request.GET["from"])
        assert original.latest is not None
        document = {
            **in_contract_order(original.latest.content, parse_application),
            "name": f"{original.name[:90]} copy",
        }
    return edit_page(
        request,
        template=TEMPLATE,
        form_class=ApplicationForm,
        document=document,
        number=None,
        judge=application_warnings,
        save=save,
        context={"application": None, **templates_offered(request, application_templates())},
    )


def _beginning(request: HttpRequest) -> Document:
    if request.method == "POST" or not request.GET.get("template"):
        return BLANK
    document = template_named(application_templates(), request.GET["template"]).fresh()
    return {**document, "name": free_name(Application.objects.values_list("name", flat=True), document["name"])}


@limited_body
@require_POST
def application_validate(request: HttpRequest) -> HttpResponse:
    return check_fragment(request, ApplicationForm, application_warnings)
