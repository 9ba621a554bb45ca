"""GPT Live: what is sent, what is heard, and when a reply is over. Seven scripted sessions, each with its outcome."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.plan import Plan
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.tools import ToolOutcome
from tests.live_server import (
    APPEND,
    Cue,
    calls,
    caption,
    content,
    delegated,
    live,
    nested,
    says,
    silence,
    sound,
    voice,
)
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import QUICK, Held, TableExecutor, hold, only_session, plan, tone, tool
from tests.scripted_server import ScriptedServer, Send, serving

LIMIT_S = 5.0
BOOK = ("create_reservation", '{"guest_name": "Maya"}', "call_1")
BOOKED = "Your table is booked."
WAITED = ["session.start", "response.item.create", "response.create", "session.close"]


def words(ms: float = 400, pause_ms: float = 100) -> Int16:
    return np.concatenate([tone(ms), np.zeros(round(pause_ms * 24), dtype=np.int16)])


def live_plan(server: ScriptedServer, turns: Sequence[PlannedTurn], **changes: Any) -> Plan:
    session = {
        "model": "gpt-live-1",
        **LiveDialect().default_session("audio"),
        "delegation": {
            "type": "responses",
            "responses": {"model": "m", "tools": [tool("create_reservation", "guest_name")]},
        },
    }
    known_changes: dict[str, Any] = {
        "dialect": LiveDialect(),
        "protocol": "live",
        "turns": tuple(turns),
        "real_time": True,
        "chunk_ms": 40,
        "session": session,
        "executor": TableExecutor({"create_reservation": ToolOutcome("completed", {"ok": True})}),
        "timeouts": replace(QUICK, response_s=LIMIT_S, closed_s=0.5),
    }
    return plan(server.url, audio=turns[0].audio, **known_changes | changes)


async def call(
    cues: Iterable[Cue], *turns: PlannedTurn, within_s: float = 60, **changes: Any
) -> tuple[Held, list[str]]:
    """The conversation, and the types of what was sent, appends apart."""
    async with serving(live(cues)) as server:
        made = live_plan(server, turns or [PlannedTurn("For four", words())], **changes)
        held = await hold(made, clock=WarpClock(), within_s=within_s)
    return held, only_session(server).types()


def ending(held: Held) -> tuple[str, str]:
    return held.record.ending.kind, held.record.ending.message


def basis(held: Held) -> list[str]:
    return [event.payload["basis"] for event in held.of("turn.settled")]


def booking(*, ack: Iterable[Cue] = (), answer: Iterable[Cue] = ()) -> list[Cue]:
    """Delegated 300 ms after the caller's last word at 400 ms; the backend calls, and answers 200 ms after."""
    return [
        *ack,
        Cue(700, [delegated()]),
        Cue(1100, calls(BOOK)),
        Cue(200, content(BOOKED), after_return=1),
        *answer,
    ]


ONE_MOMENT = says("One moment.", at_ms=760, ms=500)


async def test_a_delegated_booking_is_acknowledged_executed_and_told() -> None:
    held, sent = await call(booking(ack=ONE_MOMENT, answer=says(BOOKED, at_ms=900, after_return=1)))
    assert ending(held) == ("completed", "")
    assert sent == WAITED
    (turn,) = held.record.turns
    assert (turn.status, turn.status_reason) == ("completed", None)
    assert turn.agent_text == "".join(caption.text for caption in turn.captions) == f"One moment. {BOOKED}"
    assert basis(held) == ["returned_turn"]
    (made,) = held.record.tool_calls
    assert (made.name, made.arguments, made.status, made.round) == (BOOK[0], {"guest_name": "Maya"}, "completed", 0)
    (delegation,) = held.record.delegations
    assert (delegation.id, delegation.target, delegation.status, delegation.rounds) == (
        "dlg_1",
        "responses",
        "completed",
        1,
    )
    assert (held.record.usage.total_tokens, held.record.usage.input_cached_tokens) == (50, 4)
    assert held.record.session_seconds == 12
    assert held.record.warnings == ()


async def test_a_plain_answer_needs_no_delegation_and_ends_after_a_quiet_tail() -> None:
    held, sent = await call(says("We close at ten.", at_ms=900, ms=600))
    assert ending(held)[0] == "completed"
    assert sent == ["session.start", "session.close"]
    assert basis(held) == ["spoken_turn"]
    (settled,) = held.of("turn.settled")
    assert settled.payload["speech_end_ms"] == pytest.approx(1500, abs=40)
    assert settled.t_ms == pytest.approx(1500 + QUICK.quiet_s * 1000, abs=60)
    assert held.record.turns[0].sent_ms == pytest.approx(400, abs=60)
    assert voiced(held.right)[0].start / 24 == pytest.approx(920, abs=40)


# The seven sessions.


async def test_an_agent_that_stays_silent_has_failed_by_its_deadline() -> None:
    held, sent = await call([])
    assert ending(held) == (
        "response_timeout",
        "no settled answer within 5 s of the caller's last word: the agent said nothing after the caller's last word",
    )
    assert sent == ["session.start", "session.close"]  # closed like any other: its seconds are billed all the same
    assert held.record.session_seconds == 12
    assert held.of("session.ended")[0].t_ms == pytest.approx(400 + LIMIT_S * 1000, abs=60)
    assert held.record.turns[0].status == "timeout"


async def test_zeros_without_end_are_silence_too() -> None:
    held, _ = await call(silence(from_ms=0, to_ms=5000))
    assert held.record.ending.kind == "response_timeout"
    assert len(held.of("session.output_audio.delta")) == 0
    told = held.of("agent.silence")
    assert sum(event.payload["duration_ms"] for event in told) >= 4900
    assert not held.right.any()


async def test_an_answer_blended_with_its_acknowledgement_is_taken_by_its_sound_and_marked() -> None:
    """The acknowledgement ends at 1260; the content comes while its captions still count as one group."""
    ack = says("One moment.", at_ms=760, ms=800)
    cues = [
        *ack,
        Cue(600, [delegated()]),
        Cue(800, calls(BOOK)),
        Cue(500, content(BOOKED), after_return=1),
        *says(BOOKED, at_ms=1040, after_return=1),
    ]
    held, _ = await call(cues)
    assert ending(held)[0] == "completed"
    assert basis(held) == ["returned_audio"]
    assert held.record.turns[0].status_reason == "returned_audio"
    assert held.record.warnings == ("returned_audio=1",)
    assert held.record.turns[0].agent_text == f"One moment. {BOOKED}"


async def test_an_answer_given_before_the_tool_returned_is_no_answer() -> None:
    held, _ = await call(booking(ack=says(BOOKED, at_ms=760, ms=500)))
    assert held.record.ending.kind == "response_timeout"
    assert "nothing new was said after the delegated work returned its content" in held.record.ending.message
    assert held.record.tool_calls[0].status == "completed"
    assert held.record.turns[0].agent_text == BOOKED  # kept, whatever it is worth


@pytest.mark.slow
async def test_a_request_of_45_seconds_has_its_whole_time_for_the_answer_afterwards() -> None:
    cues = says("That is a lot.", at_ms=47_000, ms=600)
    held, _ = await call(cues, PlannedTurn("A long story", words(45_000)), chunk_ms=500)
    assert ending(held)[0] == "completed"
    assert held.record.turns[0].sent_ms == pytest.approx(45_000, abs=510)  # the server runs beside the clock
    assert basis(held) == ["spoken_turn"]
    late = says("That is a lot.", at_ms=48_600, ms=600)
    held, _ = await call(late, PlannedTurn("A long story", words(45_000)), chunk_ms=500)
    assert "the agent was still speaking" in ending(held)[1]
    assert held.of("session.ended")[0].t_ms == pytest.approx(50_000, abs=510)  # a chunk of the caller's is 500 ms


async def test_an_acknowledgement_alone_is_no_answer() -> None:
    held, _ = await call(booking(ack=ONE_MOMENT))
    assert held.record.ending.kind == "response_timeout"
    assert "nothing new was said" in held.record.ending.message
    assert held.record.turns[0].agent_text == "One moment."


async def test_two_delegations_are_both_served_and_the_last_content_must_be_told() -> None:
    other = ("create_reservation", '{"guest_name": "Ben"}', "call_2")
    cues = [
        *booking(ack=ONE_MOMENT, answer=says(BOOKED, at_ms=900, after_return=1)),
        Cue(1520, [delegated("dlg_2")], after_return=1),
        Cue(1560, calls(other, delegation="dlg_2", response="resp_c1"), after_return=1),
        Cue(300, content("And Ben's too.", "dlg_2", "resp_c2"), after_return=2),
        *says("And Ben's too.", at_ms=500, after_return=2),
    ]
    held, sent = await call(cues)
    assert ending(held)[0] == "completed"
    assert sent == [*WAITED[:3], *WAITED[1:]]
    assert [call.arguments for call in held.record.tool_calls] == [{"guest_name": "Maya"}, {"guest_name": "Ben"}]
    assert [one.status for one in held.record.delegations] == ["completed", "completed"]
    assert held.record.turns[0].agent_text == f"One moment. {BOOKED} And Ben's too."
    without, _ = await call(cues[:-31])
    assert without.record.ending.kind == "response_timeout"


async def test_a_tool_that_fails_is_told_to_the_backend_and_the_agent_says_so() -> None:
    sorry = "I could not book it."
    cues = [
        Cue(700, [delegated()]),
        Cue(1100, calls(BOOK)),
        Cue(200, content(sorry), after_return=1),
        *says(sorry, at_ms=500, after_return=1),
    ]
    executor = TableExecutor({"create_reservation": ToolOutcome("failed", {"ok": False}, error="fully booked")})
    async with serving(live(cues)) as server:
        made = live_plan(server, [PlannedTurn("For four", words())], executor=executor)
        held = await hold(made, clock=WarpClock(), within_s=60)
    assert ending(held)[0] == "completed"
    assert (held.record.tool_calls[0].status, held.record.tool_calls[0].error) == ("failed", "fully booked")
    (item,) = only_session(server).events("response.item.create")
    assert item["item"] == {"type": "function_call_output", "call_id": "call_1", "output": '{"ok": false}'}
    assert held.record.turns[0].agent_text == sorry


# What is sent.


async def test_the_callers_audio_never_stops_and_never_hurries() -> None:
    async with serving(live(says("We close at ten.", at_ms=900))) as server:
        made = live_plan(server, [PlannedTurn("When?", words())], chunk_ms=20)
        held = await hold(made, clock=WarpClock(), within_s=60)
    session = only_session(server)
    appended = b"".join(base64.b64decode(event["audio"]) for event in session.events(APPEND))
    assert appended.startswith(to_bytes(words()))
    assert not any(appended[len(to_bytes(words())) :])
    last_ms = held.of("turn.settled")[0].t_ms
    assert len(appended) / 48 == pytest.approx(last_ms, abs=60)
    assert all(len(base64.b64decode(event["audio"])) == 960 for event in session.events(APPEND))


async def test_parallel_calls_are_all_answered_before_one_request_to_go_on() -> None:
    other = ("create_reservation", '{"guest_name": "Ben"}', "call_2")
    cues = [
        Cue(700, [delegated()]),
        Cue(900, calls(BOOK, other)),
        Cue(200, content("Both done."), after_return=1),
        *says("Both done.", at_ms=500, after_return=1),
    ]
    held, sent = await call(cues)
    assert ending(held)[0] == "completed"
    assert sent == ["session.start", "response.item.create", "response.item.create", "response.create", "session.close"]
    assert {call.response_id for call in held.record.tool_calls} == {"resp_b1"}


async def test_a_call_is_run_once_however_often_its_item_is_told() -> None:
    told = calls(BOOK)
    twice = [*told[:-1], {**told[-2], "event_id": "again"}, told[-1]]
    cues = [
        Cue(700, [delegated()]),
        Cue(900, twice),
        Cue(200, content(BOOKED), after_return=1),
        *says(BOOKED, at_ms=500, after_return=1),
    ]
    held, sent = await call(cues)
    assert sent == WAITED
    assert len(held.record.tool_calls) == 1


# What breaks off.


async def test_a_server_that_never_starts_the_session_is_not_talked_to() -> None:
    async with serving(live([], started=False)) as server:
        held = await hold(live_plan(server, [PlannedTurn("Hello", words())]), clock=WarpClock(), within_s=30)
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "session")
    assert "no session.started within 1 s" in held.record.ending.message
    assert only_session(server).types(appends=True) == ["session.start"]


async def test_a_refused_setting_is_named() -> None:
    about = {"type": "invalid_request_error", "code": "unknown_parameter", "message": "no", "param": "session.voice"}
    refusal = {"type": "error", "event_id": "e", "error": about, "client_event_id": "soundcheck_1"}
    async with serving([Send(refusal)]) as server:
        held = await hold(live_plan(server, [PlannedTurn("Hello", words())]), clock=WarpClock())
    assert (held.record.ending.stage, held.record.ending.code) == ("session", "unknown_parameter")
    assert "session.voice" in held.record.ending.message


@pytest.mark.parametrize(("reason", "stage"), [("expired", "session_expired"), ("content", "socket_closed")])
async def test_a_session_that_closes_by_itself_says_why(reason: str, stage: str) -> None:
    closed = {"type": "session.closed", "event_id": "e", "reason": reason, "session": {}, "usage": {"seconds": 3}}
    held, _ = await call([Cue(900, [closed])])
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", stage)
    assert reason in held.record.ending.message
    assert held.record.session_seconds == 3


async def test_a_backend_that_fails_says_nothing_about_the_agent() -> None:
    error = {"code": "rate_limit_exceeded", "message": "too many requests"}
    failed = {"type": "response.failed", "response": {"id": "resp_b1", "status": "failed", "error": error}}
    held, _ = await call([Cue(700, [delegated()]), Cue(900, [nested(failed)])])
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "provider_limit")
    assert [one.status for one in held.record.delegations] == ["failed"]


async def test_an_error_that_nothing_follows_is_not_the_agents_silence() -> None:
    about = {"type": "server_error", "code": "internal", "message": "something broke"}
    held, _ = await call([Cue(900, [{"type": "error", "event_id": "e", "error": about}])])
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "error_event")


async def test_work_for_a_client_that_is_not_there_is_named() -> None:
    held, _ = await call([Cue(700, [delegated(target="client")])])
    assert held.record.ending.kind == "response_timeout"
    assert "the delegated work was not complete" in held.record.ending.message
    assert "delegation_unanswered=1" in held.record.warnings


async def test_a_session_that_never_confirms_its_end_is_said_to_cost_nobody_knows_what() -> None:
    cues = says("We close at ten.", at_ms=900)
    steps = live(cues)
    async with serving(steps) as server:
        made = live_plan(server, [PlannedTurn("When?", words())])
        dialect = _Mute()
        held = await hold(replace(made, dialect=dialect), clock=WarpClock(), within_s=30)
    assert held.record.ending.kind == "completed"
    assert held.record.warnings == ("session_not_closed=1",)
    assert held.record.session_seconds is None


class _Mute(LiveDialect):
    """Closes with an event that the scripted server does not know."""

    def close(self, event_id: str) -> dict[str, Any]:
        return {"type": "session.goodbye", "event_id": event_id}


# What is heard.


async def test_silence_at_the_head_of_a_burst_is_heard_before_its_words() -> None:
    """300 ms of zeros and 600 ms of speech, all sent at 900: the words begin at 1,200, and not when they came."""
    zeros, loud = [sound(bytes(100 * 48))] * 3, [sound(voice(100))] * 6
    held, _ = await call([Cue(900, [caption("We close at ten.", 1200, 1800), *zeros, *loud])])
    assert voiced(held.right)[0].start / 24 == pytest.approx(1200, abs=45)
    assert held.record.turns[0].first_audio_ms == pytest.approx(900, abs=45)


async def test_a_murmur_while_the_caller_speaks_is_no_answer() -> None:
    held, _ = await call(says("Mhm.", at_ms=100, ms=160))
    assert held.record.ending.kind == "response_timeout"
    assert "said nothing after the caller's last word" in held.record.ending.message


async def test_what_the_agent_understood_goes_to_the_turn_in_which_it_was_said() -> None:
    cues = [
        Cue(300, [caption("For four", 0, 300, side="input")]),
        *says("At what time?", at_ms=900, ms=400),
        Cue(2700, [caption(" people.", 300, 400, side="input")]),
        Cue(2750, [caption("At seven.", 2500, 2700, side="input")]),
        *says("Fine.", at_ms=3600, ms=400),
    ]
    turns = [PlannedTurn("For four people.", words()), PlannedTurn("At seven.", words())]
    held, _ = await call(cues, *turns)
    assert ending(held)[0] == "completed"
    assert [turn.heard_text for turn in held.record.turns] == ["For four people.", "At seven."]
    assert [turn.agent_text for turn in held.record.turns] == ["At what time?", "Fine."]


async def test_one_late_delta_delays_nothing_for_good() -> None:
    """The zeros of 200 ms come at once, late; the words after them lie where they came."""
    zeros = [sound(bytes(FRAME * 48)) for FRAME in [20] * 10]
    cues = [
        *says("One.", at_ms=600, ms=200),
        Cue(1000, zeros),
        *silence(from_ms=1020, to_ms=1600),
        *says("Two.", at_ms=1600, ms=200),
    ]
    held, _ = await call(cues)
    starts = [span.start / 24 for span in voiced(held.right)]
    assert starts[-1] - starts[0] == pytest.approx(1000, abs=45)  # a chunk of the caller's is 40 ms


class Stalling(WarpClock):
    """The machine does nothing for 300 ms while the caller speaks."""

    async def sleep_until(self, due_s: float) -> None:
        await super().sleep_until(due_s)
        if 1000.2 <= due_s < 1000.3:
            self.time_s += 0.3


async def test_the_servers_times_count_from_what_it_got_and_not_from_what_was_due() -> None:
    cues = [
        *ONE_MOMENT,
        Cue(700, [delegated()]),
        Cue(1100, calls(BOOK)),
        Cue(700, content(BOOKED), after_return=1),
        *says(BOOKED, at_ms=820, after_return=1),
    ]
    async with serving(live(cues)) as server:
        held = await hold(live_plan(server, [PlannedTurn("For four", words())]), clock=Stalling(), within_s=60)
    assert sum(event.payload["gaps"] for event in held.of("caller.audio")) >= 1
    assert ending(held)[0] == "completed"
    assert basis(held) == ["returned_turn"]


async def test_a_burst_keeps_its_pauses() -> None:
    """Two words with 400 ms of zeros between, all sent at once."""
    burst = [sound(voice(300)), *[sound(bytes(20 * 48))] * 20, sound(voice(300))]
    held, _ = await call([Cue(800, [caption("Yes. No.", 800, 1800), *burst])])
    first, second = voiced(held.right)
    assert (second.start - first.end) / 24 == pytest.approx(400, abs=3)
    (span,) = held.record.turns[0].agent
    assert (span.end - span.start) / 24 == pytest.approx(1000, abs=3)


async def test_the_caller_talks_over_the_agent_whose_work_goes_on() -> None:
    cues = [
        Cue(700, [delegated()]),
        *says("Let me see what I can do for you this evening.", at_ms=760, ms=3000),
        Cue(2100, calls(BOOK)),
        Cue(2400, content(BOOKED), after_return=1),
        *says(BOOKED, at_ms=2600, after_return=1),
    ]
    turns = [PlannedTurn("Book it.", words()), PlannedTurn("Quickly!", words(), interrupt_after_ms=600)]
    held, sent = await call(cues, *turns)
    assert ending(held)[0] == "completed"
    first, second = held.record.turns
    assert (first.interrupted, first.status, first.status_reason) == (True, "cancelled", "interrupted")
    assert first.interrupted_ms == pytest.approx(1400, abs=80)
    assert second.agent_text == BOOKED
    assert held.record.tool_calls[0].status == "completed"
    assert sent == WAITED


def test_every_event_of_the_caller_is_json_that_the_openai_package_types() -> None:
    from openai.types.live import ClientEventParam
    from pydantic import TypeAdapter

    dialect = LiveDialect()
    check = TypeAdapter(ClientEventParam)
    for event in (
        dialect.session_update({"model": "gpt-live-1", **dialect.default_session("audio")}, "e1"),
        dialect.ask_for_response("e2"),
        dialect.tool_output("call_1", "{}"),
        dialect.close("e3"),
        json.loads(dialect.append(b"\x00\x00")),
    ):
        check.validate_python(event, strict=True)
