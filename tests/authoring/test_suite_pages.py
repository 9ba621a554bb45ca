from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import Scenario, Suite
from scenarios_app.services import archive, find_suite, import_scenarios, suite_members
from tests.support import make_scenario, make_suite, scenario_file, scenario_json

pytestmark = pytest.mark.django_db


def keys(name: str = "demo") -> list[str]:
    return [scenario.key for scenario in suite_members(find_suite(name))]


def demo(*names: str) -> Suite:
    return make_suite("demo", [make_scenario(name).scenario for name in names])


def test_a_suite_is_made_by_its_name(browser: Client) -> None:
    assert browser.post("/suites/", {"name": " Süd "}).headers["Location"] == "/suites/S%C3%BCd/"
    assert Suite.objects.get().name == "Süd"


@pytest.mark.parametrize("name", ["", "a,b", "a@1", "DEMO", "x" * 101])
def test_a_name_that_cannot_be_used_is_said_so(browser: Client, name: str) -> None:
    make_suite("demo")
    response = browser.post("/suites/", {"name": name})
    assert response.status_code == 200
    assert response.context["problems"]
    assert Suite.objects.count() == 1


def test_a_suite_that_has_scenarios_leads_to_a_run_of_it(browser: Client) -> None:
    suite = make_suite("Süd & Co")
    assert "New run" not in browser.get(suite.get_absolute_url()).content.decode()
    make_suite("A/B: Süd & Co", [make_scenario("a").scenario])
    page = browser.get(Suite.objects.get(name="A/B: Süd & Co").get_absolute_url()).content.decode()
    (link,) = re.findall(r'href="(/runs/new/[^"]*)">New run', page)
    assert browser.get(link).context["form"]["suite"].value() == "A/B: Süd & Co"


def test_scenarios_are_added_moved_and_taken_out(browser: Client) -> None:
    demo("a", "b")
    make_scenario("c")
    make_scenario("d")
    browser.post("/suites/demo/", {"action": "add", "ids": "C, d a"})
    assert keys() == ["a", "b", "c", "d"]
    browser.post("/suites/demo/", {"action": "up", "key": "c"})
    browser.post("/suites/demo/", {"action": "down", "key": "d"})
    assert keys() == ["a", "c", "b", "d"]
    browser.post("/suites/demo/", {"action": "remove", "key": "a"})
    assert keys() == ["c", "b", "d"]
    assert Scenario.objects.filter(key="a").exists()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"action": "add", "ids": "a nothing_here"}, "no scenario nothing_here"),
        ({"action": "add", "ids": " "}, "at least one"),
        ({"action": "remove", "key": "z"}, "z is not in this suite"),
        ({"action": "explode", "key": "a"}, "unknown"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(browser: Client, sent: dict[str, str], said: str) -> None:
    demo("a", "b")
    response = browser.post("/suites/demo/", sent)
    assert said in response.content.decode()
    assert keys() == ["a", "b"]


def test_the_export_is_the_file(browser: Client) -> None:
    file = {"schema_version": "1.0", "scenarios": [scenario_json("b"), scenario_json("a")]}
    import_scenarios(data=json.dumps(file).encode(), suite_name="Süd / 1")
    response = browser.get("/suites/S%C3%BCd%20~2F%201/export/")
    assert json.loads(response.content) == file
    assert response.headers["Content-Type"] == "application/json"
    assert "filename*=UTF-8''S%C3%BCd%20-%201-" in response.headers["Content-Disposition"]


def test_archived_members_are_marked(browser: Client) -> None:
    demo("a")
    archive(things=[Scenario.objects.get()])
    assert "archived" in browser.get("/suites/demo/").content.decode()


def test_long_lists_take_few_queries(browser: Client, django_assert_max_num_queries: Any) -> None:
    import_scenarios(data=scenario_file([scenario_json(f"case_{n:03}") for n in range(100)]), suite_name="demo")
    for n in range(30):
        make_suite(f"suite {n}")
    with django_assert_max_num_queries(6):
        browser.get("/suites/demo/")
    with django_assert_max_num_queries(5):
        browser.get("/suites/")
