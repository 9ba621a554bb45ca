"""Duplicate and change one thing: a new configuration that differs from a stored one in one field alone."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.beginnings import free_name
from scenarios_app.forms.configuration import ConfigurationForm
from scenarios_app.forms.slots import Document, NotShown, Slot, merge
from scenarios_app.models import Configuration
from scenarios_app.presentation import in_contract_order
from scenarios_app.services import create_configuration
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.views.configuration_edit import beside
from scenarios_app.views.configurations import configuration_or_404
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import content_to_edit, signed_in

# what one changes alone, by the field of the form that shows it
THINGS = {
    "instructions": "prompt",
    "model": "model",
    "voice": "voice",
    "application": "tools",
    "mode": "mode",
    "turn_detection": "turn detection",
    "session_update": "session update",
    "caller_condition": "caller's line",
    "endpoint": "endpoint",
    "backend_model": "backend's model",
    "backend_instructions": "backend's prompt",
}


@dataclass
class Asked:
    """What the page holds: the thing, its text, the name of the copy, and what is wrong with them."""

    thing: str
    name: str
    text: str
    problems: tuple[Problem, ...] = ()


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def configuration_vary(request: HttpRequest, name: str) -> HttpResponse:
    """Of the newest version, or of the one that ?from= names. ?thing= is one of THINGS."""
    original = configuration_or_404(name)
    document = in_contract_order(content_to_edit(request, original), parse_configuration)
    thing = request.POST.get("thing", request.GET.get("thing", ""))
    offered = _offered(document)
    thing = thing if thing in offered else "instructions"
    slot = next(slot for slot in ConfigurationForm.slots if slot.field == thing)
    shown, unshown = _shown(slot, document)
    asked = Asked(thing, _free_name(original, THINGS[thing]), shown, unshown)
    if request.method == "POST":
        asked = Asked(thing, request.POST.get("name", "").strip(), request.POST.get("text", ""), unshown)
        if not unshown and (made := _made(request, original, document, asked)):
            return redirect(made)
    return _page(request, original, asked, offered)


def _offered(document: Document) -> dict[str, str]:
    """THINGS, without the backend's where nobody stands behind the voice."""
    backend = document.get("backend")
    backed = isinstance(backend, dict) and backend.get("mode", "direct") != "direct"
    return {thing: word for thing, word in THINGS.items() if backed or not thing.startswith("backend_")}


def _shown(slot: Slot, document: Document) -> tuple[str, tuple[Problem, ...]]:
    """What the field says now, or why it cannot be shown."""
    try:
        return slot.show(document), ()
    except NotShown as error:
        return "", (Problem(error.path, error.reason),)


def _made(request: HttpRequest, original: Configuration, document: Document, asked: Asked) -> Configuration | None:
    """The new configuration; None with the problems of what was asked."""
    slot = next(slot for slot in ConfigurationForm.slots if slot.field == asked.thing)
    changed, problems = merge(document, [slot], {slot.field: asked.text})
    if not problems and changed == document:
        problems = [Problem(slot.place, f"is what {original} has already: change it")]
    if not problems:
        try:
            note = f"Like {original}, but for the {THINGS[asked.thing]}"
            version = create_configuration(content={**changed, "name": asked.name}, user=signed_in(request), note=note)
        except SpecError as error:
            problems = list(error.problems)
        else:
            messages.success(request, f"Saved as {version}: {note[0].lower()}{note[1:]}.")
            return version.configuration
    asked.problems = tuple(problems)
    return None


def _free_name(original: Configuration, thing: str) -> str:
    return free_name(Configuration.objects.values_list("name", flat=True), f"{original.name[:60]} · other {thing}")


def _page(request: HttpRequest, original: Configuration, asked: Asked, offered: dict[str, str]) -> HttpResponse:
    form = ConfigurationForm({})
    field = form[asked.thing]
    widget = form.fields[asked.thing].widget
    widget.attrs |= {"id": "id_text", "aria-describedby": "vary-problems"}
    context = {
        "configuration": original,
        "from": request.GET.get("from", ""),
        "asked": asked,
        "things": offered.items(),
        "label": field.label,
        "help": field.help_text,
        "input": widget.render("text", asked.text, widget.attrs),
        **beside(),
    }
    return render(request, "scenarios_app/configuration_vary.html", context)
