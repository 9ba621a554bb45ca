"""A session that is opened and closed with nothing said, and what of our settings the server confirmed otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.realtime.probe import Change, probe, session_changes
from tests.realtime.support import known, only_session, plan, setup, tone
from tests.scripted_events import error, session_created, session_updated
from tests.scripted_server import Close, Expect, Hang, Send, serving


async def test_a_session_is_set_up_and_closed_and_nothing_else_is_sent() -> None:
    async with serving(setup()) as server:
        found = await probe(plan(server.url, audio=tone(200), history=(("user", "Hi"),)), deadline_s=5)
    assert found.record.ending.kind == "completed"
    assert found.record.session["id"] == "sess_1"
    assert known(found.ready_ms) >= 0
    assert only_session(server).types(appends=True) == ["session.update"]
    assert only_session(server).connection.close_code == 1000
    assert found.warnings == []


async def test_a_server_that_says_nothing_of_the_update_is_warned_about() -> None:
    async with serving([Send(session_created()), Expect("session.update"), Hang()]) as server:
        found = await probe(plan(server.url), deadline_s=5)
    assert found.record.ending.kind == "completed"
    assert [name for name, _ in found.warnings] == ["session_not_acknowledged"]


async def test_a_beta_session_is_seen_for_what_it_is() -> None:
    beta = {"type": "session.created", "session": {"id": "s", "modalities": ["text"], "voice": "alloy"}}
    async with serving(
        [Send(beta), Expect("session.update"), Send(error("unknown_parameter", "no such key"))]
    ) as server:
        found = await probe(plan(server.url), deadline_s=5)
    assert "dialect_mismatch" in dict(found.warnings)
    assert (found.record.ending.stage, found.record.ending.code) == ("session", "unknown_parameter")
    assert "set dialect: beta" in found.record.ending.message


@pytest.mark.parametrize(
    ("script", "options", "stage"),
    [
        ([], {"refuse": 401}, "authorisation"),
        ([], {"refuse": 429}, "provider_limit"),
        ([], {"refuse": 404}, "connect"),
        ([Send(error("beta_api_shape_disabled")), Close(4000, "invalid_request_error.beta")], {}, "authorisation"),
        ([Close(1011, "busy")], {}, "session"),
    ],
)
async def test_a_refusal_is_told_as_of_a_trial(script: list[Any], options: dict[str, Any], stage: str) -> None:
    async with serving(script, **options) as server:
        found = await probe(plan(server.url), deadline_s=5)
    assert found.record.ending.stage == stage
    assert found.ready_ms is None


async def test_a_server_that_keeps_us_waiting_is_left_at_the_deadline() -> None:
    async with serving([], handshake_delay_ms=60_000) as server:
        found = await probe(plan(server.url), deadline_s=0.3)
    assert found.record.ending.stage == "connect"
    assert "within 0.3 s" in found.record.ending.message


def test_what_was_confirmed_otherwise_comes_before_what_was_not_mentioned() -> None:
    asked = {
        "model": "gpt-realtime",
        "audio": {"input": {"turn_detection": None, "format": {"type": "audio/pcm", "rate": 24000}}},
        "tools": [{"name": "a", "strict": True}, {"name": "b"}],
        "instructions": "Be brief.",
        "temperature": 1,
    }
    told = {
        "id": "sess_1",
        "model": "gpt-realtime-2025-08-28",
        "audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}},
        "tools": [{"name": "a", "strict": False, "more": 1}, {"name": "b"}],
        "temperature": 1.0,
    }
    assert session_changes(asked, told) == [
        Change("model", "gpt-realtime", "gpt-realtime-2025-08-28"),
        Change("audio.input.format.rate", "24000", "16000"),
        Change("tools[0].strict", "true", "false"),
        Change("instructions", "Be brief.", "", is_told=False),
    ]


def test_lists_of_other_lengths_and_other_kinds_are_shown_whole() -> None:
    changes = session_changes({"tools": [{"name": "a"}], "voice": {"id": "v"}}, {"tools": [], "voice": "marin"})
    assert changes == [Change("tools", '[{"name": "a"}]', "[]"), Change("voice", '{"id": "v"}', "marin")]


def test_a_server_that_confirms_all_has_no_change() -> None:
    asked = session_updated()["session"]
    assert session_changes(asked, {**asked, "expires_at": 5}) == []
    assert session_changes({"tool_choice": None}, {}) == []


def test_long_texts_are_cut() -> None:
    (change,) = session_changes({"instructions": "x" * 500}, {"instructions": "y" * 500})
    assert len(change.asked) == len(change.told) == 200
