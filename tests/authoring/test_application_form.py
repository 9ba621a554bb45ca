"""The form of an application: schema and answers as rows, and nothing lost of what it has no field for."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scenarios_app.beginnings import application_templates
from scenarios_app.forms.application import ApplicationForm
from scenarios_app.forms.slots import NotShown
from scenarios_app.models import Application, ApplicationVersion
from scenarios_app.spec.application import parse_application
from tests.authoring.pages import inputs
from tests.support import application_json, make_application

pytestmark = pytest.mark.django_db

EDIT = "/applications/Restaurant/edit/"
ODD: dict[str, Any] = {
    "name": "Odd",
    "facts": {"list": [1, {"x": None}]},
    "tools": [
        {
            "name": "deep",
            "description": "two\nlines",
            "parameters": {
                "type": "object",
                "$defs": {"day": {"type": "string", "format": "date"}},
                "properties": {
                    "day": {"$ref": "#/$defs/day"},
                    "sizes": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
                    "who": {"type": ["string", "null"], "enum": ["a, b", 3, None], "default": "x"},
                    "inner": {"type": "object", "properties": {"y": {"type": "number", "exclusiveMinimum": 0}}},
                },
                "required": [],
                "additionalProperties": False,
            },
            "reads": ["a b"],
            "answers": [{"when": "args.who", "result": None, "delay_ms": 5.0}, {"error": "no"}],
        },
        {"name": "asked", "http": {"url": "https://a.example/x", "headers": {}, "timeout": "5s", "send_state": False}},
        {"name": "classy", "python": "billing", "parameters": {"type": "object", "properties": {}}},
        {"name": "bare"},
    ],
    "tool_results": {"bare": {"ok": True}},
}


def back(document: dict[str, Any], **changes: str) -> dict[str, Any]:
    """What the form makes of what it shows, as a browser sends it."""
    form = ApplicationForm(document)
    sent = {name: str(form[name].value() or "") for name in form.fields} | changes
    merged, problems = ApplicationForm(document, sent).merged()
    assert problems == []
    return merged


@pytest.mark.parametrize("document", [ODD, application_json(), *(one.document for one in application_templates())])
def test_opening_and_saving_changes_nothing(document: dict[str, Any]) -> None:
    parse_application(document)
    assert back(document) == document


def test_the_page_saves_what_it_was_given(browser: Client) -> None:
    make_application("Odd", **{key: value for key, value in ODD.items() if key != "name"})
    response = browser.post("/applications/Odd/edit/", {**inputs(browser.get("/applications/Odd/edit/"))}, follow=True)
    assert "Nothing had changed" in response.content.decode()


def test_a_tool_is_written_in_the_form(browser: Client) -> None:
    make_application()
    values = inputs(browser.get(EDIT))
    for action in ("add-tool", "add:t1parameters", "add:t1parameters", "add:t1answers"):
        values = inputs(browser.post(EDIT, {**values, "action": action}))
    values |= {
        "t1name": "find_table",
        "t1description": "Looks for a table.",
        "t1parameters-0-key": "day",
        "t1parameters-0-type": "string",
        "t1parameters-0-format": "date",
        "t1parameters-1-key": "seating",
        "t1parameters-1-enum": "indoor, terrace",
        "t1required": "day",
        "t1others": "false",
        "t1answers-0-when": "args.seating == 'terrace'",
        "t1answers-0-result": '{"free": true}',
        "t1answers-0-effects": '{"looked": true}',
        "t1answers-0-delay_ms": "250",
    }
    assert browser.post(EDIT, {**values, "action": "save"}).status_code == 302
    assert ApplicationVersion.objects.get(number=2).content["tools"][1] == {
        "name": "find_table",
        "description": "Looks for a table.",
        "parameters": {
            "properties": {"day": {"type": "string", "format": "date"}, "seating": {"enum": ["indoor", "terrace"]}},
            "required": ["day"],
            "additionalProperties": False,
        },
        "answers": [
            {
                "when": "args.seating == 'terrace'",
                "delay_ms": 250,
                "result": {"free": True},
                "effects": {"looked": True},
            }
        ],
    }
    assert ApplicationVersion.objects.get(number=2).content["tools"][0] == application_json()["tools"][0]


def test_a_tool_is_taken_out_and_the_others_stay(browser: Client) -> None:
    make_application("Odd", **{key: value for key, value in ODD.items() if key != "name"})
    url = "/applications/Odd/edit/"
    values = inputs(browser.post(url, {**inputs(browser.get(url)), "action": "drop-tool:1"}))
    assert "t1name" not in values
    wrong = browser.post(url, {**values, "t2name": "not a name", "action": "save"})
    assert "t2name_error" in wrong.content.decode()
    assert list(wrong.context["editor"].form.errors) == ["t2name"]
    browser.post(url, {**values, "action": "save"})
    newest = Application.objects.get().latest
    assert newest is not None
    assert newest.content == {**ODD, "tools": [tool for tool in ODD["tools"] if tool["name"] != "asked"]}


def test_problems_stand_at_their_fields(browser: Client) -> None:
    make_application()
    values = inputs(browser.get(EDIT)) | {
        "t0parameters-0-type": "strange",
        "t0answers-0-result": "{",
        "t0answers-0-when": "args.",
        "facts": "[]",
    }
    form = browser.post(EDIT, {**values, "action": "save"}).context["editor"].form
    assert set(form.errors) == {"t0answers-0-result", "facts"}
    form = browser.post(EDIT, {**values, "t0answers-0-result": "{}", "facts": "{}"}).context["editor"].form
    assert set(form.errors) == {"t0answers-0-when", "t0parameters-0-type"}
    assert ApplicationVersion.objects.count() == 1


@pytest.mark.parametrize(
    "tools",
    [{}, ["x"], [{"name": "t", "parameters": {"properties": {"x": True}}}], [{"name": f"t{n}"} for n in range(31)]],
)
def test_what_no_form_can_show_opens_as_json_and_says_why(tools: Any) -> None:
    with pytest.raises(NotShown):
        ApplicationForm({"name": "x", "tools": tools})


def test_many_tools_stay_below_what_a_request_may_hold() -> None:
    tools = [{"name": f"t{n}", "parameters": {"properties": {"a": {}, "b": {}}}} for n in range(30)]
    assert len(ApplicationForm({"name": "x", "tools": tools}).fields) < 1000
