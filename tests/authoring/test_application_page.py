"""An application read out: who answers each tool, and how; and what a save says about it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import Application
from tests.authoring.pages import inputs
from tests.support import application_json, make_application

pytestmark = pytest.mark.django_db

URL = "/applications/Restaurant/"
EDIT = "/applications/Restaurant/edit/"


def words(browser: Client, url: str = URL) -> str:
    response = browser.get(url)
    assert response.status_code == 200
    text = " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())
    return text.replace("&quot;", '"').replace("&#x27;", "'").replace("&lt;", "<")


def test_declared_answers_are_read_out_with_condition_error_effects_and_delay(browser: Client) -> None:
    answers = [
        {"when": "args.size > 8", "error": "too many for {{ args.day }}"},
        {"result": {"ok": True}, "effects": {"booked": True}, "delay_ms": 900},
    ]
    make_application(tools=[{"name": "book", "reads": ["open_days"], "answers": answers}])
    page = words(browser)
    for said in (
        "when args.size > 8 error too many for {{ args.day }}",
        'otherwise { "ok": true } then the state changes by { "booked": true } after 900 ms',
        "Reads of the state: open_days",
        "Try its tools",
    ):
        assert said.replace("> 8", "&gt; 8") in page, said


def test_endpoints_and_classes_are_read_out_and_no_secret_is(
    browser: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGING_KEY", "sk-staging-123")
    settings.SOUNDCHECK_SECRETS = "STAGING_KEY=https://staging.example"
    http = {
        "url": "https://staging.example/tools",
        "headers": {"Authorization": "Bearer {{secrets.STAGING_KEY}}"},
        "timeout": "4s",
        "send_state": True,
        "effects": {"order": "{{ result.id }}"},
    }
    make_application(
        tools=[{"name": "ask", "http": http}, {"name": "compute", "python": "billing"}, {"name": "nothing"}],
    )
    page = words(browser)
    for said in (
        "POST https://staging.example/tools",
        "Bearer {{secrets.STAGING_KEY}}",
        "Time limit 4s",
        "who asks, and the state",
        "{{ result.id }}",
        "Registered as billing",
        "every call of it fails",
    ):
        assert said in page, said
    assert "sk-staging-123" not in page


def test_plain_results_stand_at_their_tool_and_the_rest_apart(browser: Client) -> None:
    make_application(tools=[{"name": "ping"}, {"name": "pong"}], tool_results={"ping": "pang", "other": 1})
    page = words(browser)
    assert 'Always answers "pang"' in page
    assert "calls are recorded and not answered" in page
    assert 'Plain results of other tools { "other": 1 }' in page


def test_the_console_is_one_click_away_for_the_version_on_the_page(browser: Client) -> None:
    make_application()
    values = inputs(browser.get(f"{EDIT}?view=json"))
    browser.post(EDIT, {**values, "text_json": values["text_json"].replace("17:00", "18:00"), "action": "save"})
    assert 'href="/applications/Restaurant/console/"' in browser.get(URL).content.decode()
    old = browser.get(f"{URL}versions/1/").content.decode()
    assert 'href="/applications/Restaurant/console/?version=1"' in old
    assert browser.get("/applications/Restaurant/console/?version=1").status_code == 200


def test_what_no_executor_could_run_stops_a_save_at_its_line(browser: Client) -> None:
    values = inputs(browser.get("/applications/new/?view=json"))
    tools = [{"name": "book", "answers": [{"result": "{{ args.x|random }}"}]}]
    text = json.dumps(application_json(tools=tools), indent=2)
    response = browser.post("/applications/new/", {**values, "text_json": text, "action": "save"})
    (problem,) = response.context["editor"].problems
    assert problem.path == "tools[0].answers[0].result"
    assert "random" in text.splitlines()[problem.line - 1]
    assert not Application.objects.exists()


def test_what_this_site_does_not_allow_is_a_warning_and_the_save_goes_on(browser: Client) -> None:
    values = inputs(browser.get("/applications/new/?view=json"))
    tools = [{"name": "ask", "http": {"url": "https://staging.example/"}}, {"name": "sum", "python": "billing"}]
    text = json.dumps(application_json(tools=tools), indent=2)
    checked = browser.post("/applications/new/", {**values, "text_json": text, "action": "check"})
    said = {problem.path: problem.message for problem in checked.context["editor"].warnings}
    assert "TOOL_ENDPOINTS" in said["tools[0].http.url"]
    assert "TOOL_CLASSES" in said["tools[1].python"]
    assert browser.post("/applications/new/", {**values, "text_json": text, "action": "save"}).status_code == 302
