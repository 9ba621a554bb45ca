"""Suites: the list, and one suite with its rule and its scenarios in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.models import Scenario, Suite
from scenarios_app.services import (
    NotStored,
    add_to_suite,
    create_suite,
    find_scenario,
    move_in_suite,
    remove_from_suite,
    save_suite_rule,
    suite_members,
)
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.pages import page_of, suite_or_404, tags_of


@require_http_methods(["GET", "HEAD", "POST"])
def suite_list(request: HttpRequest) -> HttpResponse:
    """All suites; a POST makes an empty one."""
    context: dict[str, Any] = {"q": request.GET.get("q", "").strip(), "name": request.POST.get("name", "")}
    if request.method == "POST":
        try:
            return redirect(create_suite(name=context["name"]))
        except SpecError as error:
            context["problems"] = [problem.message for problem in error.problems]
    rows = Suite.objects.current().matching(context["q"]).annotate(size=Count("entries")).order_by("name")
    return render(request, "scenarios_app/suites.html", {**context, "page": page_of(request, rows)})


@require_http_methods(["GET", "HEAD", "POST"])
def suite_page(request: HttpRequest, name: str) -> HttpResponse:
    """The scenarios in order; a POST adds, removes or moves one, or sets the suite's rule."""
    suite = suite_or_404(name)
    context: dict[str, Any] = {"suite": suite, **_rule_shown(suite)}
    if request.method == "POST":
        problem = _change(request, suite)
        if not problem:
            return redirect(suite)
        context |= {"problem": problem, "typed": request.POST.get("ids", "")}
        context |= {f"rule_{name}": request.POST[name] for name in ("all", "none") if name in request.POST}
    context |= {"page": page_of(request, suite_members(suite)), "tags": Scenario.objects.current().tags()}
    return render(request, "scenarios_app/suite.html", context)


def _change(request: HttpRequest, suite: Suite) -> str:
    """Does what the form asks for. Returns what is wrong with it, or ""."""
    action, key = request.POST.get("action", ""), request.POST.get("key", "")
    if action in WHOLE:
        return WHOLE[action](request, suite)
    scenario = suite.scenarios.filter(key__iexact=key).first()
    if scenario is None:
        return f"{key or 'that scenario'} is not in this suite any more"
    if action == "remove":
        _remove(request, suite, scenario)
    elif action in ("up", "down"):
        move_in_suite(suite=suite, scenario=scenario, by=-1 if action == "up" else 1)
    else:
        return "that button is unknown"
    return ""


def _remove(request: HttpRequest, suite: Suite, scenario: Scenario) -> None:
    if remove_from_suite(suite=suite, scenario=scenario):
        messages.success(request, f"{scenario.key} is no longer in {suite.name}. The scenario itself stays.")
    else:
        messages.warning(request, f"{scenario.key} stays: the suite's rule holds it. Change its tags, or the rule.")


def _rule_shown(suite: Suite) -> dict[str, Any]:
    return {f"rule_{name}": ", ".join(suite.rule.get(name, ())) for name in ("all", "none")}


def _rule(request: HttpRequest, suite: Suite) -> str:
    rule = {name: tags for name in ("all", "none") if (tags := tags_of(request.POST.get(name, "")))}
    try:
        save_suite_rule(suite=suite, rule=rule)
    except SpecError as error:
        return "; ".join(problem.message for problem in error.problems)
    messages.success(request, "The suite follows this rule now." if rule else "The suite has no rule any more.")
    return ""


def _add(request: HttpRequest, suite: Suite) -> str:
    keys = request.POST.get("ids", "").replace(",", " ").split()
    if not keys:
        return "name at least one scenario id"
    try:
        scenarios: list[Scenario] = [find_scenario(key) for key in keys]
    except NotStored as error:
        return str(error)
    added = add_to_suite(suite=suite, scenarios=scenarios)
    messages.success(request, f"{added} added." if added else "They were in the suite already.")
    return ""


WHOLE: dict[str, Callable[[HttpRequest, Suite], str]] = {
    "add": _add,
    "rule": _rule,
}
