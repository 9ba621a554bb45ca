"""Form and JSON side by side in a real browser. One site serves several steps: starting it takes seconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from scenarios_app.models import Scenario, ScenarioDraft
from scenarios_app.services import save_scenario
from tests.services import eventually
from tests.support import make_application, make_scenario, make_user, scenario_json

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOOLS: list[dict[str, Any]] = [
    {
        "name": "find_table",
        "parameters": {
            "type": "object",
            "properties": {"time": {"type": "string"}, "guests": {"type": "integer"}},
            "required": ["time"],
        },
    },
    {"name": "book", "parameters": {"type": "object", "properties": {"room": {"enum": ["terrace", "indoor"]}}}},
]
FOCUSED = "document.activeElement.matches('button') ? document.activeElement.textContent : document.activeElement.name"
TEXT = "\u200fأريد حجز طاولة باسم Nora في الساعة 18:00 👩‍👩‍👧‍👦 予約 שלום"
WRITTEN = {
    "id": "two_tools",
    "title": "Two tools 🍕",
    "interaction": "single_turn",
    "tags": [],
    "input": {"text": TEXT},
    "application": {"initial_state": {}},
    "expected": {
        "answer": "Booked.",
        "tools": {
            "required": [
                {"name": "find_table", "arguments": {"time": {"$any_of": ["18:00", "6 pm"]}, "guests": 4}},
                {"name": "book", "arguments": {"room": "terrace"}},
            ]
        },
    },
}


def shown(page: Page) -> Any:
    """What the JSON side holds, or its text while that is no JSON."""
    text = page.locator("#id_text_json").input_value()
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_what_is_written_in_the_form_is_the_json_beside_it_and_back(site: Site, chrome: Chrome) -> None:
    make_application("Hotel", tools=TOOLS)
    page = chrome.open("/scenarios/new/")
    for label, text in (("Id", "two_tools"), ("Title", "Two tools 🍕"), ("Answer", "Booked.")):
        page.get_by_label(label, exact=True).fill(text)
    page.locator("#id_text").fill(TEXT)
    for index, tool in enumerate(("find_table", "book")):
        page.get_by_role("button", name="Add a required call").click()
        page.locator(f"[name=required-{index}-name]").fill(tool)
        page.keyboard.press("Tab")
        page.locator(f"[name=required-{index}-args-0-value]").wait_for()
    page.locator("[name=required-0-args-0-match]").select_option(label="is one of")
    page.locator("[name=required-0-args-0-value]").fill("18:00, 6 pm")
    page.locator("[name=required-0-args-1-value]").fill("4")
    page.locator("[name=required-1-args-0-value]").fill("terrace")
    assert page.locator("[name=required-1-args-0-match]").input_value() == "is"
    eventually(lambda: shown(page) == WRITTEN, what="the JSON says what the form says")

    changed = json.loads(json.dumps(WRITTEN))
    changed["expected"]["tools"]["required"][0]["arguments"]["guests"] = {"$approx": 4, "tolerance": 1}
    changed["expected"]["diagnostic_terms"] = ["no field shows this"]
    page.locator("#id_text_json").fill(json.dumps(changed, ensure_ascii=False))
    option = page.locator("[name=required-0-args-1-option]")
    eventually(lambda: option.input_value() == "1", what="the form says what the JSON says")
    assert page.locator("[name=required-0-args-1-match]").input_value() == "$approx"
    assert page.locator("#id_text").input_value() == TEXT
    assert page.locator("#id_text").evaluate("field => getComputedStyle(field).direction") == "rtl"
    option.fill("2")
    changed["expected"]["tools"]["required"][0]["arguments"]["guests"]["tolerance"] = 2
    eventually(lambda: shown(page) == changed, what="what no field shows is still there")

    page.locator("#id_text_json").fill('{\n"id": \n}')
    eventually(lambda: page.locator(".gutter b").all_inner_texts() == ["3\n"], what="the line is marked")
    assert page.locator("#form-pane").evaluate("pane => pane.inert") is True
    page.locator("#id_text_json").fill(json.dumps({**changed, "mode": 5}))
    eventually(lambda: page.locator("#notices li").count() == 1, what="what the form cannot show is named")
    page.locator("#id_text_json").fill(json.dumps({**changed, "reference_date": "soon"}))
    error = page.locator("#id_reference_date_error p")
    error.wait_for()
    assert page.locator(".gutter b").count() == 1
    page.get_by_label("Reference date").fill("2027-05-14")
    error.wait_for(state="detached")
    eventually(lambda: page.locator(".gutter b").count() == 0, what="no line is marked any more")
    page.get_by_role("button", name="Save", exact=True).last.click()
    page.wait_for_url("**/scenarios/two_tools/")
    assert page.locator("blockquote.says").inner_text() == TEXT
    latest = Scenario.objects.get(key="two_tools").latest
    assert latest is not None
    assert latest.content == {**changed, "reference_date": "2027-05-14"}


def test_a_scenario_is_written_with_the_keyboard_alone(site: Site, chrome: Chrome) -> None:
    make_application("Hotel", tools=TOOLS)
    make_scenario(tags=["late", "loud"])
    page = chrome.open("/scenarios/new/", width=390)

    def to(name: str) -> None:
        for _ in range(80):
            if page.evaluate(FOCUSED) == name:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {name}")

    for name, text in (("id", "typed"), ("title", "Typed"), ("tags", "late"), ("text", "Hello"), ("answer", "Greets.")):
        to(name)
        page.keyboard.type(text)
    to("Add a required call")
    page.keyboard.press("Enter")
    eventually(
        lambda: page.evaluate("document.activeElement.name") == "required-0-name",
        what="the keyboard is in the new card",
    )
    page.keyboard.type("book")
    page.keyboard.press("Tab")
    page.locator("[name=required-0-args-0-value]").wait_for()
    to("required-0-args-0-value")
    page.keyboard.type("terrace")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Enter")
    page.wait_for_url("**/scenarios/typed/")
    latest = Scenario.objects.get(key="typed").latest
    assert latest is not None
    assert latest.content["expected"]["tools"]["required"] == [{"name": "book", "arguments": {"room": "terrace"}}]
    assert latest.content["tags"] == ["late"]


def test_a_closed_tab_and_a_colleague_cost_nothing(site: Site, chrome: Chrome) -> None:
    scenario = make_scenario(title="First").scenario
    page = chrome.open("/scenarios/book_table/edit/")
    page.get_by_label("Title", exact=True).fill("Half a title")
    page.locator("#draft-state[data-kept] time").wait_for()
    page.close()  # nothing asks: nothing would be lost
    page = chrome.open("/scenarios/book_table/edit/")
    assert page.get_by_label("Title", exact=True).input_value() == "Half a title"
    assert "begun on version 1" in page.locator("#draft-state").inner_text()

    chrome.expect_problem("net::ERR_", "htmx:")
    page.context.set_offline(True)
    page.get_by_label("Source").fill("bug")
    page.get_by_text("What you typed last is not kept: the site cannot be reached").wait_for()
    page.context.set_offline(False)
    page.get_by_label("Source").fill("bug 7")
    page.locator("[data-not-kept]").wait_for(state="detached")
    assert ScenarioDraft.objects.get().fields["source"] == "bug 7"

    save_scenario(scenario=scenario, content=scenario_json(title="Theirs", owner="Bo"), user=make_user("bob"))
    page.get_by_label("Answer", exact=True).fill("Mine.")
    told = page.locator("#meanwhile")
    eventually(lambda: "bob saved version 2" in told.inner_text(), what="the second is told while still typing")
    told.get_by_role("button", name="Bring it in").click()
    eventually(lambda: page.get_by_label("Owner").input_value() == "Bo", what="what bob alone changed is there")
    assert "title" in told.locator("code").all_inner_texts()
    assert shown(page)["title"] == page.get_by_label("Title", exact=True).input_value() == "Half a title"
    page.get_by_role("button", name="Save version 3").last.click()
    page.wait_for_url("**/scenarios/book_table/")
    latest = Scenario.objects.get(key="book_table").latest
    assert latest is not None
    assert (latest.number, latest.title, latest.content["owner"]) == (3, "Half a title", "Bo")
    assert latest.content["expected"]["answer"] == "Mine."

    page = chrome.open("/scenarios/new/")
    page.get_by_label("Title", exact=True).fill("Unfinished")
    page.wait_for_url("**/scenarios/new/?draft=*")
    page.reload()
    assert page.get_by_label("Title", exact=True).input_value() == "Unfinished"
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_text("The draft is thrown away.").wait_for()
    assert page.get_by_label("Title", exact=True).input_value() == ""
