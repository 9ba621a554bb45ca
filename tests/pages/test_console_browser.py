"""The console in a real browser: by keyboard alone, at any width, with nothing in the browser's console."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.test_console import BOOK, URL
from tests.support import make_application

if TYPE_CHECKING:
    from tests.browser import Chrome, Site

pytestmark = pytest.mark.browser


def test_a_tool_is_called_by_keyboard_and_the_next_call_starts_from_the_state(site: Site, chrome: Chrome) -> None:
    make_application(tools=[BOOK, {"name": "ping", "answers": [{"result": "pong"}]}])
    page = chrome.open("/applications/Restaurant/")
    page.get_by_role("link", name="Try its tools").click()
    page.get_by_label("name required").fill("Nora")
    page.get_by_label("size required").fill("3")
    page.keyboard.press("Enter")
    page.get_by_text("What came back").wait_for()
    assert page.get_by_label("State, as JSON").input_value() == '{\n  "last": "R-1"\n}'
    assert page.get_by_label("name required").input_value() == "Nora"
    page.get_by_label("seating").select_option("terrace")
    page.get_by_label("Make it fail").fill("error:closed")
    page.get_by_role("button", name="Call it").last.click()
    page.get_by_text("made to fail").wait_for()
    assert '"R-1"' in page.get_by_label("State, as JSON").input_value()
    page.get_by_role("button", name="ping").click()
    page.get_by_role("heading", name="ping").wait_for()
    assert '"R-1"' in page.get_by_label("State, as JSON").input_value()


def test_nothing_runs_out_of_a_narrow_page(site: Site, chrome: Chrome) -> None:
    make_application(tools=[BOOK, {"name": "a_tool_with_quite_a_long_name_that_goes_on_and_on_and_on"}])
    page = chrome.open(URL, width=390)
    page.get_by_role("button", name="Call it").last.click()
    page.get_by_text("What came back").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
