"""Test connection as people press it: the page waits, shows what came of it, and stays where it is."""

from __future__ import annotations

import re

import pytest

from tests.browser import Chrome
from tests.runs.builders import make_configuration
from tests.scripted_events import session_created, session_updated
from tests.scripted_server import Expect, Pause, Send, serving_in_thread

pytestmark = pytest.mark.browser


def test_the_button_waits_for_the_answer_and_shows_it_in_place(chrome: Chrome) -> None:
    slow = [Send(session_created()), Expect("session.update"), Pause(700), Send(session_updated(voice="cedar"))]
    with serving_in_thread(slow) as server:
        make_configuration(endpoint=server.url)
        page = chrome.open("/configurations/Front%20desk/")
        button = page.get_by_role("button", name="Test connection")
        button.click()
        page.wait_for_function("() => document.querySelector('.head form button').disabled")
        page.get_by_text("The session opened").wait_for()
        assert button.is_enabled()
        assert page.url.endswith("/configurations/Front%20desk/")
        page.get_by_text("The session as the server confirmed it").click()
        assert '"voice": "cedar"' in page.locator("#connection").inner_text()
        waited = re.search(r"confirmed it after (\d+)", page.locator("#connection").inner_text())
        assert waited
        assert 700 <= int(waited[1]) < 5000
    button.click()
    page.get_by_text("No session.").wait_for()
    assert "connect" in page.locator("#connection .tag").inner_text()
