"""Templates on the pages for something new: each opens, names itself freely, and is saved as it stands."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from scenarios_app.beginnings import application_templates, configuration_templates, free_name, scenario_templates
from scenarios_app.models import Application, Configuration, Scenario
from tests.authoring.pages import inputs

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["scenarios", "applications", "configurations"])
def test_every_template_opens_and_is_saved_as_it_stands(browser: Client, kind: str) -> None:
    for one in application_templates() if kind == "scenarios" else ():
        browser.post("/applications/new/", {**inputs(browser.get(f"/applications/new/?template={one.name}"))})
    kinds: dict[str, tuple[Any, Any]] = {
        "scenarios": (scenario_templates(), Scenario),
        "applications": (application_templates(), Application),
        "configurations": (configuration_templates(), Configuration),
    }
    offered, model = kinds[kind]
    for one in offered:
        url = f"/{kind}/new/"
        page = browser.get(f"{url}?template={one.name}")
        assert escape(one.hint) in page.content.decode()
        saved = browser.post(url, {**inputs(page), "action": "save"})
        assert saved.status_code == 302, (one.name, saved.content.decode())
        newest = model._default_manager.order_by("-pk").select_related("latest")[0]
        assert newest.latest.content == one.document


def test_a_template_taken_twice_has_another_name(browser: Client) -> None:
    for _ in range(2):
        page = browser.get("/scenarios/new/?template=numbers")
        browser.post("/scenarios/new/", {**inputs(page), "action": "save"})
        page = browser.get("/configurations/new/?template=azure")
        browser.post("/configurations/new/", {**inputs(page), "action": "save"})
    assert list(Scenario.objects.values_list("key", flat=True)) == ["my_numbers", "my_numbers-copy"]
    assert list(Configuration.objects.values_list("name", flat=True)) == ["My Azure agent", "My Azure agent 2"]


def test_an_unknown_template_is_not_there(browser: Client) -> None:
    for kind in ("scenarios", "applications", "configurations"):
        assert browser.get(f"/{kind}/new/?template=nothing").status_code == 404


def test_a_copy_and_a_form_that_was_sent_offer_no_templates(browser: Client) -> None:
    browser.post("/scenarios/new/", {**inputs(browser.get("/scenarios/new/?template=numbers")), "action": "save"})
    assert "Begin with" in browser.get("/scenarios/new/").content.decode()
    assert "Begin with" not in browser.get("/scenarios/new/?from=my_numbers").content.decode()
    assert "Begin with" not in browser.post("/scenarios/new/", inputs(browser.get("/scenarios/new/"))).content.decode()


def test_a_free_name_is_the_name_or_the_first_number() -> None:
    assert free_name([], "Desk") == "Desk"
    assert free_name(["desk", "Desk 2", "Other"], "Desk") == "Desk 3"
