"""Secrets reach the origins they are bound to, and nothing and nobody else."""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import assume, given
from hypothesis import strategies as st

from evalsite.logs import TextFormatter
from runs_app.services import secrets
from runs_app.services.secrets import SecretError, TemplateContext

KEY = "sk-test-7f3a/9+c=&d"
OTHER = "sk-test-7f3a"  # a prefix of KEY on purpose
CONTEXT = TemplateContext(trial_seed=77, trial_repeat=2, run_seed=7)
URL = "wss://api.example.com/v1/realtime"
BEARER = {"Authorization": "Bearer {{secrets.VOICE_KEY}}"}


@pytest.fixture(autouse=True)
def _environment(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SOUNDCHECK_SECRETS = (
        "VOICE_KEY=https://api.example.com,wss://api.example.com; LOCAL_KEY = ws://127.0.0.1:9000 ,http://localhost:9000;"
        "UNSET_KEY=https://api.example.com;SHORT_KEY=https://api.example.com;BROKEN_KEY=https://api.example.com"
    )
    monkeypatch.setenv("VOICE_KEY", KEY)
    monkeypatch.setenv("LOCAL_KEY", f"{OTHER}\n")
    monkeypatch.setenv("SHORT_KEY", "abc")
    monkeypatch.setenv("BROKEN_KEY", "first-line\nX-Evil: 1")
    monkeypatch.setenv("NOT_LISTED", "must stay here")
    monkeypatch.delenv("UNSET_KEY", raising=False)


def render(**fields: Any) -> secrets.Destination:
    return secrets.render(**{"url": URL, "context": CONTEXT, **fields})


def test_a_secret_is_filled_in_in_headers_key_token_and_query() -> None:
    there = render(
        url=f"{URL}?key={{{{secrets.VOICE_KEY}}}}&a=1",
        headers={"Authorization": "Bearer {{ secrets.VOICE_KEY }}", "X-Plain": "same"},
        api_key="{{secrets.VOICE_KEY}}",
        token="t {{secrets.VOICE_KEY}}",
    )
    assert there.headers == {"Authorization": f"Bearer {KEY}", "X-Plain": "same"}
    assert there.api_key == KEY
    assert there.token == f"t {KEY}"
    assert parse_qs(urlsplit(there.url).query) == {"key": [KEY], "a": ["1"]}
    assert there.secret_names == ("VOICE_KEY",)


def test_trial_and_run_values_are_filled_in_there_and_in_the_model() -> None:
    there = render(
        url=f"{URL}?seed={{{{run.seed}}}}",
        headers={"X-Seed": "{{trial.seed}}-{{ trial.repeat }}"},
        model="sim-{{trial.seed}}",
    )
    assert there.url == f"{URL}?seed=7"
    assert there.headers == {"X-Seed": "77-2"}
    assert there.model == "sim-77"
    assert there.secret_names == ()


@pytest.mark.parametrize(
    ("fields", "field", "part"),
    [
        ({"model": "{{secrets.VOICE_KEY}}"}, "model", "is not known here"),
        ({"url": "wss://{{secrets.VOICE_KEY}}.example.com/"}, "endpoint", "only in the query"),
        ({"url": "wss://api.example.com/{{secrets.VOICE_KEY}}?a=1"}, "endpoint", "only in the query"),
        ({"url": f"{URL}?a=1#{{{{secrets.VOICE_KEY}}}}"}, "endpoint", "only in the query"),
        ({"headers": {"X": "{{secrets.VOICE_KEY"}}, "headers.X", "never closed"),
        ({"headers": {"X": "{{env.HOME}}"}}, "headers.X", "is not known here; possible are secrets.NAME"),
        ({"headers": {"X": "{{secrets}}"}}, "headers.X", "is not known here"),
        ({"headers": {"X": "{{secrets.VOICE_KEY|upper}}"}}, "headers.X", "is not known here"),
        ({"api_key": "{{secrets.NOPE}}"}, "api_key", "there is no secret NOPE"),
        ({"api_key": "{{secrets.NOT_LISTED}}"}, "api_key", "the operator has not listed it in SOUNDCHECK_SECRETS"),
        ({"token": "{{secrets.UNSET_KEY}}"}, "token", "the environment variable UNSET_KEY is not set"),
        ({"token": "{{secrets.SHORT_KEY}}"}, "token", "shorter than 4"),
        ({"headers": {"X": "{{secrets.BROKEN_KEY}}"}}, "headers.X", "printable ASCII"),
        ({"url": "api.example.com"}, "endpoint", "must start with"),
    ],
)
def test_a_template_that_cannot_be_filled_in_names_its_field(fields: dict[str, Any], field: str, part: str) -> None:
    with pytest.raises(SecretError) as caught:
        render(**fields)
    assert caught.value.field == field
    assert part in caught.value.message
    assert_no_value_in(str(caught.value))


def test_fields_are_named_below_the_place_they_belong_to() -> None:
    with pytest.raises(SecretError) as caught:
        render(api_key="{{secrets.NOPE}}", at="caller.")
    assert caught.value.field == "caller.api_key"


@pytest.mark.parametrize(
    "url",
    [
        "wss://evil.example/v1/realtime",
        "wss://api.example.com:8443/v1/realtime",
        "wss://api.example.com.evil.example/",
        "https://api2.example.com/v1",
        "wss://evil.example/?next=wss://api.example.com",
        "wss://evil.example#wss://api.example.com",
    ],
)
def test_a_secret_is_not_sent_to_another_origin(url: str) -> None:
    with pytest.raises(SecretError) as caught:
        render(url=url, headers=BEARER)
    host = urlsplit(url).netloc
    assert caught.value.field == "headers.Authorization"
    assert f"secret VOICE_KEY may not be sent to {urlsplit(url).scheme}://{host}" in str(caught.value)
    assert "allows it only for https://api.example.com, wss://api.example.com" in str(caught.value)
    assert_no_value_in(str(caught.value))


@pytest.mark.parametrize("url", ["wss://api.example.com@evil.example/", "wss://api.example.com\\@evil.example/"])
def test_an_address_that_only_looks_right_gets_no_secret(url: str) -> None:
    with pytest.raises(SecretError) as caught:
        render(url=url, headers=BEARER)
    assert caught.value.field == "endpoint"


def test_the_origin_is_judged_after_the_query_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value cannot move the address: it is quoted, whatever characters it has."""
    monkeypatch.setenv("VOICE_KEY", "@evil.example/#?&x=")
    there = render(url=f"{URL}?key={{{{secrets.VOICE_KEY}}}}")
    assert urlsplit(there.url).netloc == "api.example.com"
    assert parse_qs(urlsplit(there.url).query) == {"key": ["@evil.example/#?&x="]}


def test_a_value_that_looks_like_a_template_is_not_rendered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_KEY", "{{secrets.LOCAL_KEY}}")
    assert render(api_key="{{secrets.VOICE_KEY}}").api_key == "{{secrets.LOCAL_KEY}}"


@pytest.mark.parametrize("url", ["ws://api.example.com/v1", "http://api.example.com", "ws://10.0.0.1:9000"])
def test_a_secret_never_leaves_this_machine_unencrypted(url: str) -> None:
    with pytest.raises(SecretError, match="plain http and ws go only to loopback"):
        render(url=url, headers=BEARER)


def test_plain_ws_to_loopback_is_possible_at_the_port_it_is_bound_to() -> None:
    fields = {"api_key": "{{secrets.LOCAL_KEY}}"}
    assert render(url="ws://127.0.0.1:9000/v1", **fields).api_key == OTHER
    assert render(url="http://localhost:9000/v1", **fields).api_key == OTHER
    with pytest.raises(SecretError, match=r"may not be sent to ws://127\.0\.0\.1:9001"):
        render(url="ws://127.0.0.1:9001/v1", **fields)


def test_an_address_without_secrets_may_be_anywhere() -> None:
    assert render(url="ws://agent.internal:9000/v1", api_key="dummy").api_key == "dummy"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", {}),
        (" ; ", {}),
        ("A=https://h", {"A": ["https://h"]}),
        (
            "A=https://h/,\n wss://h:443;\nB_2 = http://[::1]:80",
            {"A": ["https://h", "wss://h"], "B_2": ["http://[::1]"]},
        ),
    ],
)
def test_the_setting_is_read(raw: str, expected: dict[str, list[str]]) -> None:
    found = {name: [str(o) for o in origins] for name, origins in secrets.parse_bindings(raw).items()}
    assert found == expected


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        ("OPENAI_API_KEY", "entry 1: write NAME=origin"),
        ("A=https://h;1B=https://h", "entry 2: write NAME=origin"),
        ("A-B=https://h", "entry 1: write NAME=origin"),
        ("A=https://h;A=https://g", "entry 2: A is listed twice"),
        ("A=", "entry 1 (A): an origin starts with https://"),
        ("A=https://h,", "entry 1 (A): an origin starts with https://"),
        ("A=https://h/v1", "entry 1 (A): an origin has no path and no query, write https://h"),
        ("A=https://h?x=1", "entry 1 (A): an origin has no path and no query"),
        ("A=https://me:pw@h", "entry 1 (A): 'https://h' is not an address: a user name or password does not"),
        ("A=http://h", "entry 1 (A): http://h is not encrypted"),
        ("A=https://*.h", "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_read_names_the_entry(raw: str, part: str) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        secrets.parse_bindings(raw)
    assert str(caught.value).startswith("SOUNDCHECK_SECRETS, entry ")
    assert part in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("raw", [f"VOICE_KEY={KEY}", KEY, f"VOICE_KEY=https://h,{KEY}", f"{KEY}=https://h"])
def test_a_value_written_into_the_setting_by_mistake_is_not_shown(raw: str) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        secrets.parse_bindings(raw)
    assert KEY not in str(caught.value)
    assert "9+c" not in "".join(traceback.format_exception(caught.value)).replace(raw, "")


def test_the_repr_of_a_destination_shows_no_value() -> None:
    there = render(url=f"{URL}?key={{{{secrets.VOICE_KEY}}}}", headers=BEARER, api_key="{{secrets.VOICE_KEY}}")
    assert repr(there) == f"Destination('{URL}', secrets=['VOICE_KEY'])"
    assert_no_value_in(f"{there} {[there]!r} {secrets.declared()!r}")


def test_redaction_finds_values_in_text_json_and_urls() -> None:
    there = render(url=f"{URL}?key={{{{secrets.VOICE_KEY}}}}")
    event = {"type": "error", "tried": [there.url, {"header": f"Bearer {KEY}"}], f"x{KEY}": (KEY, 5, None, True)}
    assert secrets.redact(event) == {
        "type": "error",
        "tried": [f"{URL}?key=[secret VOICE_KEY]", {"header": "Bearer [secret VOICE_KEY]"}],
        "x[secret VOICE_KEY]": ("[secret VOICE_KEY]", 5, None, True),
    }
    assert secrets.redact(OTHER) == "[secret LOCAL_KEY]"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=4, max_size=30))
def test_no_value_survives_redaction_in_json_text(value: str) -> None:
    bare = value.strip()
    assume(len(bare) >= secrets.MIN_LENGTH)
    texts = (json.dumps({"a": bare}), json.dumps([bare], ensure_ascii=False), f"<{bare}>", f"?k={quote(bare)}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOICE_KEY", value)
        patch.delenv("LOCAL_KEY")
        cleaned = secrets.redact(texts)
    assert cleaned == (
        '{"a": "[secret VOICE_KEY]"}',
        '["[secret VOICE_KEY]"]',
        "<[secret VOICE_KEY]>",
        "?k=[secret VOICE_KEY]",
    )


def test_redaction_works_beside_a_setting_that_cannot_be_read(settings: Any) -> None:
    settings.SOUNDCHECK_SECRETS = "VOICE_KEY=nonsense;;=x;LOCAL_KEY"
    assert secrets.redact(f"{KEY} {OTHER}") == "[secret VOICE_KEY] [secret LOCAL_KEY]"


def test_redaction_leaves_everything_else_as_it_is(settings: Any) -> None:
    assert secrets.redact("must stay here abc") == "must stay here abc"
    settings.SOUNDCHECK_SECRETS = ""
    assert secrets.redact({"a": KEY}) == {"a": KEY}


def test_no_value_reaches_a_log_line() -> None:
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "refused %s for %r", (KEY, {"h": KEY}), None)
    line = TextFormatter().format(record)
    assert line.endswith("refused [secret VOICE_KEY] for {'h': '[secret VOICE_KEY]'}")


def assert_no_value_in(text: str) -> None:
    for value in (KEY, OTHER, "first-line", "must stay here", "7f3a"):
        assert value not in text
