"""Counts that a server tells of itself and that cannot be: left out with a warning, for they would spoil every sum."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.realtime.dialects.fields import number_in
from runs_app.realtime.told_numbers import MOST_SECONDS, MOST_TOKENS, seconds_told, tokens_told
from tests.live_server import Cue
from tests.realtime.support import asked, hold, plan, setup
from tests.realtime.test_live import call
from tests.scripted_events import done, usage
from tests.scripted_server import Send, serving


@pytest.mark.parametrize("count", [10**30, 10**9 + 1, -1, -(10**400)])
async def test_a_count_of_tokens_that_cannot_be_is_left_out_with_a_warning(count: int) -> None:
    told = {**usage(12, 8), "input_tokens": count, "output_token_details": {"text_tokens": count, "audio_tokens": 7}}
    turns = tuple(plan("ws://x", text=text).turns[0] for text in ("One", "Two"))
    script = [*setup(), *asked(), Send(done(usage=told)), *asked(), Send(done("resp_2"))]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    used = held.record.usage
    assert (used.input_tokens, used.output_text_tokens) == (12, 1), "those of the other response count"
    assert (used.output_tokens, used.total_tokens, used.output_audio_tokens) == (16, 40, 14)
    assert "impossible_usage=2" in held.record.warnings
    (warning,) = [event for event in held.events if event.payload.get("name") == "impossible_usage"]
    assert f"input_tokens: {str(count)[:5]}" in warning.payload["detail"]
    assert len(warning.payload["detail"]) < 80


@pytest.mark.parametrize("seconds", [-1, 10**30, 10**400, 86_401])
async def test_a_length_of_a_session_that_cannot_be_is_left_out_with_a_warning(seconds: int) -> None:
    closed = {"type": "session.closed", "event_id": "e", "reason": "expired", "session": {}}
    held, _ = await call([Cue(900, [{**closed, "usage": {"seconds": seconds}}])])
    assert held.record.session_seconds is None
    assert "impossible_usage=1" in held.record.warnings


@pytest.mark.parametrize(
    ("value", "tokens", "seconds"),
    [
        (0, 0, 0),
        (12, 12, 12),
        (12.5, None, 12.5),
        (True, None, None),
        ("12", None, None),
        (None, None, None),
        (float("nan"), None, None),
        (float("inf"), None, None),
        (MOST_TOKENS, MOST_TOKENS, None),
        (MOST_TOKENS + 1, None, None),
        (MOST_SECONDS, None, MOST_SECONDS),
        (-1, None, None),
    ],
)
def test_what_can_be_is_believed(value: Any, tokens: int | None, seconds: float | None) -> None:
    assert (tokens_told(value), seconds_told(value)) == (tokens, seconds)


def test_a_number_is_finite() -> None:
    told = {"a": 1e999, "b": float("nan"), "c": 10**400, "d": -2.5, "e": True}
    assert [number_in(told, key) for key in "abcde"] == [None, None, 10**400, -2.5, None]
