"""What the editor of scenarios offers while one types: applications, their tools with parameters, tags."""

from __future__ import annotations

from functools import cache
from typing import Any

from scenarios_app.forms.hints import Offers, Schemas
from scenarios_app.models import Application, Scenario
from scenarios_app.services import NotStored, find_application_version


def offers() -> Offers:
    """Tools of the application that a scenario names or, where it names none, of every one. Read when asked, once."""
    return Offers(cache(_tools_of))


def _tools_of(label: str) -> Schemas:
    if not label.strip():
        return _tools(_contents())
    try:
        return _tools([find_application_version(label).content])
    except NotStored:
        return {}


def _contents() -> list[dict[str, Any]]:
    applications = Application.objects.current().select_related("latest")
    return [application.latest.content for application in applications if application.latest]


def _tools(contents: list[dict[str, Any]]) -> Schemas:
    """Of tools with the same name the first counts."""
    found: dict[str, dict[str, Any]] = {}
    for content in contents:
        for tool in content.get("tools", []):
            found.setdefault(tool["name"], tool.get("parameters") or {})
    return found


def known_names(offered: Offers) -> dict[str, Any]:
    """Names for the page's lists of suggestions."""
    return {
        "applications": Application.objects.current().values_list("name", flat=True),
        "tools": sorted(offered.tools_of("")),
        "tags": Scenario.objects.current().tags(),
    }
