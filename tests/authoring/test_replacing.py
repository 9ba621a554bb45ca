"""Find and replace over many scenarios: the preview, the yes, and what stops it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services import save_scenario
from tests.authoring.pages import inputs
from tests.support import make_scenario, scenario_json

pytestmark = pytest.mark.django_db

URL = "/scenarios/replace/"


def says(key: str) -> str:
    version = Scenario.objects.get(key=key).latest
    assert version is not None
    return str(version.content["input"]["text"])


def sent(response: Any, **more: Any) -> dict[str, Any]:
    return {**inputs(response), "field": ["says"], **more}


def two() -> None:
    make_scenario("a", input={"text": "A table, please. The table by the window."})
    make_scenario("b", input={"text": "A chair, please."})
    make_scenario("c", input={"text": "Tables for ten."}, tags=["x"])


def test_the_preview_stores_nothing_and_the_yes_makes_one_version_each(browser: Client) -> None:
    two()
    preview = browser.get(URL, {"find": "table", "put": "desk", "field": ["says"]})
    page = preview.content.decode()
    assert "Replace in 2 scenarios" in page
    assert "<del>table</del>" in page
    assert "<ins>desk</ins>" in page
    assert ScenarioVersion.objects.count() == 3
    assert browser.post(URL, sent(preview)).headers["Location"] == "/scenarios/"
    assert [says(key) for key in "abc"] == [
        "A desk, please. The desk by the window.",
        "A chair, please.",
        "desks for ten.",
    ]
    version = ScenarioVersion.objects.get(scenario__key="a", number=2)
    assert version.note == "replaced “table” by “desk”"
    assert version.created_by is not None
    assert ScenarioVersion.objects.count() == 5


def test_only_the_choice_is_looked_through(browser: Client) -> None:
    two()
    preview = browser.get(URL, {"find": "table", "put": "desk", "field": ["says"], "tag": "x"})
    assert [one.scenario.key for one in preview.context["found"]] == ["c"]
    ticked = browser.get(URL, {"find": "table", "put": "desk", "field": ["says"], "id": ["A", "b"]})
    browser.post(URL, sent(ticked, id=["A", "b"]))
    assert says("c") == "Tables for ten."
    assert says("a").startswith("A desk")


def test_a_yes_to_what_has_changed_meanwhile_shows_it_again(browser: Client) -> None:
    two()
    preview = browser.get(URL, {"find": "table", "put": "desk", "field": ["says"]})
    scenario = Scenario.objects.get(key="a")
    save_scenario(scenario=scenario, content=scenario_json("a", input={"text": "No table at all."}))
    again = browser.post(URL, sent(preview))
    assert "Somebody saved scenarios" in again.content.decode()
    assert says("a") == "No table at all."
    browser.post(URL, sent(again))
    assert says("a") == "No desk at all."


def test_a_result_that_is_no_scenario_stops_all_of_it(browser: Client) -> None:
    two()
    preview = browser.get(URL, {"find": "A chair, please.", "put": "", "field": ["says"]})
    response = browser.post(URL, sent(preview))
    assert "b.input.text: must not be empty" in response.content.decode()
    assert ScenarioVersion.objects.count() == 3


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"find": ""}, "say what to look for"),
        ({"find": "table", "field": []}, "choose at least one field"),
        ({"find": "unicorn", "field": ["says"]}, "Nothing matches"),
        ({}, "Show what would change"),
    ],
)
def test_the_page_says_what_is_missing(browser: Client, query: dict[str, Any], told: str) -> None:
    two()
    assert told in browser.get(URL, query).content.decode()
