"""Addresses: which are the same place, which are this machine, and what the clients need of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime import endpoints
from runs_app.realtime.endpoints import EndpointError, Origin


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.openai.com/v1/realtime", "https://api.openai.com"),
        ("WSS://API.OpenAI.com:443/v1?model=x", "wss://api.openai.com"),
        ("http://127.0.0.1:8700", "http://127.0.0.1:8700"),
        ("ws://[::1]:9000/v1", "ws://[::1]:9000"),
        ("ws://[0:0:0:0:0:0:0:1]:9000/v1", "ws://[::1]:9000"),
        ("http://speech_box:8000/v1", "http://speech_box:8000"),
        ("https://host#@elsewhere.example", "https://host"),
        ("https://host?next=https://elsewhere.example", "https://host"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: str) -> None:
    assert str(endpoints.origin(url)) == expected


def test_scheme_and_port_are_part_of_the_origin() -> None:
    assert endpoints.origin("https://host") == endpoints.origin("https://HOST:443/x")
    assert endpoints.origin("https://host") != endpoints.origin("wss://host")
    assert endpoints.origin("https://host") != endpoints.origin("https://host:8443")
    assert endpoints.origin("https://host") != endpoints.origin("https://host.")


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("https://api.openai.com@evil.example/v1", "a user name or password does not belong"),
        ("https://api.openai.com\\@evil.example/v1", "backslashes"),
        ("https://api.openai.com\t.evil.example", "blanks"),
        ("https://host\n/v1", "blanks"),
        ("https:///v1", "no host"),
        ("api.openai.com/v1", "must start with"),
        ("file:///etc/passwd", "no host"),
        ("ftp://host/x", "ftp is not supported"),
        ("https://host:99999/", "port 99999 does not exist"),
        ("https://host:/", "cannot be read"),
        ("https://[zz]/", "cannot be read"),
        ("https://[::1::2]/", "is not an IPv6 address"),
        ("https://bücher.example/", "ASCII form"),
        ("", "must start with"),
    ],
)
def test_an_address_that_two_parsers_could_read_differently_is_refused(url: str, part: str) -> None:
    with pytest.raises(EndpointError, match=part):
        endpoints.origin(url)


def test_a_message_shows_neither_the_query_nor_a_password() -> None:
    with pytest.raises(EndpointError) as caught:
        endpoints.origin("https://me:hunter22@host/v1?key=sk-123#sk-456")
    assert not any(word in str(caught.value) for word in ("hunter22", "sk-123", "sk-456"))


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "app.localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1"]
)
def test_loopback_names_and_addresses_are_known(host: str) -> None:
    assert endpoints.is_loopback(host)


@pytest.mark.parametrize(
    "host", ["localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", "10.0.0.1", "::ffff:10.0.0.1", "127.1", ""]
)
def test_what_only_looks_like_loopback_is_not(host: str) -> None:
    assert not endpoints.is_loopback(host)


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("https://host/v1/realtime?key={{ secrets.KEY }}", "wss://host/v1/realtime?key={{ secrets.KEY }}"),
        ("http://127.0.0.1:8/v1", "ws://127.0.0.1:8/v1"),
        ("WS://host", "ws://host"),
        (" wss://host/v1 ", "wss://host/v1"),
    ],
)
def test_a_realtime_address_is_upgraded_to_a_websocket(endpoint: str, expected: str) -> None:
    assert endpoints.websocket_url(endpoint) == expected


@pytest.mark.parametrize("endpoint", ["ftp://host", "host/v1", "wss://", "wss:///v1", "simulator"])
def test_what_is_no_websocket_address_is_refused(endpoint: str) -> None:
    with pytest.raises(EndpointError):
        endpoints.websocket_url(endpoint)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("wss://host/v1/realtime", "wss://host/v1/realtime?model=gpt-realtime"),
        ("wss://host/v1/realtime?", "wss://host/v1/realtime?model=gpt-realtime"),
        ("wss://host/v1/realtime?a=1", "wss://host/v1/realtime?a=1&model=gpt-realtime"),
        ("wss://host/v1/realtime?model=mine", "wss://host/v1/realtime?model=mine"),
        ("wss://host/v1/realtime?model=", "wss://host/v1/realtime?model="),
        ("wss://host/v1/realtime?my_model=1", "wss://host/v1/realtime?my_model=1&model=gpt-realtime"),
        ("wss://host/v1/realtime#top", "wss://host/v1/realtime?model=gpt-realtime"),
        ("wss://host/v1/realtime?call_id=rtc_1", "wss://host/v1/realtime?call_id=rtc_1"),
        ("wss://a/openai/v1/realtime", "wss://a/openai/v1/realtime?model=gpt-realtime"),
        ("wss://a/openai/realtime?api-version=1", "wss://a/openai/realtime?api-version=1&deployment=gpt-realtime"),
        ("wss://a/openai/realtime/?api-version=1", "wss://a/openai/realtime/?api-version=1&deployment=gpt-realtime"),
        ("wss://a/openai/realtime?deployment=mine", "wss://a/openai/realtime?deployment=mine"),
    ],
)
def test_the_model_is_added_only_when_the_url_has_none(url: str, expected: str) -> None:
    assert endpoints.with_model(url, "gpt-realtime") == expected


def test_a_model_name_is_quoted() -> None:
    assert endpoints.with_model("wss://h", "a b/c&d") == "wss://h?model=a%20b%2Fc%26d"


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/audio/speech", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/responses/", "https://api.openai.com/v1"),
        ("https://host/openai/v1/chat/completions", "https://host/openai/v1"),
        ("wss://host/v1/realtime", "https://host/v1"),
        ("http://127.0.0.1:8880/v1#x", "http://127.0.0.1:8880/v1"),
        ("https://host/tenant", "https://host/tenant"),
    ],
)
def test_the_base_url_of_an_api_is_found_behind_any_operation(endpoint: str, expected: str) -> None:
    assert endpoints.api_base_url(endpoint) == expected


def test_an_api_address_with_a_query_is_refused_without_showing_it() -> None:
    with pytest.raises(EndpointError, match="takes no query") as caught:
        endpoints.api_base_url("https://host/v1?api-key=sk-123")
    assert "sk-123" not in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_either_has_an_origin_or_a_clear_error(text: str) -> None:
    for url in (text, f"https://{text}", f"wss://host{text}"):
        try:
            found = endpoints.origin(url)
        except EndpointError:
            continue
        assert isinstance(found, Origin)
        assert endpoints.origin(str(found)) == found
