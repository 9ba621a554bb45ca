"""The road of a newcomer on a real stack: sign in, change a prompt, run it, watch, hear what failed, compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.services import eventually
from tests.up_stack import Stack, stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["stack"]

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(400)]

SENTENCE = "If the caller corrects something, use the corrected value."
CORRECTIONS = {"booking_date_corrected", "booking_size_corrected_later"}


@pytest.fixture
def page(stack: Stack, chromium: Browser) -> Iterator[Page]:
    link = stack.await_up()
    with chromium.new_context(base_url=link.split("/sign-in/")[0], viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(re.compile(r"/$"))
        yield page
    assert problems == []


def edit_scenario(page: Page) -> None:
    page.goto("/scenarios/booking_plain/edit/")
    page.get_by_label("Title").fill("A plain booking, retitled")
    page.get_by_role("button", name=re.compile("^Save")).first.click()
    page.wait_for_url(re.compile(r"/scenarios/booking_plain/"))
    assert page.get_by_role("heading", name="A plain booking, retitled").is_visible()


def remove_the_sentence(page: Page) -> None:
    page.goto("/configurations/Front%20desk/edit/")
    prompt = page.locator("textarea[name=instructions]")
    before = prompt.input_value()
    assert SENTENCE in before
    prompt.fill(before.replace(SENTENCE, ""))
    page.get_by_role("button", name=re.compile("^Save")).first.click()
    page.wait_for_url(re.compile(r"/configurations/Front%20desk/(\?.*)?$"))


def start_run(page: Page) -> None:
    page.goto("/runs/new/")
    page.get_by_label("Suite").select_option(label=suite_label(page))
    for version in ("Front desk@2", "Front desk@3"):
        page.get_by_label(version, exact=False).check()
    page.locator("input[name=repeats]").fill("1")
    page.locator("select[name=real_time]").select_option("no")
    page.get_by_role("button", name=re.compile("Start")).click()
    page.wait_for_url(re.compile(r"/runs/\d+/"))


def suite_label(page: Page) -> str:
    labels = page.get_by_label("Suite").locator("option").all_inner_texts()
    return next(label for label in labels if label.split()[0] == "demo")


def failed_scenarios(page: Page, configuration: str) -> set[str]:
    rows = page.locator("table tr", has=page.get_by_text("failed", exact=True)).filter(has_text=configuration)
    return {row.split()[0] for row in rows.all_inner_texts()}


def test_a_newcomer_learns_that_the_removed_sentence_mattered(page: Page) -> None:
    edit_scenario(page)
    remove_the_sentence(page)
    start_run(page)
    watched = page.url
    eventually(lambda: page.get_by_text("16 of 16").count(), within_s=200, what="rows arrive without a reload")
    eventually(lambda: page.get_by_role("link", name="Compare").count() > 1, within_s=30, what="the run ends")
    assert page.url.split("?")[0] == watched.split("?")[0]
    assert failed_scenarios(page, "Front desk@3") == CORRECTIONS
    assert failed_scenarios(page, "Front desk@2") == set()

    page.get_by_role("link", name="booking_date_corrected").last.click()
    page.wait_for_url(re.compile(r"/trials/\d+/"))
    page.get_by_role("button", name="Play", exact=True).click()
    now = "document.querySelector('audio').currentTime"
    eventually(lambda: page.evaluate(now) > 0.3, what="the recording plays")
    page.locator(".turn.agent .at").first.click()
    eventually(lambda: page.evaluate(now) > 3, what="a click on the agent's words seeks there")

    page.locator("#compare").click()
    page.wait_for_url(re.compile(r"/compare/"))
    assert "Front desk@3" in page.inner_text("main")
    page.get_by_role("navigation", name="View").get_by_role("link", name="Slope", exact=True).click()
    eventually(lambda: page.locator(".js-plotly-plot").count() >= 1, what="the charts are drawn")
