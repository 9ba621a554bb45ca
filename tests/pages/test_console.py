"""The console of an application: call a tool, see what an agent would get, keep the state."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from scenarios_app.services import find_application, save_application
from tests.authoring.pages import inputs
from tests.speech_server import Answer, speech_server
from tests.support import application_json, make_application, make_scenario

pytestmark = pytest.mark.django_db

URL = "/applications/Restaurant/console/"
BOOK = {
    "name": "book",
    "description": "Books a table.",
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Of the guest"},
            "size": {"type": "integer", "minimum": 1},
            "day": {"type": "string", "format": "date"},
            "seating": {"enum": ["indoor", "terrace"]},
            "vip": {"type": "boolean"},
            "extras": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "size"],
        "additionalProperties": False,
    },
    "answers": [
        {"when": "state.closed", "error": "closed on {{ reference_date }}"},
        {
            "result": {"id": "{{ counter('R-') }}", "args": "{{ args }}"},
            "effects": {"last": "{{ counter('R-') }}", "old": None},
            "delay_ms": 800,
        },
    ],
}


def text_of(response: HttpResponse) -> str:
    """The page as words, without tags."""
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def post(signed_in: Client, url: str = URL, **changes: str) -> HttpResponse:
    """The console as it opens, with these fields filled, and the button pressed."""
    return press(signed_in, signed_in.get(url), url, **changes)


def press(signed_in: Client, page: HttpResponse, url: str = URL, action: str = "call", **changes: str) -> HttpResponse:
    return signed_in.post(url, {**inputs(page), "action": action, **changes})


def called(response: HttpResponse) -> Any:
    return response.context["page"].called


def test_the_form_follows_the_schema(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    page = signed_in.get(URL)
    body = page.content.decode()
    names = [f"arg-{name}" for name in BOOK["parameters"]["properties"]]
    assert set(names) <= set(inputs(page))
    for said in ("Books a table.", "Of the guest", "indoor", "terrace", "not given", "YYYY-MM-DD", "required"):
        assert said in body, said
    assert "What came back" not in body


def test_a_call_shows_the_answer_and_what_it_did_to_the_state(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    fields = {
        "arg-name": "Nora",
        "arg-size": "3",
        "arg-vip": "true",
        "arg-seating": '"indoor"',
        "arg-extras": '["cake"]',
    }
    response = post(signed_in, **fields, state='{"old": 1}')
    result = called(response)
    sent = {"name": "Nora", "size": 3, "vip": True, "seating": "indoor", "extras": ["cake"]}
    assert json.loads(result.answer) == {"id": "R-1", "args": sent}
    assert (result.status, result.violations, result.delay) == ("completed", (), "800 ms")
    assert [(row.path, row.before, row.after) for row in result.changes] == [
        ("old", "1", None),
        ("last", None, '"R-1"'),
    ]
    words = text_of(response)
    for said in ("completed", "R-1", "removed", "after 800 ms"):
        assert said in words, said


def test_the_state_and_the_counters_go_on_from_call_to_call(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    fields = {"arg-name": "Nora", "arg-size": "3"}
    first = post(signed_in, **fields)
    second = press(signed_in, first)
    assert inputs(first)["arg-name"] == "Nora"
    assert json.loads(inputs(second)["state"]) == {"last": "R-2"}
    emptied = press(signed_in, second, action="reset")
    assert (inputs(emptied)["state"], called(emptied)) == ("", None)
    assert json.loads(called(press(signed_in, emptied)).answer)["id"] == "R-1"


def test_arguments_that_do_not_fit_are_named_and_the_agent_would_hear_so(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    response = post(signed_in, **{"arg-size": "three"})
    result = called(response)
    assert result.status == "failed"
    assert result.violations == ("name is missing", 'size must be a whole number, not "three"')
    assert "name is missing" in json.loads(result.answer)["error"]
    assert "do not fit the schema" in text_of(response)
    assert (
        called(post(signed_in, **{"arg-name": "Nora", "arg-size": "3"}, state='{"closed": true}')).error == "closed on "
    )


def test_json_takes_what_a_form_cannot_say_and_nothing_is_lost_between_them(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    as_json = post(signed_in, action="json", **{"arg-name": "Nora", "arg-size": "3"})
    assert json.loads(inputs(as_json)["arguments_json"]) == {"name": "Nora", "size": 3}
    unknown = press(signed_in, as_json, arguments_json='{"name": "", "size": 3, "hat": 1}')
    assert called(unknown).violations == ("hat is not an argument of this tool",)
    broken = press(signed_in, as_json, arguments_json='{"name": ')
    assert called(broken) is None
    assert "not JSON" in text_of(broken)
    as_form = press(signed_in, as_json, action="form", arguments_json='{"name": "Ada", "size": 4, "extras": ["x"]}')
    values = inputs(as_form)
    assert (values["arg-name"], values["arg-size"], json.loads(values["arg-extras"])) == ("Ada", "4", ["x"])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("state", "[1]", "the state must be one JSON object"),
        ("state", '{"a":', "not JSON"),
        ("reference_date", "tomorrow", "must be a date such as"),
        ("arg-extras", "[1", "extras: "),
        ("fault", "slow", "the modes are error"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_is_called(
    signed_in: Client, field: str, value: str, said: str
) -> None:
    make_application(tools=[BOOK])
    response = post(signed_in, **{field: value})
    assert called(response) is None
    assert said in text_of(response)
    assert inputs(response)[field] == value


def test_a_tool_can_be_made_to_fail(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    fields = {"arg-name": "Nora", "arg-size": "3"}
    cut = called(post(signed_in, **fields, fault="malformed"))
    assert (cut.status, cut.is_json) == ("completed", False)
    assert "cut off after" in cut.fault
    closed = called(post(signed_in, **fields, fault="error:the till is closed"))
    assert (closed.status, closed.error, closed.changes) == ("failed", "the till is closed", ())
    never = post(signed_in, **fields, fault="timeout")
    assert called(never).answer == ""
    assert "Nothing ever goes back" in text_of(never)


def test_a_call_starts_from_a_scenarios_state_and_date(signed_in: Client) -> None:
    make_application(tools=[BOOK])
    make_scenario("closed", application={"initial_state": {"closed": True}}, reference_date="2027-05-14")
    loaded = post(signed_in, action="load", scenario="CLOSED")
    fields = {"arg-name": "Nora", "arg-size": "3"}
    assert called(press(signed_in, loaded, **fields)).error == "closed on 2027-05-14"
    assert "There is no scenario nowhere." in text_of(post(signed_in, action="load", scenario="nowhere"))


def test_tools_change_by_a_button_and_keep_the_state(signed_in: Client) -> None:
    make_application(tools=[BOOK, {"name": "ping"}], tool_results={"lookup": {"free": "{{args.any-key}}"}})
    other = post(signed_in, action="tool:lookup", state='{"a": 1}')
    assert (inputs(other)["tool"], inputs(other)["state"]) == ("lookup", '{"a": 1}')
    answered = press(signed_in, other, arguments_json='{"any-key": "yes"}')
    assert json.loads(called(answered).answer) == {"free": "yes"}
    recorded = press(signed_in, press(signed_in, other, action="tool:ping"))
    assert called(recorded).status == "recorded"
    assert "nothing goes back to the agent" in text_of(recorded)


def test_an_endpoint_is_asked_from_here_too_and_its_failure_is_not_the_agents(
    signed_in: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGING_KEY", "sk-staging-123")
    body = json.dumps({"you sent": "sk-staging-123"}).encode()
    with speech_server([Answer(body), Answer(b"", 503)]) as endpoint:
        origin = endpoint.url.removesuffix("/v1")
        settings.SOUNDCHECK_SECRETS = f"STAGING_KEY={origin}"
        http = {"url": endpoint.url, "headers": {"x-key": "{{secrets.STAGING_KEY}}"}}
        # the other tool cannot be used here, which is no reason not to call this one
        make_application(tools=[{"name": "ask", "http": http}, {"name": "other", "python": "nowhere"}])
        refused = post(signed_in)
        assert "TOOL_ENDPOINTS" in text_of(refused)
        assert endpoint.asked == []
        settings.TOOL_ENDPOINTS = [origin]
        answered = post(signed_in)
        assert endpoint.asked[0]["headers"]["x-key"] == "sk-staging-123"
        assert endpoint.asked[0]["json"]["trial"] == {"id": None, "console": True}
        assert "sk-staging-123" not in answered.content.decode()
        assert json.loads(called(answered).answer) == {"you sent": "[secret STAGING_KEY]"}
        words = text_of(post(signed_in))
    assert "Not the agent's doing" in words.replace("&#x27;", "'")
    assert "answered 503" in words


def test_an_older_version_is_called_as_it_was(signed_in: Client) -> None:
    make_application(tools=[{"name": "old", "answers": [{"result": 1}]}])
    new = application_json(tools=[{"name": "new", "answers": [{"result": 2}]}])
    save_application(application=find_application("Restaurant"), content=new)
    assert called(post(signed_in)).answer == "2"
    url = f"{URL}?version=1"
    assert called(post(signed_in, url)).answer == "1"
    assert signed_in.get(f"{URL}?version=9").status_code == 404
    assert signed_in.get(f"{URL}?version=x").status_code == 404
    assert signed_in.get("/applications/Nowhere/console/").status_code == 404


def test_an_application_without_tools_says_what_to_do(signed_in: Client) -> None:
    make_application(tools=[])
    assert "This application declares none." in text_of(signed_in.get(URL))


def test_nobody_calls_tools_without_signing_in(db: None) -> None:
    make_application(tools=[BOOK])
    assert Client().post(URL, {"tool": "book"}).status_code == 302
