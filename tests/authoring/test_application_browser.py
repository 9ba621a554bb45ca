"""The form of an application in a real browser: a tool written by keyboard, and its connection tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scenarios_app.models import ApplicationVersion
from tests.services import eventually
from tests.site.axe import looks
from tests.support import application_json, make_application

if TYPE_CHECKING:
    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_tool_is_written_without_leaving_the_page(site: Site, chrome: Chrome) -> None:
    make_application()
    page = chrome.open("/applications/Restaurant/edit/")
    page.get_by_label("What it does, and when to call it").fill("Books a table for a guest.")
    page.get_by_role("button", name="Add a tool").press("Enter")
    page.locator("#id_t1name").wait_for()
    eventually(lambda: page.evaluate("() => document.activeElement.id") == "id_t1name", what="the keyboard is in it")
    page.keyboard.type("find_table")
    page.locator('[data-group="t1parameters"] > .btn').press("Enter")
    page.locator("#id_t1parameters-0-key").wait_for()
    page.locator("#id_t1parameters-0-key").fill("day")
    page.locator("#id_t1parameters-0-type").select_option("string")
    page.locator('[data-group="t1answers"] > .btn').press("Enter")
    page.locator("#id_t1answers-0-result").wait_for()
    page.locator("#id_t1answers-0-result").fill('{"free": ')
    page.locator("#id_t1answers-0-result_error p").wait_for()
    page.locator("#id_t1answers-0-result").fill('{"free": true}')
    page.locator("#id_t1answers-0-result_error p").wait_for(state="detached")
    assert looks(page) == []
    page.get_by_role("button", name="Save version 2").last.click()
    page.wait_for_url("**/applications/Restaurant/")
    first, second = ApplicationVersion.objects.get(number=2).content["tools"]
    assert first == {**application_json()["tools"][0], "description": "Books a table for a guest."}
    assert second == {
        "name": "find_table",
        "parameters": {"properties": {"day": {"type": "string"}}},
        "answers": [{"result": {"free": True}}],
    }
