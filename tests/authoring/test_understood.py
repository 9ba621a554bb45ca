"""Which sentences of a prompt the simulator heeds, in the editor and on the page of a configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from scenarios_app.services.understanding import understand
from tests.authoring.pages import inputs
from tests.services import eventually, free_port
from tests.simulator.wire_client import Simulator
from tests.speech_server import Answer, speech_server
from tests.support import make_configuration

if TYPE_CHECKING:
    from tests.browser import Chrome, Site

PROMPT = "You are the desk of <Bella>.\nRead the details back. Be kind.\nDo not offer alternatives."
EDITOR = "/configurations/understood/"
PAGE = "/configurations/Front%20desk/versions/1/understood/"


@pytest.fixture
def running(simulator: Simulator, settings: Any) -> None:
    settings.SIMULATOR_URL = simulator.http


def heeded(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<u class="heeded">([^<]*)</u><small class="heeded-as">([^<]*)</small>', page)


def test_the_pieces_make_up_the_instructions_again(running: None) -> None:
    parts = understand(instructions=PROMPT, endpoint="simulator")
    assert parts is not None
    assert "".join(part.text for part in parts) == PROMPT
    assert [(part.text, part.heeded) for part in parts if part.heeded] == [
        ("Read the details back.", ("read back",)),
        ("Do not offer alternatives.", ("not: offer alternatives",)),
    ]


def test_editor_and_page_underline_what_is_heeded_and_mark_the_rest(browser: Client, running: None) -> None:
    make_configuration(endpoint="simulator", instructions=PROMPT)
    page = browser.get("/configurations/Front%20desk/").content.decode()
    assert f'hx-get="{PAGE}"' in page
    editor = browser.get("/configurations/Front%20desk/edit/")
    assert f'hx-post="{EDITOR}"' in editor.content.decode()
    typed = {**inputs(editor), "instructions": f"{PROMPT}\r\nBe brief."}
    for shown, more in (
        (browser.get(PAGE), []),
        (browser.post(EDITOR, typed), [("Be brief.", "be brief")]),
    ):
        text = shown.content.decode()
        told = [("Read the details back.", "read back"), ("Do not offer alternatives.", "not: offer alternatives")]
        assert heeded(text) == told + more
        assert 'A real model would read this">You are the desk of &lt;Bella&gt;.\n</span>' in text
        assert "a real model would read this" in text


@pytest.mark.parametrize("why", ["another endpoint", "no simulator", "nobody answers", "nonsense", "no instructions"])
def test_where_no_simulator_can_say_the_pages_say_nothing(
    browser: Client, running: None, settings: Any, why: str
) -> None:
    endpoint = "wss://agent.example/v1/realtime" if why == "another endpoint" else "simulator"
    make_configuration(endpoint=endpoint, instructions="" if why == "no instructions" else PROMPT)
    typed = inputs(browser.get("/configurations/Front%20desk/edit/"))
    with speech_server([Answer(b'{"spans": [{"start": "x"}]}')]) as nonsense:
        if why == "no simulator":
            settings.SIMULATOR_URL = ""
        elif why == "nobody answers":
            settings.SIMULATOR_URL = f"http://127.0.0.1:{free_port()}"
        elif why == "nonsense":
            settings.SIMULATOR_URL = nonsense.url
        assert browser.get(PAGE).status_code == 204
        shown = browser.post(EDITOR, typed)
    assert shown.status_code == 200
    assert heeded(shown.content.decode()) == []
    assert "a real model would read this" not in shown.content.decode()
    assert (shown.content.strip() == b"") == (why == "no instructions")
    assert (nonsense.asked != []) == (why == "nonsense")


def test_strangers_and_broken_forms_are_turned_away(browser: Client, running: None) -> None:
    make_configuration(endpoint="simulator", instructions=PROMPT)
    assert Client().get(PAGE).status_code == 302
    assert Client().post(EDITOR, {}).status_code in (302, 403)
    assert browser.post(EDITOR, {"view": "form", "document": "{broken"}).status_code == 400
    assert browser.get(PAGE.replace("/1/", "/9/")).status_code == 404
    assert 'hx-post="/configurations/understood/"' not in browser.get("/applications/new/").content.decode()


@pytest.mark.browser
@pytest.mark.slow
def test_what_is_typed_is_underlined_a_moment_later(simulator: Simulator, site: Site, chrome: Chrome) -> None:
    site.restart(SIMULATOR_URL=simulator.http)
    make_configuration(endpoint="simulator", instructions=PROMPT)
    page = chrome.open("/configurations/Front%20desk/")
    page.locator("u.heeded", has_text="Read the details back.").wait_for()

    page.goto(f"{site.url}/configurations/Front%20desk/edit/")
    shown = page.locator("#understood pre")
    shown.wait_for()
    page.get_by_label("Instructions", exact=True).fill(
        "If you are stuck, put the caller through to a colleague. Smile."
    )
    eventually(
        lambda: shown.locator("u").all_inner_texts() == ["If you are stuck, put the caller through to a colleague."],
        what="the new sentence is underlined",
    )
    assert shown.locator(".unheeded").inner_text().strip() == "Smile."
    page.get_by_label("Endpoint").first.fill("wss://agent.example/v1/realtime")
    eventually(lambda: shown.count() == 0, what="another agent is not spoken for")
    page.get_by_label("Endpoint").first.fill("simulator")
    shown.wait_for()
    assert page.locator("#notices .problem-list li").count() == 0
