"""The editors in a real browser. One site serves several steps: starting it takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scenarios_app.models import ConfigurationVersion, ScenarioVersion
from tests.services import eventually
from tests.support import make_configuration, make_scenario, scenario_json

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

    from tests.browser import Chrome, Site

pytestmark = pytest.mark.browser


def problems(page: Page) -> int:
    return page.locator("#notices .problem-list li").count()


def test_a_scenario_is_checked_while_it_is_typed_and_saved(site: Site, chrome: Chrome) -> None:
    make_scenario()
    page = chrome.open("/scenarios/book_table/edit/")
    page.get_by_label("Reference date").fill("soon")
    eventually(lambda: problems(page) == 1, what="the error is listed without a reload")
    assert "must be a date" in page.locator("#id_reference_date_error").inner_text()
    assert page.get_by_label("Reference date").get_attribute("aria-invalid") == "true"

    page.locator("#notices a").first.click()
    assert page.evaluate("document.activeElement.id") == "id_reference_date"
    page.keyboard.press("Control+a")
    page.keyboard.type("2027-05-01")
    eventually(lambda: problems(page) == 0, what="the error goes when it is mended")
    assert page.locator("#id_reference_date_error").inner_text() == ""

    page.get_by_role("button", name="Add a required call").click()
    page.locator("[name=required-1-name]").fill("send_text")
    page.get_by_label("Caller says").fill("Two lines,\nnow.")
    page.get_by_role("button", name="Save version 2").last.dblclick()  # which must not send it twice
    page.wait_for_url("**/scenarios/book_table/")
    assert page.get_by_text("Saved as version 2.").count() == 1
    expected = scenario_json(input={"text": "Two lines,\nnow."}, reference_date="2027-05-01")
    expected["expected"]["tools"]["required"].append({"name": "send_text"})
    assert ScenarioVersion.objects.get(number=2).content == expected


def test_json_has_numbered_lines_and_errors_lead_to_them(site: Site, chrome: Chrome) -> None:
    make_configuration()
    page = chrome.open("/configurations/Front%20desk/edit/")
    page.get_by_role("button", name="JSON").click()
    text = page.locator("#id_text_json")
    content = text.input_value()
    assert page.locator(".gutter > *").count() == content.count("\n") + 1
    text.fill(content.replace("ws://", "ftp://"))
    eventually(lambda: problems(page) == 1, what="the error is listed")
    line = next(n for n, row in enumerate(content.splitlines(), 1) if "ws://" in row)
    assert page.locator(".gutter b").inner_text().strip() == str(line)
    page.locator("#notices a").click()
    chosen = (
        "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)"
    )
    assert "ftp://" in page.evaluate(chosen)

    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.get_by_role("link", name="Cancel").click(no_wait_after=True)
    eventually(lambda: page.evaluate("1") and asked == ["beforeunload"], what="leaving asks first")
    text.fill(content)
    page.get_by_role("button", name="Form").click()
    page.wait_for_selector("#id_instructions")
    assert ConfigurationVersion.objects.count() == 1


@pytest.mark.slow
@pytest.mark.case("E13")
def test_no_script_makes_the_page_scroll_sideways(site: Site, chrome: Chrome) -> None:
    """E13: 400 characters without a space, right-to-left text and an override stay inside 1280 and 390 pixels; each
    text has the direction of its own script."""
    make_scenario("ja", title="予約" * 60, input={"text": "予約をお願いします" * 45})
    make_scenario(
        "ar", title="\u202eoverride", input={"text": "\u200fحجز طاولة باسم Nora الساعة 18:00"}, tags=["t" * 90]
    )
    for width in (1280, 390):
        for path in ("/scenarios/", "/scenarios/ja/", "/scenarios/ar/", "/scenarios/ja/edit/", "/scenarios/ar/edit/"):
            page = chrome.open(path, width=width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
    page = chrome.open("/scenarios/ar/")
    direction = "element => getComputedStyle(element).direction"
    assert page.locator("blockquote.says").evaluate(direction) == "rtl"
    assert page.locator("pre.json").first.evaluate(direction) == "ltr"
    assert chrome.open("/scenarios/ja/").locator("blockquote.says").evaluate(direction) == "ltr"
