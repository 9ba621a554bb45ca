"""The session that will be sent, to the letter, and no secret's value in it."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.configurations import create_configuration
from tests.runs.builders import make_configuration, make_suite, scenario
from tests.scripted_events import session_created
from tests.scripted_server import Expect, Send, serving_in_thread

KEY = "sk-test-0123456789abcdef"
pytestmark = pytest.mark.django_db(transaction=True)


def shown(client: Client, version: ConfigurationVersion, **query: str) -> str:
    response = client.get(reverse("configuration-session", args=[version.configuration.name, version.number]), query)
    assert response.status_code == 200
    return unescape(response.content.decode())


def events(page: str) -> list[Any]:
    return [json.loads(text) for text in re.findall(r'<pre class="json" tabindex="0">(\{.*?)</pre>', page, re.DOTALL)]


def test_the_preview_is_what_the_server_then_gets(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    with serving_in_thread([Send(session_created()), Expect("session.update")]) as server:
        settings.SOUNDCHECK_SECRETS = f"AGENT_KEY=ws://127.0.0.1:{server.port}"
        version = make_configuration(
            endpoint=f"{server.url}?seed={{{{run.seed}}}}",
            headers={"Authorization": "Bearer {{secrets.AGENT_KEY}}"},
            mode="audio",
            voice="marin",
            session_update={"temperature": 0.8},
        )
        page = shown(signed_in, version)
        signed_in.post(reverse("configuration-connection", args=[version.configuration.name, version.number]))
    (session,) = server.sessions
    (sent,) = events(page)
    assert sent["session"] == session.events("session.update")[0]["session"]
    assert f"'{server.url}?seed=0&model=voice-1'" in page
    assert "-H 'Authorization: Bearer {{secrets.AGENT_KEY}}'" in page
    assert KEY not in page


def test_a_scenario_adds_what_it_lets_the_agent_know_and_nothing_that_is_expected(signed_in: Client) -> None:
    history = [{"role": "user", "text": "Hello?"}, {"role": "assistant", "text": "Good evening."}]
    told = {"text": "A table.", "context": {"summary": "A regular guest.", "history": history}}
    make_suite([scenario("known_guest", input=told)])
    version = make_configuration()
    page = shown(signed_in, version, scenario="Known_Guest")
    opening, *said = events(page)
    assert "A regular guest." in opening["session"]["instructions"]
    assert [event["type"] for event in said] == ["conversation.item.create"] * 2
    assert "The table is booked." not in page
    assert "There is no scenario nobody." in shown(signed_in, version, scenario="nobody")


def test_live_starts_with_its_own_event(signed_in: Client) -> None:
    content = {
        "name": "Live",
        "protocol": "live",
        "endpoint": "wss://agent.example/v1/live/sessions",
        "model": "live-1",
    }
    backend = {"mode": "responses", "model": "thinker"}
    (sent,) = events(shown(signed_in, create_configuration(content={**content, "backend": backend})))
    assert sent["type"] == "session.start"
    assert sent["session"]["model"] == "live-1"


def test_each_secret_tells_whether_it_may_go_where_it_would(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    monkeypatch.setenv("JUDGE_KEY", "judge-0123456789")
    settings.SOUNDCHECK_SECRETS = "AGENT_KEY=wss://agent.example;JUDGE_KEY=https://elsewhere.example"
    version = make_configuration(
        headers={"api-key": "{{secrets.AGENT_KEY}}", "X-Literal-Token": KEY},
        judge={"endpoint": "https://judge.example/v1", "model": "judge-1", "api_key": "{{secrets.JUDGE_KEY}}"},
        caller={"api_key": "{{secrets.NOBODY}}"},
    )
    page = shown(signed_in, version)
    rows = re.findall(r'<tr><th scope="row" class="mono">(.*?)</th><td class="mono">(.*?)</td>.*?outcome (\w+)', page)
    assert rows == [
        ("AGENT_KEY", "headers.api-key", "pass"),
        ("NOBODY", "caller.api_key", "fail"),
        ("JUDGE_KEY", "judge.api_key", "fail"),
    ]
    assert "JUDGE_KEY may not be sent to https://judge.example" in page
    assert "there is no secret NOBODY" in page
    assert re.search(
        r"<code>\{\{secrets\.AGENT_KEY}}</code> <span class=\"muted\">for wss://agent\.example</span>", page
    )
    assert KEY not in page


@pytest.mark.parametrize(
    ("endpoint", "place"),
    [(None, "https://api.openai.com/v1"), ("simulator", "http://127.0.0.1:8800/v1")],
)
def test_the_key_of_a_backend_goes_where_a_trial_asks_it(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, endpoint: str | None, place: str
) -> None:
    monkeypatch.setenv("BACKEND_KEY", KEY)
    settings.SIMULATOR_URL = "http://127.0.0.1:8800"
    settings.SOUNDCHECK_SECRETS = "BACKEND_KEY=https://api.openai.com,http://127.0.0.1:8800"
    backend = {"mode": "responses", "model": "thinker", "api_key": "{{secrets.BACKEND_KEY}}"}
    page = shown(signed_in, make_configuration(backend=backend | ({"endpoint": endpoint} if endpoint else {})))
    (row,) = re.findall(
        r'<td class="mono">backend\.api_key</td><td class="mono wide"><bdi>(.*?)</bdi>.*?outcome (\w+)', page
    )
    assert row == (place, "pass")


def test_what_cannot_be_planned_says_why(signed_in: Client) -> None:
    page = shown(signed_in, make_configuration(application={"name": "Trattoria", "version": 9}))
    assert "There would be no session." in page
    assert "has no version" in page
