"""The public cases of kind A under `protocol: live`. docs/protocol.md tells which do not apply, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.plan import PlanError
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from tests.live_server import Cue, Event, calls, caption, content, delegated, live, nested, says, sound
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import QUICK, Held, TableExecutor, hold, only_session, ramp, tone, tool
from tests.realtime.test_live import BOOK, BOOKED, ONE_MOMENT, WAITED, call, ending, live_plan, words
from tests.realtime.test_live_plan import made
from tests.scripted_server import ScriptedServer, serving
from tests.scripted_steps import Close, Drop, SendRaw

PATIENT = replace(QUICK, response_s=40.0, closed_s=0.5)
ANSWER = says("We close at ten.", at_ms=900, ms=400)


def heard(held: Held) -> Int16:
    """The agent's channel from its first sample that is not silent to its last."""
    places = np.flatnonzero(held.right)
    return held.right[places[0] : places[-1] + 1]


@pytest.mark.case("A01")
@pytest.mark.parametrize(("surplus", "between"), [(0, []), (1, []), (1, [sound(b""), {**sound(b""), "delta": None}])])
async def test_samples_cut_between_deltas_arrive_whole(surplus: int, between: list[Event]) -> None:
    """A01: chunks of 1, 4799, 3, 9601 bytes and the rest, also with empty deltas between; then one surplus byte."""
    samples = np.arange(24_000).astype(np.int16)
    data = to_bytes(samples) + b"\x7f" * surplus
    cuts = np.cumsum([0, 1, 4799, 3, 9601, len(data)]).clip(max=len(data))
    pieces = [each for start, end in pairwise(cuts) for each in (sound(data[start:end]), *between)]
    held, _ = await call([Cue(900, [caption("A ramp.", 900, 1900), *pieces])])
    assert ending(held)[0] == "completed"
    assert heard(held).tolist() == samples[1:].tolist()
    assert ("dangling_audio_byte=1" in held.record.warnings) == bool(surplus)


@pytest.mark.case("A03")
async def test_a_backend_that_is_cut_off_at_its_limit_has_answered_and_the_reason_is_kept() -> None:
    """A03: graded on what was heard; the turn says that it is incomplete, and why."""
    half = content("Your table is", response="resp_b2")
    cut = {"id": "resp_b2", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    half[-1] = nested({"type": "response.incomplete", "response": cut})
    cues = [
        *ONE_MOMENT,
        Cue(700, [delegated()]),
        Cue(1100, calls(BOOK)),
        Cue(200, half, after_return=1),
        *says("Your table is", at_ms=900, after_return=1),
    ]
    held, _ = await call(cues)
    assert ending(held) == ("completed", "")
    assert [one.status for one in held.record.delegations] == ["incomplete"]
    turn = held.record.turns[0]
    assert (turn.status, turn.status_reason) == ("incomplete", "max_output_tokens")
    assert turn.agent_text == "One moment. Your table is"


@pytest.mark.case("A03")
async def test_a_filtered_answer_that_nobody_speaks_is_the_agents_silence() -> None:
    """A03, second script: content_filter with no audio at all is an answer that did not come, and is graded."""
    cut = {"id": "resp_b1", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    held, _ = await call(
        [Cue(700, [delegated()]), Cue(900, [nested({"type": "response.incomplete", "response": cut})])]
    )
    turn = held.record.turns[0]
    assert held.record.ending.kind == "response_timeout"
    assert (turn.status, turn.agent_text, turn.first_audio_ms) == ("timeout", "", None)
    assert held.record.ending.message.endswith("(the backend's answer was incomplete: content_filter)")


@pytest.mark.case("A05")
async def test_two_calls_with_interleaved_arguments_are_two_calls_and_one_request_to_go_on() -> None:
    """A05: told out of order; recorded by their place, each with its own arguments, both outputs returned."""
    first = {"type": "function_call", "id": "i1", "call_id": "c1", "name": "find_table", "status": "completed"}
    second = {**first, "id": "i2", "call_id": "c2", "name": "create_reservation"}
    told: list[Event] = [{"type": "response.created", "response": {"id": "resp_b1"}}]
    for item, index in ((first, 0), (second, 1)):
        told.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}})
    for item, index, part in ((first, 0, '{"date":'), (second, 1, '{"guest'), (first, 0, '"x"}'), (second, 1, '"}')):
        where = {"item_id": item["id"], "output_index": index, "delta": part}
        told.append({"type": "response.function_call_arguments.delta", **where})
    for item, index, arguments in ((second, 1, '{"guest_name":"Nora"}'), (first, 0, '{"date":"2027-05-15"}')):
        done = {**item, "arguments": arguments}
        told.append({"type": "response.output_item.done", "output_index": index, "item": done})
    told.append({"type": "response.completed", "response": {"id": "resp_b1", "status": "completed"}})
    outcomes = {name: ToolOutcome("completed", {"ok": True}) for name in ("find_table", "create_reservation")}
    answer = [Cue(200, content(BOOKED), after_return=1), *says(BOOKED, at_ms=500, after_return=1)]
    held, sent = await call(
        [Cue(700, [delegated()]), Cue(900, [nested(each) for each in told]), *answer],
        executor=TableExecutor(outcomes),
    )
    assert ending(held)[0] == "completed"
    assert [(each.call_id, each.output_index, each.arguments) for each in held.record.tool_calls] == [
        ("c1", 0, {"date": "2027-05-15"}),
        ("c2", 1, {"guest_name": "Nora"}),
    ]
    assert sent == [WAITED[0], WAITED[1], *WAITED[1:]]
    assert held.record.final_state["ran"] == [
        ["find_table", {"date": "2027-05-15"}],
        ["create_reservation", {"guest_name": "Nora"}],
    ]


@pytest.mark.case("A07")
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"guest_name": "Maya"', "not JSON"),
        ("", "empty, but the tool requires guest_name"),
        ('["Maya"]', "a JSON list, not an object"),
        ('{"guest_name": "Maya"} I hope this helps', "not JSON: Extra data"),
    ],
)
async def test_arguments_that_are_no_json_object_are_not_executed_and_the_backend_is_told(
    raw: str, reason: str
) -> None:
    """A07 (a), (b), (d), (e): the raw text is kept, an error output goes back, and the call goes on."""
    held, server = await one_call(raw)
    (made_,) = held.record.tool_calls
    assert (made_.arguments_raw, made_.arguments, made_.status) == (raw, None, "failed")
    assert reason in (made_.parse_error or "")
    assert held.record.final_state["ran"] == []
    (item,) = only_session(server).events("response.item.create")
    assert reason in json.loads(item["item"]["output"])["error"]
    assert (ending(held)[0], held.record.turns[0].agent_text) == ("completed", BOOKED)


@pytest.mark.case("A07")
async def test_empty_arguments_of_a_tool_that_requires_none_are_an_empty_object() -> None:
    """A07 (c)."""
    held, _ = await one_call("", name="ping")
    (made_,) = held.record.tool_calls
    assert (made_.arguments, made_.status, made_.parse_error) == ({}, "completed", None)


async def one_call(raw: str, name: str = BOOK[0]) -> tuple[Held, ScriptedServer]:
    cues = [
        Cue(600, [delegated()]),
        Cue(700, calls((name, raw, "call_1"))),
        Cue(100, content(BOOKED), after_return=1),
        *says(BOOKED, at_ms=200, ms=300, after_return=1),
    ]
    async with serving(live(cues)) as server:
        plan = live_plan(server, [PlannedTurn("For four", words())])
        plan.session["delegation"]["responses"]["tools"].append(tool("ping"))
        executor = TableExecutor({each: ToolOutcome("completed", {}) for each in (BOOK[0], "ping")})
        held = await hold(replace(plan, executor=executor), clock=WarpClock(), within_s=60)
    return held, server


@pytest.mark.case("A09")
@pytest.mark.parametrize("announced", [True, False])
async def test_a_session_that_expires_while_the_agent_speaks_keeps_what_was_heard(announced: bool) -> None:
    """A09: error session_expired, then close 1001; the close alone is seen as well. No second session."""
    text = "Your session hit the maximum duration of 2 hours."
    about = {"type": "invalid_request_error", "code": "session_expired", "message": text}
    said: list[Any] = [{"type": "error", "event_id": "e", "error": about}] if announced else []
    cues = [Cue(900, [caption("We have", 900, 2900), sound(to_bytes(tone(2000))), *said, Close(1001, text)])]
    async with serving(live(cues)) as server:
        held = await hold(live_plan(server, [PlannedTurn("When?", words())]), clock=WarpClock(), within_s=30)
        assert (len(server.sessions), server.open_sessions) == (1, 0)
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "session_expired")
    assert "maximum duration" in held.record.ending.message
    assert len(heard(held)) == pytest.approx(48_000, abs=2)
    assert held.record.turns[0].agent_text == "We have"


@pytest.mark.case("A09")
@pytest.mark.parametrize("end", [Close(1000), Close(1011, "oops"), Drop()])
async def test_a_connection_that_ends_while_a_task_is_under_way_is_not_the_agents_failure(end: Close | Drop) -> None:
    """A09, whatever the end looks like: invalid, at once, with the task and the words so far."""
    held, _ = await call([*ONE_MOMENT, Cue(700, [delegated()]), Cue(1100, calls(BOOK)), Cue(1400, [end])])
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "socket_closed")
    assert held.of("session.ended")[0].t_ms < 2000
    assert (held.record.turns[0].status, held.record.turns[0].agent_text) == ("closed", "One moment.")
    assert [each.status for each in held.record.tool_calls] == ["completed"]
    assert len(held.record.delegations) == 1


@pytest.mark.case("A11")
async def test_sound_that_comes_after_we_closed_is_counted_and_not_heard() -> None:
    """A11, as far as Live has it: nothing is cancelled or truncated, but what comes after the end is no answer."""
    late = [caption(" And more.", 9000, 9300), *[sound(to_bytes(tone(100)))] * 3]
    async with serving(live(ANSWER, at_close=late)) as server:
        held = await hold(live_plan(server, [PlannedTurn("When?", words())]), clock=WarpClock(), within_s=30)
    assert ending(held)[0] == "completed"
    assert held.record.turns[0].agent_text == "We close at ten."
    assert len(heard(held)) == pytest.approx(400 * 24, abs=50 * 24)
    assert "late_deltas=4" in held.record.warnings


@pytest.mark.case("A13")
@pytest.mark.parametrize(("ms", "told"), [(0, "0 ms"), (60, "60 ms")])
def test_caller_audio_that_is_too_short_is_refused_before_a_socket_opens(ms: float, told: str) -> None:
    """A13."""
    with pytest.raises(PlanError, match=rf"^caller audio {told} \(minimum 100 ms\)$") as caught:
        made(caller_audio=[tone(ms)])
    assert caught.value.stage == "caller_audio"


@pytest.mark.case("A15")
async def test_a_frame_of_a_megabyte_and_a_half_is_heard_whole() -> None:
    """A15: one delta whose JSON is 1.5 MB, about 23 s."""
    samples = ramp(561_600)
    held, _ = await call(
        [Cue(1000, [caption("Long.", 1000, 24_400), sound(to_bytes(samples))])], chunk_ms=500, timeouts=PATIENT
    )
    assert ending(held)[0] == "completed"
    assert heard(held).tolist() == samples.tolist()


@pytest.mark.case("A15")
async def test_a_frame_of_17_mib_ends_as_message_too_big() -> None:
    """A15: more than 16 MiB is not read, and told as what it is."""
    huge = SendRaw('{"type":"session.output_audio.delta","delta":"' + "A" * (17 * 2**20) + '"}')
    held, _ = await call([Cue(700, [huge])])
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "message_too_big")
    assert held.record.turns[0].status_reason == "message_too_big"


@pytest.mark.case("A15")
async def test_unknown_odd_and_broken_frames_are_kept_and_change_nothing() -> None:
    """A15: one warning per type; extra fields, nulls, wrong kinds, no JSON and bytes do not raise."""
    strange: list[Any] = [{"type": "session.hologram.delta", "delta": {"x": [1, 2]}}] * 3
    odd: list[Any] = [
        {"type": "session.started", "session": None},
        {"type": "session.output_audio.delta", "delta": ["AAAA"]},
        {"type": "session.output_audio.delta", "delta": "!"},
        {"type": "session.output_transcript.delta", "delta": None, "start_ms": "0", "end_ms": None},
        {"type": "session.usage.updated", "usage": [7]},
        {"type": "session.usage.updated", "usage": {"seconds": "many"}},
        SendRaw('{"type": "session.output_audio.delta"'),
        SendRaw("[1]"),
        SendRaw("null"),
        SendRaw(b"\x00\xff"),
    ]
    words_ = {**caption("We close at ten.", 900, 1300), "obfuscation": "zzz", "event_id": None}
    held, _ = await call([Cue(700, [*strange, *odd]), Cue(900, [words_]), *ANSWER[1:]])
    assert ending(held)[0] == "completed"
    assert held.record.turns[0].agent_text == "We close at ten."
    assert held.record.unknown_events == {"session.hologram.delta": 3}
    assert "malformed_frame=4" in held.record.warnings
    assert "unreadable_event=1" in held.record.warnings
    assert [event.payload["name"] for event in held.of("warning")].count("unknown_event") == 1


@pytest.mark.case("A15")
@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"error": None},
        {"error": "something broke"},
        {"error": {"message": None, "code": 7, "type": []}},
        {"message": "flat", "code": "flat_code"},
    ],
)
async def test_an_error_of_any_shape_is_read_and_an_answer_after_it_counts(shape: dict[str, Any]) -> None:
    """A15: an error event need not look as documented. What it is about goes on, or the time tells that it does not."""
    error = {"type": "error", **shape}
    held, _ = await call([Cue(600, [error]), *ANSWER], chunk_ms=100)
    assert ending(held)[0] == "completed"
    assert held.record.turns[0].agent_text == "We close at ten."
    held, _ = await call([Cue(600, [error])], chunk_ms=100, timeouts=replace(PATIENT, response_s=1.0))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "error_event")
    assert held.record.ending.message
