"""The button "Test connection": a real session against a scripted server, told in words, with no secret in them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.configurations import find_configuration, save_configuration
from tests.runs.builders import configuration, make_configuration
from tests.scripted_events import session_created, session_updated
from tests.scripted_server import Expect, Send, Session, serving_in_thread

pytestmark = pytest.mark.django_db(transaction=True)  # the view reads in a thread of its own

KEY = "sk-test-0123456789abcdef"


def url_of(version: ConfigurationVersion) -> str:
    return reverse("configuration-connection", args=[version.configuration.name, version.number])


def page_of(client: Client, version: ConfigurationVersion, **headers: str) -> str:
    response = client.post(url_of(version), headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def confirming(session: Session) -> Any:
    """Confirms what was asked with a faster voice and without the temperature; repeats the headers it got."""
    asked = dict(session.events("session.update")[0]["session"])
    asked.pop("temperature")
    speed = {"speed": 1.5, **asked["audio"]["output"], "voice": "cedar"}
    asked["audio"] = {**asked["audio"], "output": speed}
    return session_updated(**asked, echo=dict(session.headers)["authorization"])


SCRIPT = [Send(session_created()), Expect("session.update"), Send(confirming)]


def test_the_resolved_session_is_shown_with_what_the_server_changed(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    with serving_in_thread(SCRIPT) as server:
        settings.SOUNDCHECK_SECRETS = f"AGENT_KEY=ws://127.0.0.1:{server.port}"
        version = make_configuration(
            endpoint=f"{server.url}?seed={{{{run.seed}}}}",
            headers={"Authorization": "Bearer {{secrets.AGENT_KEY}}"},
            mode="audio",
            voice="marin",
            session_update={"temperature": 0.8},
        )
        page = page_of(signed_in, version)
    (session,) = server.sessions
    assert session.headers["authorization"] == f"Bearer {KEY}"
    assert session.path.endswith("?seed=0&model=voice-1")
    assert session.types(appends=True) == ["session.update"]
    assert session.events("session.update")[0]["session"]["tools"][0]["name"] == "create_reservation"
    assert "The session opened" in page
    assert "audio.output.voice" in page
    assert "marin" in page
    assert "cedar" in page
    assert "Not mentioned by the server" in page
    assert "<code>temperature</code>" in page
    assert "sess_1" in page
    assert "seed=0" not in page
    assert KEY not in page


def test_htmx_gets_the_panel_alone_and_a_browser_without_scripts_a_page(signed_in: Client) -> None:
    version = make_configuration(endpoint="ws://127.0.0.1:9/v1/realtime")
    panel = page_of(signed_in, version, HX_Request="true")
    assert "<html" not in panel
    assert "No session." in panel
    page = page_of(signed_in, version)
    assert "<html" in page
    assert "Back to the configuration" in page


def test_a_refusal_is_told_by_its_stage_and_repeats_no_key(signed_in: Client) -> None:
    body = f"Incorrect API key provided: {KEY}"
    with serving_in_thread([], refuse=401, refuse_body=body) as server:
        version = make_configuration(endpoint=server.url, headers={"Authorization": f"Bearer {KEY}"})
        page = page_of(signed_in, version)
    assert "authorisation" in page
    assert "HTTP 401: Incorrect API key provided: [removed]" in page
    assert "The agent refused our key or account." in page
    assert "this looks like a key" in page
    assert KEY not in page


def test_a_secret_that_may_not_go_there_is_not_sent(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    settings.SOUNDCHECK_SECRETS = "AGENT_KEY=wss://elsewhere.example"
    with serving_in_thread(SCRIPT) as server:
        version = make_configuration(endpoint=server.url, headers={"X-Key": "{{secrets.AGENT_KEY}}"})
        page = page_of(signed_in, version)
    assert server.upgrades == []
    assert "may not be sent to" in page
    assert '<span class="tag mono">configuration</span>' in page
    assert KEY not in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"endpoint": "simulator"}, "no simulator runs"),
        (
            {"session_update": {"audio": {"output": {"format": {"type": "audio/opus"}}}}},
            "no engine reads anything else",
        ),
        ({"application": {"name": "Trattoria", "version": 9}}, "has no version"),
    ],
)
def test_what_cannot_be_tried_is_told_without_a_connection(
    signed_in: Client, settings: Any, changes: dict[str, Any], said: str
) -> None:
    settings.SIMULATOR_URL = ""
    assert said in page_of(signed_in, make_configuration(**changes))


def test_warnings_that_need_no_connection_stand_beside_what_came_of_it(signed_in: Client) -> None:
    beta = {"OpenAI-Beta": "realtime=v1"}
    with serving_in_thread([Send(session_created()), Expect("session.update"), Send(session_updated())]) as server:
        page = page_of(signed_in, make_configuration(endpoint=server.url, headers=beta))
    assert "asks for the beta dialect" in page
    assert "The session opened" in page


def test_an_older_version_is_tested_as_it_was(signed_in: Client) -> None:
    script = [Send(session_created()), Expect("session.update"), Send(session_updated())]
    with serving_in_thread(script) as server:
        old = make_configuration(endpoint=server.url, instructions="The old one.")
        newer = configuration(endpoint=server.url, instructions="The new one.")
        save_configuration(configuration=find_configuration("Front desk"), content=newer)
        page_of(signed_in, old)
    asked = server.sessions[0].events("session.update")[0]["session"]["instructions"]
    assert asked.startswith("The old one.")
    assert '"opens": "17:00"' in asked  # the facts of the application, as in a trial


def test_who_may_and_how(client: Client, signed_in: Client) -> None:
    version = make_configuration()
    assert signed_in.get(url_of(version)).status_code == 405
    assert signed_in.post(url_of(version).replace("/1/", "/9/")).status_code == 404
    assert client.post(url_of(version)).status_code == 302
