"""Make every picture of the docs anew: from a fresh data folder, with the demo run, in a real browser.

    python scripts/screenshots.py

Takes about five minutes. The pictures of docs/first-steps.md are made by scripts/walk.py.
"""

from __future__ import annotations

import re

from playwright.sync_api import Page
from stage import Stage, browser_page, fresh_site, picture, sign_in

RUN_S = 600
TRIES = 6  # of trials that a busy machine made invalid
QUESTION = "/scenarios/booking_date_corrected/"


def open_page(page: Page, stage: Stage, path: str) -> None:
    page.goto(stage.url + path, wait_until="networkidle")


def running(page: Page, stage: Stage) -> None:
    open_page(page, stage, "/runs/1/")
    page.locator(".dot.passed, .dot.failed").nth(7).wait_for(timeout=RUN_S * 1000)
    picture(page, "run-live")


def finished(page: Page, stage: Stage) -> None:
    """The demo run to its end, with what this machine was too busy for tried again."""
    for _ in range(TRIES):
        open_page(page, stage, "/runs/1/")
        page.locator("#results").wait_for(timeout=RUN_S * 1000)
        again = page.get_by_role("button", name="Retry invalid")
        if not again.count():
            return
        again.click()
        page.wait_for_url(re.compile(r"/runs/\d+/$"))
        page.locator("#results").wait_for(state="detached", timeout=30_000)


def after_the_run(page: Page, stage: Stage) -> None:
    open_page(page, stage, "/")
    picture(page, "home")
    open_page(page, stage, "/runs/1/")
    page.locator("summary", has_text="Export").click()
    picture(page, "run-results", height=520)
    page.locator(".failures a").first.click()
    page.wait_for_load_state("networkidle")
    picture(page, "trial", height=980)
    page.locator(".tabs a", has_text="Tools").click()
    picture(page, "trial-tools", height=820)
    open_page(page, stage, "/compare/?run=1")
    picture(page, "compare", height=1000)
    open_page(page, stage, "/compare/?run=1&open=booking_date_corrected#booking_date_corrected")
    page.locator("tr.opened canvas").first.wait_for()
    picture(page, "compare-row", height=1000)


def authoring(page: Page, stage: Stage) -> None:
    open_page(page, stage, QUESTION)
    picture(page, "scenario")
    open_page(page, stage, f"{QUESTION}edit/")
    page.locator("[data-group=required]").evaluate("group => scrollTo(0, group.offsetTop - 420)")
    picture(page, "scenario-editor", height=980)
    open_page(page, stage, "/configurations/Front desk/")
    picture(page, "configuration", height=640)
    page.get_by_role("button", name="Test connection").click()
    page.locator("#connection section").wait_for(timeout=30_000)
    picture(page, "connection", height=560)


def console(page: Page, stage: Stage) -> None:
    open_page(page, stage, "/applications/Copper Heron/console/")
    for name, value in (("date", "2027-05-29"), ("time", "19:00"), ("party_size", "4")):
        page.get_by_label(re.compile(f"^{name}")).first.fill(value)
    page.get_by_role("button", name="Call it").last.click()
    page.wait_for_load_state("networkidle")
    picture(page, "console", height=640)


def new_run(page: Page, stage: Stage) -> None:
    open_page(page, stage, "/runs/new/")
    page.get_by_label("Suite", exact=True).select_option("demo-full")
    for label in ("Front desk@1", "Front desk@2"):
        page.get_by_label(label).first.check()
    page.locator("#estimate .sum").wait_for()
    picture(page, "new-run", height=940)


def main() -> None:
    with fresh_site() as stage, browser_page() as page:
        sign_in(page, stage)
        running(page, stage)
        authoring(page, stage)
        console(page, stage)
        new_run(page, stage)
        finished(page, stage)
        after_the_run(page, stage)


if __name__ == "__main__":
    main()
