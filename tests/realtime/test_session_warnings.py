"""Odd things that end nothing: each leaves a warning by name, and the conversation goes on."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from runs_app.realtime import faults, transport
from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.record import Record
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.transport import open_socket
from tests.realtime.support import QUICK, asked, hold, plan, setup, tone
from tests.scripted_events import (
    audio_delta,
    audio_reply,
    call_done,
    call_item,
    call_reply,
    created,
    done,
    error,
    session_created,
    session_updated,
    text_delta,
    text_reply,
)
from tests.scripted_server import Close, Expect, Hang, Pause, Send, Step, StopReading, serving


async def test_an_agent_that_speaks_before_the_caller_is_noted_and_not_heard() -> None:
    greeting: list[Step] = [Send(created("r0")), Send(audio_delta(to_bytes(tone(100)), "r0")), Send(done("r0"))]
    script: list[Step] = [Send(session_created()), Expect("session.update"), *greeting, Send(session_updated())]
    async with serving([*script, *asked(), *audio_reply([to_bytes(tone(50))])]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    assert held.record.warnings == ("deltas_before_first_turn=1", "foreign_response=1")
    assert [span.end - span.start for span in held.record.turns[0].agent] == [50 * 24]
    assert held.record.usage.input_tokens == 24


async def test_audio_in_text_mode_is_noted_and_its_words_count() -> None:
    script: list[Step] = [*setup(), *asked(), Send(audio_delta(b"\1\0")), *text_reply("Words")]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.warnings == ("audio_in_text_mode=1",)
    assert (held.record.turns[0].agent_text, held.conversation.audio) == ("Words", None)


async def test_a_session_of_another_shape_and_other_audio_are_noted() -> None:
    beta = {"type": "session.created", "session": {"modalities": ["audio"], "voice": "alloy"}}
    pcmu = {"output": {"format": {"type": "audio/pcmu"}}}
    script: list[Step] = [Send(beta), Expect("session.update"), Send(session_updated(audio=pcmu))]
    async with serving([*script, *asked(), *audio_reply([b"\1\0"])]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    assert held.record.warnings == ("audio_format=1", "dialect_mismatch=1")
    (format_warning,) = [event for event in held.of("warning") if event.payload["name"] == "audio_format"]
    assert "G.711 µ-law at 8000 Hz" in format_warning.payload["detail"]


async def test_the_end_of_a_response_told_twice_counts_once() -> None:
    turns = tuple(PlannedTurn(text) for text in ("One", "Two"))
    script = [*setup(), *asked(), *text_reply("First"), Send(done()), *asked(), *text_reply("Second", "resp_2")]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    assert [turn.agent_text for turn in held.record.turns] == ["First", "Second"]
    assert "repeated_response_done=1" in held.record.warnings
    assert held.record.usage.input_tokens == 24


@pytest.mark.quirk(51)
async def test_a_response_without_ids_is_an_answer_in_every_turn() -> None:
    """Self-hosted servers leave response ids out."""

    def bare(event: dict[str, Any]) -> Send:
        kept = {key: value for key, value in event.items() if key not in ("response_id", "item_id")}
        if "response" in kept:
            kept["response"] = {key: value for key, value in kept["response"].items() if key != "id"}
        return Send(kept)

    turns = tuple(PlannedTurn(text) for text in ("One", "Two"))
    script: list[Step] = [*setup()]
    for text in ("First", "Second"):
        script += [*asked(), bare(text_delta(text)), bare(done())]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    assert [turn.agent_text for turn in held.record.turns] == ["First", "Second"]
    assert held.record.warnings == ()


@pytest.mark.parametrize("where", ["deltas", "done"])
async def test_an_id_left_out_in_one_place_does_not_double_the_answer(where: str) -> None:
    delta, end = text_delta("All booked."), done()
    if where == "deltas":
        del delta["response_id"]
    else:
        del end["response"]["id"]
    content = [{"type": "output_text", "text": "All booked."}]
    end["response"]["output"] = [{"id": "item_1", "type": "message", "content": content}]
    async with serving([*setup(), *asked(), Send(created()), Send(delta), Send(end)]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "All booked."
    assert held.record.warnings == ()


async def test_a_call_of_a_response_that_never_ended_is_kept() -> None:
    script = [*setup(), *asked(), Send(call_done(call_item("refund", '{"eur": 5}'))), Close(1011, "oops")]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    (call,) = held.record.tool_calls
    assert (call.name, call.arguments, call.status) == ("refund", {"eur": 5}, "recorded")
    assert "broke off" in (call.error or "")


async def test_a_status_that_nobody_knows_is_an_answer_with_a_note() -> None:
    async with serving([*setup(), *asked(), Send(text_delta("Hm")), Send(done(status="finished"))]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].status == "completed"
    assert held.record.warnings == ("unknown_response_status=1",)


async def test_a_call_without_a_name_is_kept_and_not_answered() -> None:
    async with serving([*setup(), *asked(), *call_reply([{**call_item("", "{}"), "name": None}])]) as server:
        held = await hold(plan(server.url))
    (call,) = held.record.tool_calls
    assert (call.name, call.status, call.error) == ("", "recorded", "the call has no name")


@pytest.mark.quirk(2)
@pytest.mark.parametrize("outcome", ["failed", "never"])
async def test_words_that_the_agents_side_could_not_write_down_hold_nothing_up(outcome: str) -> None:
    session = {"type": "realtime", "audio": {"input": {"transcription": {"model": "whisper-1"}}}}
    kind = "conversation.item.input_audio_transcription.failed"
    failed = [Send({"type": kind, "item_id": "i", "error": {"code": "x"}})] if outcome == "failed" else []
    script = [*setup(), *asked(), *failed, *audio_reply([b"\1\0"], "Sure")]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), session=session), within_s=5)
    assert held.record.ending.kind == "completed"
    assert held.record.turns[0].heard_text is None
    assert ("transcription_failed=1" in held.record.warnings) == (outcome == "failed")


async def test_a_session_refused_after_we_stopped_waiting_is_still_a_refused_session() -> None:
    def refuse(session: Any) -> dict[str, Any]:
        update_id = session.events("session.update")[0]["event_id"]
        return error("invalid_value", "Invalid value", param="session.tools", event_id=update_id)

    quick = replace(QUICK, session_ready_s=0.1)
    async with serving([*asked(), Pause(20), Send(refuse)]) as server:
        held = await hold(plan(server.url, timeouts=quick), within_s=5)
    assert held.record.ending.stage == "session"
    assert "session.tools" in held.record.ending.message


@pytest.mark.quirk(42)
async def test_our_own_keepalive_giving_up_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PING_S", 0.4)
    async with serving([*setup(), *asked(), Send(text_delta("Well")), StopReading(), Hang()]) as server:
        held = await hold(plan(server.url))
    ending, (turn,) = held.record.ending, held.record.turns
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "socket_closed", "keepalive")
    assert (turn.status, turn.status_reason, turn.agent_text) == ("closed", "keepalive", "Well")


@pytest.mark.parametrize(
    ("url", "code"),
    [("ws://no-such-host.invalid/", "dns"), ("wss://127.0.0.1:{port}/", "tls"), ("ws:///nowhere", "url")],
)
async def test_connections_that_cannot_be_made_tell_which_part_failed(url: str, code: str) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as mail:
        port = mail.sockets[0].getsockname()[1]
        with pytest.raises(faults.BrokenOff) as caught:
            await open_socket(url.format(port=port), {}, timeout_s=5, close_s=1)
    assert (caught.value.ending.stage, caught.value.ending.code) == ("connect", code)


async def test_a_record_goes_through_json_unchanged() -> None:
    script = [*setup(), *asked(), *call_reply([call_item("x", "{}")])]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), real_time=True, reference_date="2027-05-14"))
    assert Record.from_json(json.loads(json.dumps(held.record.to_json()))) == held.record
    assert held.record.pacing is not None
