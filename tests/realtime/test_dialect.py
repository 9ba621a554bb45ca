"""The GA dialect: sent shapes letter by letter, and every event that comes in."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.dialects import base
from runs_app.realtime.dialects.realtime import RealtimeDialect
from runs_app.realtime.dialects.realtime_reading import BETA_NAMES, READERS, WITHOUT_MEANING
from runs_app.realtime.dialects.realtime_session import shape_of
from runs_app.realtime.record import Usage
from tests.scripted_events import audio_delta, call_added, call_done, call_item, done, error, item_done

GA = RealtimeDialect()


@pytest.mark.quirk(33)
def test_the_default_sessions_are_those_of_the_seed() -> None:
    assert GA.default_session("text") == {"type": "realtime", "output_modalities": ["text"]}
    pcm = {"type": "audio/pcm", "rate": 24_000}
    assert GA.default_session("audio") == {
        "type": "realtime",
        "output_modalities": ["audio"],
        "audio": {"input": {"format": pcm, "turn_detection": None}, "output": {"format": pcm}},
    }


def test_two_sessions_share_nothing_that_could_change() -> None:
    first = GA.default_session("audio")
    first["audio"]["input"]["format"]["rate"] = 8000
    assert GA.default_session("audio")["audio"]["output"]["format"]["rate"] == 24_000


@given(st.binary(max_size=50))
def test_an_append_is_json_with_the_audio_in_base64(pcm: bytes) -> None:
    body = json.loads(GA.append(pcm))
    assert body["type"] == "input_audio_buffer.append"
    assert base64.b64decode(body["audio"]) == pcm


def test_a_tool_output_and_a_request_have_the_shapes_of_the_protocol() -> None:
    assert GA.tool_output("call_1", "yes") == {
        "type": "conversation.item.create",
        "item": {"type": "function_call_output", "call_id": "call_1", "output": "yes"},
    }
    assert GA.ask_for_response("e1") == {"type": "response.create", "event_id": "e1"}
    assert GA.commit() == {"type": "input_audio_buffer.commit"}


@pytest.mark.behaviour(8)
@pytest.mark.parametrize("beta", sorted(BETA_NAMES))
def test_a_beta_name_means_what_its_ga_name_means(beta: str) -> None:
    """Behaviour 8."""
    body: dict[str, Any] = {"delta": "AAAA", "text": "t", "transcript": "t", "item_id": "i", "item": {}}
    ga = BETA_NAMES[beta]
    assert ga in READERS or ga in WITHOUT_MEANING
    assert GA.read({**body, "type": beta}) == GA.read({**body, "type": ga})


def test_no_type_is_both_understood_and_without_meaning() -> None:
    assert not READERS.keys() & WITHOUT_MEANING


def test_a_failed_response_tells_code_and_message_also_when_details_are_a_text() -> None:
    details = {"type": "failed", "error": {"type": "x", "code": "insufficient_quota", "message": "no"}}
    read = GA.read(done(status="failed", status_details=details))
    assert isinstance(read, base.ResponseEnded)
    assert (read.status, read.error_code, read.error_message) == ("failed", "insufficient_quota", "no")
    odd = GA.read(done(status="failed", status_details="server_error"))
    assert isinstance(odd, base.ResponseEnded)
    assert (odd.reason, odd.error_code) == ("server_error", None)


def test_usage_is_read_by_class_and_unknown_where_it_is_not_told() -> None:
    read = GA.read(done(usage={"input_tokens": 12, "output_tokens": 8, "output_token_details": {"text_tokens": 1}}))
    assert isinstance(read, base.ResponseEnded)
    assert read.usage == Usage(input_tokens=12, output_tokens=8, output_text_tokens=1)
    assert GA.read(done(usage=None)).usage is None  # type: ignore[union-attr]


def test_calls_are_read_from_items_and_from_arguments() -> None:
    item = call_item("ping", '{"a":1}')
    added, told, ended = (GA.read(event) for event in (call_added(item), call_done(item), item_done(item)))
    assert (added.name, added.arguments) == ("ping", None)  # type: ignore[union-attr]
    assert (told.name, told.arguments, told.call_id) == ("ping", '{"a":1}', "call_1")  # type: ignore[union-attr]
    assert (ended.arguments, ended.status) == ('{"a":1}', "completed")  # type: ignore[union-attr]


def test_messages_of_ours_that_the_server_mirrors_say_nothing() -> None:
    mirror = {"type": "conversation.item.added", "item": {"type": "function_call_output", "call_id": "c"}}
    assert GA.read(mirror) == base.NoMeaning()


@pytest.mark.parametrize("audio", ["QUJD", "QUI", "QQ"])
def test_audio_without_its_padding_is_read(audio: str) -> None:
    read = GA.read({**audio_delta(b""), "delta": audio})
    assert isinstance(read, base.Sound)
    assert read.data == b"ABC"[: len(read.data)] != b""


def test_an_error_is_read_with_all_that_tells_what_it_refuses() -> None:
    read = GA.read(error("unknown_parameter", "Unknown parameter: 'session.x'.", param="session.x", event_id="e1"))
    assert read == base.Fault(
        "unknown_parameter", "invalid_request_error", "Unknown parameter: 'session.x'.", "session.x", "e1"
    )


@pytest.mark.parametrize(
    ("session", "shape"),
    [
        ({"output_modalities": ["audio"]}, "ga"),
        ({"audio": {}}, "ga"),
        ({"modalities": ["text"], "turn_detection": None}, "beta"),
        ({"id": "sess_1"}, None),
        ({"audio": {}, "modalities": []}, None),
    ],
)
def test_a_session_shows_its_dialect(session: dict[str, Any], shape: str | None) -> None:
    assert shape_of(session) == shape


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        *("session", "response", "item", "delta", "text", "transcript", "arguments", "error", "item_id"),
        *("output_index", "content_index", "call_id", "name", "response_id"),
    ]
)


@pytest.mark.quirk(39)
@given(type=st.sampled_from(sorted({*READERS, *BETA_NAMES, "x.y"})), body=st.dictionaries(KEYS, JSON, max_size=8))
def test_whatever_a_server_puts_into_an_event_it_is_read_without_an_exception(type: str, body: dict[str, Any]) -> None:
    read = GA.read({**body, "type": type})
    assert read.__class__.__module__ == base.__name__
