"""`manage.py assistant_service`: what it needs before it starts."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.support import application_json, make_application

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-the-tests"


def start(settings: Any, *options: str, token: str = TOKEN) -> str:
    settings.ASSISTANT_TOKEN = token
    settings.SIMULATOR_URL = "http://127.0.0.1:1"
    with pytest.raises(CommandError) as caught:
        call_command("assistant_service", "--application=Restaurant", "--port=0", *options)
    return str(caught.value)


def test_it_does_not_start_without_a_token_worth_the_name(settings: Any) -> None:
    assert start(settings, token="short") == "ASSISTANT_TOKEN must have at least 16 characters"


def test_it_names_what_is_not_there(settings: Any, tmp_path: Any) -> None:
    assert "Restaurant" in start(settings)
    make_application()
    (tmp_path / "state.json").write_text("[]")
    assert "the state must be a JSON object" in start(settings, f"--state={tmp_path / 'state.json'}")
    assert "not an address" in start(settings, "--endpoint=nowhere")
    assert "No such file" in start(settings, f"--state={tmp_path / 'none.json'}")


def test_tools_that_only_trials_can_ask_are_refused(settings: Any) -> None:
    (tool,) = application_json()["tools"]
    http = {"url": "https://tools.example/book"}
    make_application(tools=[{key: value for key, value in tool.items() if key != "answers"} | {"http": http}])
    assert "create_reservation is answered by an endpoint" in start(settings)
