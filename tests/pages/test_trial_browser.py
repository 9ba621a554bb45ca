"""Listening to a trial in a real browser. One site and one page serve several steps: starting them takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.trials import spoken_trial
from tests.services import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def audio(page: Page, what: str) -> float | bool:
    return page.evaluate(f"document.querySelector('audio').{what}")  # type: ignore[no-any-return]


# both waves have ink that is not all of one line
DRAWN = """() => [...document.querySelectorAll(".wave canvas")].every((canvas) => {
  const {data, width, height} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return [...Array(width).keys()].some((x) => data[(Math.floor(height * 0.2) * width + x) * 4 + 3] > 0); })"""


def seconds(page: Page) -> float:
    return float(audio(page, "currentTime"))


@pytest.fixture
def page(site: Site, chrome: Chrome) -> Page:
    page = chrome.open(f"/trials/{spoken_trial().pk}/")
    eventually(lambda: audio(page, "readyState >= 1"), what="the recording is known to the browser")
    return page


@pytest.mark.case("C11")
def test_a_recording_is_played_sought_and_heard_by_its_parts(page: Page) -> None:
    """C11"""
    page.get_by_role("button", name="Play", exact=True).click()
    eventually(lambda: seconds(page) > 0.2, what="time advances")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    assert audio(page, "paused")

    page.locator(".turn.agent .at").first.click()
    assert seconds(page) == pytest.approx(1.8, abs=0.05)
    eventually(lambda: page.locator(".turn.agent.now").count() == 1, what="the transcript follows")

    page.keyboard.press("[")
    assert seconds(page) == pytest.approx(0.0, abs=0.05)
    page.keyboard.press("]")
    assert seconds(page) == pytest.approx(1.8, abs=0.05)

    eventually(lambda: page.evaluate(DRAWN), what="the waves are drawn")
    box = page.locator('[data-lane="caller"]').bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    eventually(lambda: abs(seconds(page) - 1.7) < 0.05, what="a click in the middle of the wave seeks there")

    agent_alone = page.get_by_role("button", name="R agent")
    agent_alone.click()
    assert agent_alone.get_attribute("aria-pressed") == "true"

    end_s = float((page.locator("[data-player]").get_attribute("data-hear") or "").split()[1]) / 1000
    page.locator("#hear").click()
    eventually(lambda: audio(page, "paused") and seconds(page) >= end_s - 0.05, what="the evidence has been played")


def test_keys_are_listed_and_details_are_tabs(page: Page) -> None:
    page.keyboard.press("?")
    listed = page.locator("#keys tbody").inner_text()
    assert "Play or pause" in listed
    assert "Next turn" in listed
    page.get_by_role("button", name="Close").click()

    page.get_by_role("link", name="Events").click()
    assert page.locator("#events").is_visible()
    assert not page.locator("#verdict").is_visible()
    assert page.url.endswith("#events")
