"""Find and replace over a choice of scenarios: what would change is shown first, and stored on the person's yes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from scenarios_app.diffing import Row, diff_texts
from scenarios_app.models import Scenario
from scenarios_app.services import Edit, save_scenarios
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.replacing import FIELDS, Change, Wanted, parse_wanted, replaced
from scenarios_app.views.chosen import choice_of, chosen_scenarios
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

_SHOWN = 100
_USUAL = ("says", "title", "answer")


@dataclass(frozen=True)
class Found:
    """A scenario with what would change in it."""

    scenario: Scenario
    content: dict[str, Any]
    changes: list[Change]

    @property
    def rows(self) -> list[tuple[str, tuple[Row, ...]]]:
        return [(change.place, diff_texts(change.old, change.new).rows) for change in self.changes]


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenarios_replace(request: HttpRequest) -> HttpResponse:
    """GET asks and, with ?find=, shows what would change; a POST of that preview stores it."""
    data = request.POST if request.method == "POST" else request.GET
    context: dict[str, Any] = _form(data)
    scenarios = list(chosen_scenarios(data))
    context["total"] = len(scenarios)
    if "find" in data:
        try:
            wanted = parse_wanted(data.dict(), data.getlist("field"))
            found = _found(scenarios, wanted)
            if request.method == "POST" and data.get("seen") == _seen(found):
                return _store(request, found, wanted)
            context |= _preview(found, moved=request.method == "POST")
        except SpecError as error:
            context["problems"] = error.problems
    return render(request, "scenarios_app/replace.html", context)


def _form(data: QueryDict) -> dict[str, Any]:
    chosen = data.getlist("field") if "find" in data else list(_USUAL)
    return {
        "choice": choice_of(data),
        "sent": {name: data.get(name, "") for name in ("find", "put", "case", "words")},
        "fields": [(name, label, name in chosen) for name, (label, _) in FIELDS.items()],
        "ticked": bool(data.getlist("id")),
    }


def _found(scenarios: Iterable[Scenario], wanted: Wanted) -> list[Found]:
    found = []
    for scenario in scenarios:
        if scenario.latest is None:
            continue
        content, changes = replaced(scenario.latest.content, wanted)
        if changes:
            found.append(Found(scenario, content, changes))
    return found


def _seen(found: Iterable[Found]) -> str:
    """What the preview showed: a yes means these versions and no other ones."""
    versions = ",".join(str(one.scenario.latest_id) for one in found)
    return hashlib.sha256(versions.encode()).hexdigest()


def _preview(found: list[Found], *, moved: bool) -> dict[str, Any]:
    return {
        "found": found[:_SHOWN],
        "scenarios": len(found),
        "more": max(0, len(found) - _SHOWN),
        "places": sum(len(one.changes) for one in found),
        "seen": _seen(found),
        "moved": moved,
        "looked": True,
    }


def _store(request: HttpRequest, found: list[Found], wanted: Wanted) -> HttpResponse:
    """Raises SpecError when one of the results would be no scenario any more; nothing is stored then."""
    note = f"replaced “{wanted.find}” by “{wanted.put}”"[:500]
    edits = [Edit(one.scenario, one.content) for one in found]
    changed = save_scenarios(edits=edits, user=signed_in(request), note=note)
    plural = "" if len(changed) == 1 else "s"
    messages.success(request, f"Replaced in {len(changed):,} scenario{plural}, each as a new version.")
    return redirect(reverse("scenarios"))
