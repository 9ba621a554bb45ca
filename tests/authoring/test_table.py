"""Scenarios in a table: nothing is lost in a cell, every problem stands at its cell, all rows are saved or none."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services import find_suite, save_scenario, suite_members
from tests.authoring.pages import inputs
from tests.support import make_scenario, scenario_json

pytestmark = pytest.mark.django_db

URL = "/scenarios/table/"


def row(index: int, **cells: str) -> dict[str, str]:
    return {f"cell-{index}-{name}": text for name, text in cells.items()}


def opened(browser: Client, query: str = "") -> dict[str, str]:
    return inputs(browser.get(f"{URL}{query}"))


def errors(response: Any) -> dict[tuple[int, str], list[str]]:
    return {(one.number, name): said for one in response.context["rows"] for name, said in one.errors.items()}


AWKWARD = scenario_json(
    "awkward",
    title=" two  spaces ",
    tags=["a, b", "plain"],
    input={"text": "line\rbreak\nand\n\ttab", "turns": [{"text": "more"}]},
    interaction="multi_turn",
    critical=True,
    notes="\u202eעברית 🇩🇪",
    tool_faults={"find": {"mode": "empty"}},
)


@pytest.mark.case("E09")
def test_opening_and_saving_changes_nothing(browser: Client) -> None:
    """E09 and E13: any text survives cells that nobody touches, letter for letter."""
    make_scenario("plain")
    make_scenario("awkward", **{key: value for key, value in AWKWARD.items() if key != "id"})
    before = dict(ScenarioVersion.objects.values_list("pk", "content"))
    response = browser.post(URL, {**opened(browser), "action": "save"}, follow=True)
    assert "0 new, 0 changed, 2 left as they were." in response.content.decode()
    assert dict(ScenarioVersion.objects.values_list("pk", "content")) == before


def test_a_changed_cell_changes_that_and_nothing_else(browser: Client) -> None:
    make_scenario("awkward", **{key: value for key, value in AWKWARD.items() if key != "id"})
    browser.post(URL, {**opened(browser, "?id=awkward"), **row(0, answer="Now there is one."), "action": "save"})
    version = ScenarioVersion.objects.get(number=2)
    assert version.content == {**AWKWARD, "expected": {**AWKWARD["expected"], "answer": "Now there is one."}}
    assert version.note == "in the table"


def test_new_rows_and_changed_ones_are_saved_together_and_join_a_suite(browser: Client) -> None:
    make_scenario("a")
    sent = opened(browser) | row(0, title="Mine") | row(2, id="n1", title="New", says="Hello.", tags="x, y")
    sent |= row(4, id="n2", title="Other", says="Bye.", criteria="One\r\nTwo")
    response = browser.post(URL, {**sent, "action": "save", "suite": "fresh"}, follow=True)
    assert "2 new, 1 changed, 0 left as they were. All of them are in fresh." in response.content.decode()
    assert [one.key for one in suite_members(find_suite("fresh"))] == ["a", "n1", "n2"]
    content = Scenario.objects.get(key="n2").latest.content
    assert content == {
        "id": "n2",
        "title": "Other",
        "interaction": "single_turn",
        "input": {"text": "Bye."},
        "expected": {"criteria": ["One", "Two"]},
    }


def test_every_problem_stands_at_its_cell_and_nothing_is_stored(browser: Client) -> None:
    make_scenario("a")
    make_scenario("taken")
    sent = opened(browser, "?id=a") | row(0, title="Changed") | row(1, id="bad id", title="", says="x")
    sent |= row(2, id="N", title="t", says="x") | row(3, id="n", title="t", says="  ")
    response = browser.post(URL, {**sent, "action": "save"})
    assert set(errors(response)) == {(2, "id"), (2, "title"), (4, "id"), (4, "says")}
    assert "row 3 has this id already" in errors(response)[4, "id"]
    page = response.content.decode()
    assert "2 rows to mend" in page
    assert inputs(response)["cell-0-title"] == "Changed"
    late = browser.post(URL, {**opened(browser, "?id=a"), **row(1, id="TAKEN", title="t", says="x"), "action": "save"})
    assert errors(late)[2, "id"] == ["there is a scenario taken already, choose another id"]
    assert ScenarioVersion.objects.count() == 2


def test_somebody_elses_save_is_told_at_the_row_and_not_overwritten(browser: Client) -> None:
    scenario = make_scenario("a").scenario
    make_scenario("b")
    sent = opened(browser) | row(0, title="Mine") | row(1, title="Also mine")
    save_scenario(scenario=scenario, content=scenario_json("a", title="Theirs"))
    response = browser.post(URL, {**sent, "action": "save"})
    assert errors(response) == {(1, ""): ["somebody saved it meanwhile: look again, nothing was changed"]}
    assert ScenarioVersion.objects.count() == 3
    untouched = {**sent, "cell-0-title": "A table for three", "action": "save"}
    browser.post(URL, untouched)
    assert Scenario.objects.get(key="a").latest.title == "Theirs"
    assert Scenario.objects.get(key="b").latest.title == "Also mine"


def test_a_check_and_more_rows_store_nothing(browser: Client) -> None:
    sent = opened(browser, "?new=1") | row(0, id="n", title="t", says="x")
    checked = browser.post(URL, {**sent, "action": "check"})
    assert "Every row is fine" in checked.content.decode()
    more = browser.post(URL, {**sent, "action": "rows"})
    assert inputs(more)["cell-0-id"] == "n"
    assert len(more.context["rows"]) == 11
    assert not Scenario.objects.exists()


def test_a_table_takes_a_hundred_rows_and_says_what_it_leaves_out(browser: Client) -> None:
    for n in range(102):
        make_scenario(f"case_{n:03}")
    response = browser.get(URL)
    assert len(response.context["rows"]) == 100
    assert "2 are left out" in response.content.decode()
    assert len(inputs(response)) < 1000


def test_a_row_of_a_version_that_is_not_there_is_refused(browser: Client) -> None:
    make_scenario("a")
    response = browser.post(URL, {**opened(browser), "base-0": "999999", "action": "save"})
    assert "load the table again" in response.content.decode()
    assert browser.post(URL, {"action": "save"}).status_code in (200, 302)
