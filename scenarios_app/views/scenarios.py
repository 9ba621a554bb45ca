"""Scenarios: the list, one scenario with its versions, the difference of two of them."""

from __future__ import annotations

from itertools import pairwise

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from scenarios_app.caller_card import caller_card
from scenarios_app.cards import scenario_card
from scenarios_app.changes import Changed, content_changes
from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.presentation import in_contract_order, pretty_json
from scenarios_app.querysets import ScenarioQuerySet
from scenarios_app.services.scenario_recordings import recordings_of
from scenarios_app.spec.jsontext import clean_text
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.views.differences import scenario_parts
from scenarios_app.views.pages import page_of, two_versions


def scenario_or_404(key: str) -> Scenario:
    scenario: Scenario = get_object_or_404(Scenario.objects.with_latest().keyed(key))
    return scenario


WANTED = ("q", "tag", "suite", "sort", "archived")  # what a search of the list may say


def _wanted(data: QueryDict) -> dict[str, str]:
    return {name: clean_text(data.get(name, "")).strip() for name in WANTED}


def found_scenarios(data: QueryDict) -> ScenarioQuerySet:
    """What the search of the list finds, in its order."""
    wanted = _wanted(data)
    base = Scenario.objects.archived() if wanted["archived"] else Scenario.objects.current()
    return base.matching(wanted["q"]).tagged(wanted["tag"]).in_suite(wanted["suite"]).sorted_by(wanted["sort"])


@require_safe
def scenario_list(request: HttpRequest) -> HttpResponse:
    wanted, rows = _wanted(request.GET), found_scenarios(request.GET)
    base = Scenario.objects.archived() if wanted["archived"] else Scenario.objects.current()
    context = {
        "page": page_of(request, rows.with_latest().prefetch_related("suites")),
        "wanted": wanted,
        "filtered": any(wanted[name] for name in ("q", "tag", "suite")),
        "tags": base.tags(),
        "suites": Suite.objects.current(),
    }
    return render(request, "scenarios_app/scenarios.html", context)


@require_safe
def scenario_page(request: HttpRequest, key: str) -> HttpResponse:
    scenario = scenario_or_404(key)
    return _show_version(request, scenario, scenario.latest)


@require_safe
def scenario_version(request: HttpRequest, key: str, number: int) -> HttpResponse:
    scenario = scenario_or_404(key)
    return _show_version(request, scenario, get_object_or_404(scenario.versions, number=number))


def _show_version(request: HttpRequest, scenario: Scenario, version: ScenarioVersion | None) -> HttpResponse:
    if version is None:
        raise Http404
    found = recordings_of(version.content)
    versions = list(scenario.versions.newest_first())
    context = {
        "scenario": scenario,
        "version": version,
        "card": scenario_card(version.content),
        "caller": caller_card(version.content),
        "versions": versions,
        "changes": _changes(versions),
        "suites": scenario.suites.all(),
        "recordings": found,
        "several": len([row for row in found if row.turn is None]) > 1,
        "editable": version.pk == scenario.latest_id and scenario.archived_at is None,
        "json": pretty_json(in_contract_order(version.content, parse_scenario)),
    }
    return render(request, "scenarios_app/scenario.html", context)


def _changes(versions: list[ScenarioVersion]) -> dict[int, tuple[Changed, ...]]:
    """What each version changed of the one before, by its pk."""
    return {new.pk: content_changes(old.content, new.content) for new, old in pairwise(versions)}


@require_safe
def scenario_diff(request: HttpRequest, key: str) -> HttpResponse:
    scenario = scenario_or_404(key)
    versions = list(scenario.versions.newest_first())
    old, new = two_versions(request, versions)
    context = {
        "thing": scenario,
        "word": "scenario",
        "versions": versions,
        "old": old,
        "new": new,
        "parts": scenario_parts(old.content, new.content),
    }
    return render(request, "scenarios_app/diff.html", context)
