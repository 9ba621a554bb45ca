"""Test connection of a tool's endpoint."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs_app.realtime.http_tool import HttpTool
from runs_app.views.endpoint import told
from tests.speech_server import Answer, speech_server
from tests.support import application_json, make_application

pytestmark = pytest.mark.django_db

URL = "/applications/Restaurant/tools/ask/endpoint/"


def with_endpoint(url: str, **more: Any) -> None:
    make_application(tools=[{"name": "ask", "http": {"url": url, **more}}, *application_json()["tools"]])


def said(signed_in: Client, url: str = URL) -> str:
    response = signed_in.post(url, headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


def test_an_endpoint_that_is_there_is_reached_and_nothing_is_posted(signed_in: Client, settings: Any) -> None:
    with speech_server([Answer(b"{}")]) as server:
        origin = server.url.removesuffix("/v1")
        settings.TOOL_ENDPOINTS = [origin]
        with_endpoint(f"{origin}/tools?key=1")
        found = said(signed_in)
    assert 'class="message success"' in found
    assert "is there" in found
    assert "key=1" not in found
    assert server.asked == []


def test_without_a_script_the_page_tells_it(signed_in: Client, settings: Any) -> None:
    settings.TOOL_ENDPOINTS = ["http://127.0.0.1:9"]
    with_endpoint("http://127.0.0.1:9/tools")
    page = signed_in.post(URL, follow=True).content.decode()
    assert "could not be asked" in page
    assert 'action="/applications/Restaurant/tools/ask/endpoint/?version=1"' in page


def test_what_the_operator_does_not_allow_is_not_asked(signed_in: Client) -> None:
    with_endpoint("https://staging.example/tools")
    assert "TOOL_ENDPOINTS" in said(signed_in)
    page = signed_in.get("/applications/Restaurant/").content.decode()
    assert "the operator has not listed it in TOOL_ENDPOINTS" in page


@pytest.mark.parametrize("path", ["tools/create_reservation/endpoint/", "tools/nothing/endpoint/"])
def test_only_tools_with_an_endpoint_can_be_tested(signed_in: Client, path: str) -> None:
    with_endpoint("https://staging.example/tools")
    assert signed_in.post(f"/applications/Restaurant/{path}").status_code == 404
    assert signed_in.post(f"{URL}?version=7").status_code == 404
    assert signed_in.get(URL).status_code == 405


@pytest.mark.parametrize(
    ("status", "level", "words"),
    [
        (204, "success", "is there (204)"),
        (405, "success", "takes no OPTIONS"),
        (401, "warning", "lets nobody in"),
        (302, "warning", "redirects are not followed"),
        (503, "warning", "is not well (503)"),
    ],
)
def test_every_answer_is_told_in_words(status: int, level: str, words: str) -> None:
    found = told(HttpTool("https://staging.example/tools?key=s3cr3t"), status)
    assert found[0] == level
    assert words in found[1]
    assert "s3cr3t" not in found[1]


def test_a_preset_opens_the_console_with_its_fault(signed_in: Client) -> None:
    make_application()
    page = signed_in.get("/applications/Restaurant/").content.decode()
    assert "console/?tool=create_reservation&amp;fault=delay%3A3s" in page
    opened = signed_in.get("/applications/Restaurant/console/?tool=create_reservation&fault=delay:3s")
    assert 'value="delay:3s"' in opened.content.decode()
