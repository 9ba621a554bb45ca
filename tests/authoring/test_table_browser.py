"""The table and the list of scenarios in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scenarios_app.models import Scenario
from tests.services import eventually
from tests.site.axe import barriers
from tests.support import make_scenario

if TYPE_CHECKING:
    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PASTED = 'one\tFirst\t"Hello, ""you"",\nthere"\ntwo\tSecond\tBye "now"\r\n'
PASTE = """(cell, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  cell.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def test_cells_are_pasted_from_a_spreadsheet_and_many_are_tagged(site: Site, chrome: Chrome) -> None:
    make_scenario("stored")
    page = chrome.open("/scenarios/table/?id=stored")
    first = page.get_by_label("Id, row 6")
    first.focus()
    first.evaluate(PASTE, PASTED)
    assert page.get_by_label("Caller says, row 6").input_value() == 'Hello, "you",\nthere'
    assert page.get_by_label("Caller says, row 7").input_value() == 'Bye "now"'
    page.get_by_label("Title, row 6").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Title, row 7"
    assert barriers(page) == []
    page.get_by_role("button", name="Save all rows").click()
    page.wait_for_url("**/scenarios/")
    eventually(lambda: Scenario.objects.count() == 3, what="both rows are stored")

    page.get_by_label("Choose every scenario of this page").check()
    page.get_by_label("Choose stored").uncheck()
    assert "2" in page.locator("#id_which option").first.inner_text()
    page.get_by_label("Tags", exact=True).fill("pasted")
    page.get_by_role("button", name="Put on").click()
    page.get_by_text("Tagged pasted: 2 scenarios").wait_for()
    tagged = Scenario.objects.tagged("pasted").order_by("key").values_list("key", flat=True)
    assert list(tagged) == ["one", "two"]

    for path in ("/scenarios/", "/scenarios/table/", "/scenarios/replace/?find=Hello&put=Hi&field=says", "/archive/"):
        narrow = chrome.open(path, width=390)
        assert narrow.evaluate("() => document.documentElement.scrollWidth") <= 390, path
        assert barriers(narrow) == [], path
        narrow.close()
