"""Runs in daily use in a real browser: choosing scenarios, exports, and being told."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import Chrome, Site
from tests.pages.playing import begin, end, play
from tests.runs.builders import make_configuration, make_run, make_suite, scenario

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Notifications as a page sees them, kept where the test can read them.
NOTED = """
window.noted = [];
window.Notification = class {
  static permission = 'default';
  static async requestPermission() { return (Notification.permission = 'granted'); }
  constructor(title, options) { window.noted.push([title, options.body]); }
  close() {}
};
"""


def test_a_viewer_is_told_of_the_first_failure_and_of_the_end(site: Site, chrome: Chrome):
    run = make_run(4, name="Evening")
    page = chrome.open("/runs/")
    page.add_init_script(NOTED)
    page.goto(f"{site.url}{run.get_absolute_url()}")
    expect(page.locator("#live-mark")).to_have_attribute("data-state", "live", timeout=20_000)
    button = page.locator("#tell-when")
    button.click()
    expect(button).to_have_text("You will be told")
    expect(button).to_have_attribute("aria-pressed", "true")

    play(run, ["passed"])
    expect(page).to_have_title(re.compile("^1/4 · "))
    end(begin(run), "failed", reason="It was booked for five.")
    expect(page).to_have_title(re.compile("^2/4, 1 failed · "))
    end(begin(run), "failed", reason="And again.")
    expect(page).to_have_title(re.compile("^3/4, 2 failed · "))
    assert page.evaluate("window.noted") == [["Evening: first failure", "2 of 4 done: 1 passed, 1 failed, 0 invalid"]]

    play(run, ["passed"])
    expect(page.locator("#results")).to_be_visible()
    assert page.evaluate("window.noted")[1:] == [["Evening: over", "4 of 4 done: 2 passed, 2 failed, 0 invalid"]]
    expect(button).to_be_hidden()

    # what the run came to leaves the page as files, and each is said not to be redacted
    page.get_by_text("Export", exact=True).click()
    expect(page.locator("details.menu[open]")).to_contain_text("Not redacted")
    with page.expect_download() as download:
        page.get_by_role("link", name="JUnit XML").click()
    assert download.value.suggested_filename == f"run-{run.pk}-junit.xml"


def test_scenarios_are_picked_by_tag_and_by_hand(site: Site, chrome: Chrome):
    make_configuration()
    tags = (["booking"], ["booking", "correction"], ["parking"])
    make_suite([scenario(f"case_{number}", tags=list(own)) for number, own in enumerate(tags, 1)])
    page = chrome.open("/runs/new/")
    page.get_by_label("booking").check()
    page.get_by_label("Front desk@1").check()
    expect(page.locator("#estimate")).to_contain_text("2 scenarios")
    page.get_by_text("Scenarios by hand").click()
    page.get_by_label("Find scenarios").fill("PARK case")
    expect(page.locator(".pick-list .box:visible")).to_have_count(1)
    page.locator(".pick-list .box:visible").click()
    expect(page.locator("#pick-count")).to_have_text("1 picked")
    expect(page.locator("#estimate")).to_contain_text("3 scenarios")
    page.get_by_label("Stop after invalid").fill("2")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#run-head")).to_contain_text("stops after 2 invalid")
    expect(page.locator(".matrix tbody tr")).to_have_count(3)
