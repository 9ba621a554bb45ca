"""What is done with many scenarios at once: those that were ticked in the list, or all that its search found."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from scenarios_app.models import Scenario
from scenarios_app.querysets import ScenarioQuerySet
from scenarios_app.services import (
    NotStored,
    add_to_suite,
    archive,
    bring_back,
    create_suite,
    find_suite,
    tag_scenarios,
)
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in, tags_of
from scenarios_app.views.scenarios import WANTED, found_scenarios

# actions that only show a page, which is told the choice in its address
_PAGES = {"export": "scenarios-export", "replace": "scenarios-replace", "table": "scenarios-table"}


def chosen_scenarios(data: QueryDict) -> ScenarioQuerySet:
    """The scenarios that `id` names (several times), in the order of their ids, else all that the search finds."""
    keys = {clean_text(key.lower()) for key in data.getlist("id")}
    rows = Scenario.objects.keyed_any(keys).order_by("key") if keys else found_scenarios(data)
    return rows.with_latest()


def choice_of(data: QueryDict) -> list[tuple[str, str]]:
    """The same choice as pairs for an address or for hidden fields."""
    ids = [("id", str(key)) for key in data.getlist("id")]
    return ids or [(name, said) for name in WANTED if (said := data.get(name, ""))]


@limited_body
@require_POST
def scenarios_chosen(request: HttpRequest) -> HttpResponse:
    """Does what the pressed button says; back in the list a message tells what came of it."""
    data = request.POST.copy()
    if data.get("which") == "found":
        data.setlist("id", [])
    elif not data.getlist("id"):
        messages.error(request, "Nothing is ticked: tick scenarios in the list, or choose all of them.")
        return _back(request)
    action = data.get("action", "")
    if action in _PAGES:
        extra = [("format", data.get("format", ""))] if action == "export" else []
        return redirect(f"{reverse(_PAGES[action])}?{urlencode(choice_of(data) + extra)}")
    if action not in _CHANGES:
        messages.error(request, "That button is unknown. Nothing was changed.")
        return _back(request)
    try:
        said = _CHANGES[action](request, list(chosen_scenarios(data)))
        messages.success(request, said)
    except SpecError as error:
        messages.error(request, f"Nothing was changed. {error}")
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    where = [(name, request.POST[name]) for name in (*WANTED, "page") if request.POST.get(name)]
    return redirect(f"{reverse('scenarios')}?{urlencode(where)}" if where else "scenarios")


def _count(number: int) -> str:
    return f"{number:,} scenario{'' if number == 1 else 's'}"


def _tag(request: HttpRequest, scenarios: list[Scenario]) -> str:
    tags = tags_of(request.POST.get("tags", ""))
    changed = tag_scenarios(scenarios=scenarios, add=tags, user=signed_in(request))
    return f"Tagged {', '.join(tags)}: {_count(len(changed))}, each as a new version."


def _untag(request: HttpRequest, scenarios: list[Scenario]) -> str:
    tags = tags_of(request.POST.get("tags", ""))
    changed = tag_scenarios(scenarios=scenarios, remove=tags, user=signed_in(request))
    return f"Took {', '.join(tags)} off {_count(len(changed))}, each as a new version."


def _suite(request: HttpRequest, scenarios: list[Scenario]) -> str:
    name = request.POST.get("into", "")
    try:
        suite = find_suite(name)
    except NotStored:
        suite = create_suite(name=name)
    added = add_to_suite(suite=suite, scenarios=scenarios)
    there = len(scenarios) - added
    return f"Added {_count(added)} to {suite.name}" + (f"; {there:,} had been there." if there else ".")


def _archive(request: HttpRequest, scenarios: list[Scenario]) -> str:
    return f"Archived {_count(archive(things=scenarios))}: lists and new runs leave them out, old runs keep them."


def _bring_back(request: HttpRequest, scenarios: list[Scenario]) -> str:
    return f"Brought back {_count(bring_back(things=scenarios))}."


_CHANGES: dict[str, Callable[[HttpRequest, list[Scenario]], str]] = {
    "tag": _tag,
    "untag": _untag,
    "suite": _suite,
    "archive": _archive,
    "back": _bring_back,
}
