"""How conversations end that do not end well: each told apart, each in time, nothing raised."""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.record import Event
from runs_app.realtime.session import converse
from tests.realtime.support import QUICK, asked, hold, only_session, plan, setup, tone
from tests.scripted_events import audio_delta, created, done, error, session_created, text_delta, text_reply
from tests.scripted_server import (
    Close,
    Drop,
    Expect,
    Hang,
    Pause,
    Send,
    SendRaw,
    Step,
    StopReading,
    serving,
)

PROMPT_S = 3.0  # on a busy machine; what would hang would hang for much longer
ACTIVE = "conversation_already_has_active_response"


def failed(code: str, message: str = "no") -> dict[str, Any]:
    details = {"type": "failed", "error": {"type": code, "code": code, "message": message}}
    return done(status="failed", status_details=details)


@pytest.mark.quirk(44)
@pytest.mark.behaviour(14)
@pytest.mark.parametrize(
    ("steps", "kind", "stage", "code", "turn_status"),
    [
        ([Send(failed("server_error"))], "invalid", "response_failed", "server_error", "failed"),
        ([Send(error("server_error")), Hang()], "invalid", "error_event", "server_error", "error"),
        ([Send(text_delta("Well")), Close(1011, "oops")], "invalid", "socket_closed", "1011", "closed"),
        ([Drop()], "invalid", "socket_closed", "no_close_frame", "closed"),
        ([Close(1000)], "invalid", "socket_closed", "1000", "closed"),
        ([Hang()], "response_timeout", None, "response_timeout", "timeout"),
    ],
)
async def test_the_ways_a_turn_breaks_off_are_told_apart(
    steps: list[Step], kind: str, stage: str | None, code: str, turn_status: str
) -> None:
    """Behaviour 14."""
    async with serving([*setup(), *asked(), *steps]) as server:
        held = await hold(plan(server.url))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == (kind, stage, code)
    assert ending.message
    assert [turn.status for turn in held.record.turns] == [turn_status]
    assert held.events[-1].type == "session.ended"
    assert [event.payload["status"] for event in held.of("turn.ended")] == [turn_status]


@pytest.mark.quirk(36)
@pytest.mark.parametrize(
    ("code", "stage"),
    [
        ("insufficient_quota", "provider_limit"),
        ("rate_limit_exceeded", "provider_limit"),
        ("inference_rate_limit_exceeded", "provider_limit"),
        ("invalid_api_key", "authorisation"),
        ("content_moderation_down", "response_failed"),
    ],
)
async def test_limits_that_come_as_failed_responses_are_the_providers(code: str, stage: str) -> None:
    async with serving([*setup(), *asked(), Send(failed(code, "You ran out"))]) as server:
        held = await hold(plan(server.url))
    assert (held.record.ending.stage, held.record.ending.code) == (stage, code)
    assert "You ran out" in held.record.ending.message


async def test_an_agent_that_never_answers_ends_in_time_and_keeps_what_was_said() -> None:
    quick = replace(QUICK, turn_s=0.4)
    script = [*setup(), *asked(), Send(created()), Send(text_delta("Let me see")), Hang()]
    async with serving(script) as server:
        started = time.monotonic()
        held = await hold(plan(server.url, timeouts=quick))
    assert 0.4 <= time.monotonic() - started < PROMPT_S
    assert held.record.ending.kind == "response_timeout"
    assert held.record.turns[0].agent_text == "Let me see"


async def test_an_agent_that_never_closes_is_cut_off_in_time() -> None:
    script = [*setup(), *asked(), *text_reply("Bye"), StopReading(), Pause(8000)]
    async with serving(script) as server:
        started = time.monotonic()
        held = await hold(plan(server.url))
        assert time.monotonic() - started < PROMPT_S
    assert held.record.ending.kind == "completed"
    assert "close_not_answered=1" in held.record.warnings


async def test_a_flood_after_the_end_does_not_keep_the_close_waiting() -> None:
    flood = [Send(text_delta("x" * 20_000, response="resp_9"))] * 300
    async with serving([*setup(), *asked(), *text_reply("Bye"), *flood]) as server:
        started = time.monotonic()
        held = await hold(plan(server.url))
        assert time.monotonic() - started < PROMPT_S
    assert held.record.ending.kind == "completed"


async def test_an_agent_that_stops_reading_is_noticed_while_the_caller_speaks() -> None:
    quick = replace(QUICK, turn_s=0.5)
    script = [*setup(), StopReading(), Hang()]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(240_000), timeouts=quick))
    ending = held.record.ending
    assert (ending.stage, ending.code) == ("socket_closed", "send_timeout")
    assert held.record.turns[0].status == "closed"


async def test_an_answer_that_was_complete_before_the_socket_closed_counts() -> None:
    async with serving([*setup(), *asked(), *text_reply("All booked."), Close(1001, "bye")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.kind == "completed"
    assert held.record.turns[0].agent_text == "All booked."


@pytest.mark.quirk(35)
@pytest.mark.case("A09")
@pytest.mark.parametrize("announced", [True, False])
async def test_a_session_that_expires_while_the_agent_speaks_keeps_what_was_heard(announced: bool) -> None:
    """A09: error session_expired then close 1001; the close alone is seen as well. No reconnect."""
    text = "Your session hit the maximum duration of 60 minutes."
    announcement = [Send(error("session_expired", text))] if announced else []
    script = [
        *setup(),
        *asked(),
        Send(created()),
        Send(audio_delta(to_bytes(tone(2000)))),
        *announcement,
        Close(1001, text),
    ]
    async with serving(script) as server:
        started = time.monotonic()
        held = await hold(plan(server.url, audio=tone(100)))
        assert time.monotonic() - started < PROMPT_S
    assert held.record.ending.stage == "session_expired"
    assert "maximum duration" in held.record.ending.message
    assert [span.end - span.start for span in held.record.turns[0].agent] == [48_000]
    assert np.count_nonzero(held.right) > 40_000
    assert len(server.sessions) == 1
    assert server.open_sessions == 0


@pytest.mark.quirk(41)
@pytest.mark.case("A15")
async def test_a_frame_of_17_mib_ends_as_message_too_big() -> None:
    """A15: more than 16 MiB is not read, and told as what it is."""
    huge = SendRaw('{"type":"response.output_audio.delta","delta":"' + "A" * (17 * 2**20) + '"}')
    async with serving([*setup(), *asked(), huge]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "message_too_big")
    assert held.record.turns[0].status_reason == "message_too_big"


@pytest.mark.quirk(43)
@pytest.mark.parametrize(
    ("status", "body", "stage"),
    [
        (401, "bad key", "authorisation"),
        (403, "no access", "authorisation"),
        (404, "no such deployment", "connect"),
        (429, "too many sessions", "provider_limit"),
        (500, "oops", "connect"),
    ],
)
async def test_a_refused_upgrade_tells_status_reason_and_stage(status: int, body: str, stage: str) -> None:
    async with serving([], refuse=status, refuse_body=body) as server:
        held = await hold(plan(server.url))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", stage, str(status))
    assert body in ending.message
    assert held.record.turns == ()
    assert all(event.t_ms <= 0 for event in held.events)


async def test_a_redirect_is_not_followed_and_carries_no_key_elsewhere() -> None:
    async with serving([]) as elsewhere:
        redirect = {"Location": elsewhere.url}
        async with serving([], refuse=302, refuse_headers=redirect) as server:
            held = await hold(plan(server.url, headers={"Authorization": "Bearer secret-key"}))
        assert elsewhere.upgrades == []
    assert held.record.ending.code == "302"
    assert "redirects are not followed" in held.record.ending.message


async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{free.getsockname()[1]}/v1/realtime?api-key=hush-hush"
    held = await hold(plan(url))
    assert (held.record.ending.stage, held.record.ending.code) == ("connect", "refused")
    assert "hush" not in held.record.ending.message


@pytest.mark.behaviour(15)
async def test_a_handshake_that_never_ends_ends_anyway() -> None:
    """Behaviour 15."""
    quick = replace(QUICK, connect_s=0.3)
    async with serving([], handshake_delay_ms=8000) as server:
        started = time.monotonic()
        held = await hold(plan(server.url, timeouts=quick))
        assert time.monotonic() - started < PROMPT_S
    assert (held.record.ending.stage, held.record.ending.code) == ("connect", "timeout")


async def test_something_that_is_no_websocket_is_told_as_that() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    mail = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with mail:
        port = mail.sockets[0].getsockname()[1]
        held = await hold(plan(f"ws://127.0.0.1:{port}/"))
    assert (held.record.ending.stage, held.record.ending.code) == ("connect", "handshake")


@pytest.mark.quirk(32)
@pytest.mark.behaviour(4)
async def test_a_refused_session_is_invalid_names_the_parameter_and_records_no_turn() -> None:
    """Behaviour 4."""
    refusal = error("invalid_value", "Invalid value: 'marina'.", param="session.audio.output.voice")
    async with serving([Send(session_created()), Expect("session.update"), Send(refusal)]) as server:
        held = await hold(plan(server.url))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "session", "invalid_value")
    assert "session.audio.output.voice" in ending.message
    assert held.record.turns == ()
    assert server.open_sessions == 0


BETA = {"id": "sess_1", "modalities": ["text", "audio"], "input_audio_format": "pcm16"}


@pytest.mark.parametrize(
    "first",
    [{"type": "session.created", "session": BETA}, {"type": "rate_limits.updated"}],
)
async def test_a_server_of_the_other_dialect_is_recognised(first: dict[str, Any]) -> None:
    refusal = error("unknown_parameter", "Unknown parameter: 'session.type'.", param="session.type")
    async with serving([Send(first), Expect("session.update"), Send(refusal)]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.stage == "session"
    assert "set dialect: beta" in held.record.ending.message


@pytest.mark.behaviour(36)
async def test_beta_that_was_switched_off_is_authorisation_and_names_the_setting() -> None:
    """Behaviour 36: error as the first frame, then close 4000; also the close alone."""
    refusal = error("beta_api_shape_disabled", "The beta API shape is no longer available.")
    close = Close(4000, "invalid_request_error.beta_api_shape_disabled")
    scripts: list[list[Step]] = [[Send(refusal), close], [close]]
    for script in scripts:
        async with serving(script) as server:
            held = await hold(plan(server.url))
        assert (held.record.ending.stage, held.record.ending.code) == (
            "authorisation",
            "beta_api_shape_disabled",
        )
        assert "dialect: ga" in held.record.ending.message


@pytest.mark.behaviour(29)
@pytest.mark.parametrize(
    ("close", "stage"),
    [
        (Close(1008, "bad token"), "authorisation"),
        (Close(3000, "invalid_request_error.invalid_api_key"), "authorisation"),
        (Close(4000, "insufficient_quota"), "provider_limit"),
        (Close(1011, "boom"), "session"),
    ],
)
async def test_a_socket_that_closes_before_the_first_turn_tells_why(close: Close, stage: str) -> None:
    """Behaviour 29: the abnormal close is told, and nothing waits on."""
    async with serving([Send(session_created()), Expect("session.update"), close]) as server:
        held = await hold(plan(server.url), within_s=2)
    assert held.record.ending.stage == stage
    assert close.reason in held.record.ending.message
    assert held.record.turns == ()


@pytest.mark.quirk(49)
@pytest.mark.behaviour(31)
async def test_a_cancel_that_came_too_late_does_not_end_the_turn() -> None:
    """Behaviour 31."""
    late = error("response_cancel_not_active", "Cancellation failed: no active response found")
    async with serving([*setup(), *asked(), Send(late), *text_reply("Fine")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.kind == "completed"
    assert held.record.warnings == ("benign_error:response_cancel_not_active=1",)


async def test_an_error_that_an_answer_follows_is_a_warning() -> None:
    script = [*setup(), *asked(), Send(error("odd_hiccup")), Pause(60), Send(created()), Pause(250)]
    async with serving([*script, *text_reply("Fine")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.kind == "completed"
    assert "error:odd_hiccup=1" in held.record.warnings


@pytest.mark.quirk(10)
async def test_an_error_that_names_our_request_ends_the_turn_at_once() -> None:
    def refuse(session: Any) -> dict[str, Any]:
        return error("invalid_value", event_id=session.events("response.create")[0]["event_id"])

    quick = replace(QUICK, error_grace_s=60, turn_s=60)
    async with serving([*setup(), *asked(), Send(refuse)]) as server:
        held = await hold(plan(server.url, timeouts=quick), within_s=3)
    assert (held.record.ending.stage, held.record.ending.code) == ("error_event", "invalid_value")


@pytest.mark.quirk(10, 12)
@pytest.mark.behaviour(35)
async def test_a_request_refused_because_another_response_is_active_is_made_again_after_it() -> None:
    """Behaviour 35."""
    script = [
        *setup(),
        Send(created("resp_other")),
        *asked(),
        Send(error(ACTIVE, "Conversation already has an active response in progress: resp_other.")),
        Send(text_delta("One moment.", "resp_other", "item_other")),
        Pause(50),
        Send(done("resp_other")),
        *asked(),
        *text_reply("At nine.", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert only_session(server).types().count("response.create") == 2
    assert held.record.turns[0].agent_text == "One moment. At nine."
    assert held.record.ending.kind == "completed"
    assert "response_already_active=1" in held.record.warnings


async def test_a_gateway_that_refuses_wrongly_is_asked_again_a_little_later() -> None:
    refusal = Send(error(ACTIVE, "already has an active response", event_id=None))
    script = [*setup(), *asked(), refusal, *asked(), refusal, *asked(), *text_reply("Third time")]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Third time"


async def test_a_gateway_that_always_refuses_ends_as_an_error() -> None:
    refusal = [*asked(), Send(error(ACTIVE, "already has an active response"))]
    async with serving([*setup(), *refusal * 6]) as server:
        held = await hold(plan(server.url), within_s=8)
    assert (held.record.ending.stage, held.record.ending.code) == ("error_event", ACTIVE)
    assert only_session(server).types().count("response.create") == 6


@pytest.mark.quirk(12)
async def test_the_end_of_a_response_that_was_under_way_before_is_not_the_answer() -> None:
    script = [
        *setup(),
        Send(created("resp_before")),
        Expect("conversation.item.create"),
        *asked(),
        Send(done("resp_before")),
        Pause(30),
        *text_reply("The answer", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "The answer"
    assert "foreign_response=1" in held.record.warnings


@pytest.mark.parametrize("when", ["connecting", "setting up", "speaking", "waiting"])
async def test_a_request_to_stop_ends_the_conversation_at_once_wherever_it_is(when: str) -> None:
    scripts: dict[str, list[Step]] = {
        "connecting": [],
        "setting up": [Hang()],
        "speaking": [*setup(), Hang()],
        "waiting": [*setup(), *asked(), Send(audio_delta(to_bytes(tone(300)))), Hang()],
    }
    slow = replace(QUICK, connect_s=30, session_ready_s=30, turn_s=30)
    delay_ms = 8000 if when == "connecting" else 0
    async with serving(scripts[when], handshake_delay_ms=delay_ms) as server:
        stop = asyncio.Event()
        made = plan(server.url, audio=tone(3000), real_time=when == "speaking", timeouts=slow)
        asyncio.get_running_loop().call_later(0.3, stop.set)
        started = time.monotonic()
        held = await hold(made, stop=stop)
        assert time.monotonic() - started < PROMPT_S
    assert held.record.ending.kind == "cancelled"
    assert [turn.status for turn in held.record.turns] == ["stopped"] * (when in ("speaking", "waiting"))
    if when == "speaking":
        assert 2400 <= held.record.audio_samples < 72_000
    if when == "waiting":
        assert held.right.any()
    assert server.open_sessions == 0


async def test_cancelling_the_task_closes_the_socket_and_passes_on() -> None:
    async with serving([*setup(), *asked(), Hang()]) as server:
        turn_is_sent = asyncio.Event()

        def emit(event: Event) -> None:
            if event.type == "response.create":
                turn_is_sent.set()

        task = asyncio.ensure_future(converse(plan(server.url), emit=emit, stop=asyncio.Event()))
        async with asyncio.timeout(2):
            await turn_is_sent.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await only_session(server).connection.wait_closed()


async def test_the_deadline_of_a_turn_starts_again_with_each_tool_round() -> None:
    from tests.realtime.test_session_tools import call_item, call_reply, with_tools

    quick = replace(QUICK, turn_s=0.5)
    script = [
        *setup(),
        *asked(),
        Pause(350),
        *call_reply([call_item("ping", "{}")]),
        *asked(),
        Pause(350),
        *text_reply("Slowly", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(with_tools(server, timeouts=quick))
    assert held.record.ending.kind == "completed"
    assert held.record.turns[0].agent_text == "Slowly"
