"""The server ends the caller's turns: silence that flows, endpoints, turns cut in two, and the caller talking over."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.tools import ToolOutcome
from tests.detecting_server import Answer, detecting
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import QUICK, Held, TableExecutor, hold, known, only_session, plan, ramp, tone
from tests.scripted_events import call_done, call_item
from tests.scripted_server import ScriptedServer, serving

CHUNK_MS = 20
REPLY = ramp(4800, start=9000)


def quiet(ms: float) -> Int16:
    return np.zeros(round(ms * 24), dtype=np.int16)


def said(*parts: Int16) -> Int16:
    return np.concatenate(parts)


def answer(**more: Any) -> Answer:
    return Answer(**{"audio": [to_bytes(REPLY)], "text": "For four", **more})


async def call(server: ScriptedServer, turns: Sequence[PlannedTurn], **changes: Any) -> Held:
    detection = {"type": "server_vad", "create_response": True, "interrupt_response": True}
    detection |= changes.pop("detection", {})
    made = plan(server.url, audio=turns[0].audio, turns=tuple(turns), real_time=True, chunk_ms=CHUNK_MS)
    session = {**made.session, "audio": {**made.session["audio"], "input": {"turn_detection": detection}}}
    timeouts = replace(QUICK, turn_s=8)
    return await hold(replace(made, **{"session": session, "timeouts": timeouts, **changes}), clock=WarpClock())


@pytest.mark.quirk(23, 24)
async def test_the_server_hears_the_end_and_answers_without_being_asked() -> None:
    words = said(tone(400), quiet(120))
    async with serving(detecting([answer()], silence_ms=500)) as server:
        held = await call(server, [PlannedTurn("For four", words)])
    session = only_session(server)
    assert session.types() == ["session.update"]  # and appends, of which silence is the most
    appended = b"".join(base64.b64decode(event["audio"]) for event in session.events("input_audio_buffer.append"))
    assert appended.startswith(to_bytes(words))
    assert len(appended) / 48 >= 900
    assert not any(appended[len(to_bytes(words)) :])
    (turn,) = held.record.turns
    assert turn.sent_ms == 400
    # The server hears a chunk as soon as it has it, which is before its last sample was said.
    assert 900 - CHUNK_MS <= known(turn.endpoint_ms) <= 900
    assert voiced(held.right)[0].start / 24 == known(turn.first_audio_ms) >= known(turn.endpoint_ms)
    assert (turn.status, turn.splits, turn.agent_text) == ("completed", 0, "For four")
    assert held.left[: words.size].tolist() == words.tolist()
    assert not held.left[words.size :].any()
    sent = [event.t_ms for event in held.of("turn.sent")]
    assert 400 - CHUNK_MS <= sent[0] <= 400


async def test_a_server_that_tells_of_no_speech_has_its_endpoint_in_the_commit() -> None:
    async with serving(detecting([answer()], silence_ms=300, tells=False)) as server:
        held = await call(server, [PlannedTurn("For four", tone(400))])
    turn = held.record.turns[0]
    assert 700 - CHUNK_MS <= known(turn.endpoint_ms) <= 700
    assert turn.agent_text == "For four"


async def test_an_answer_that_the_callers_next_words_cut_off_is_one_turn_and_visible() -> None:
    """A pause of 700 ms where 500 ms end a turn: the server answers half of it, hears the rest, and answers again."""
    words = said(tone(400), quiet(700), tone(300))
    half = answer(audio=[to_bytes(tone(1500))], text="For whom", ends=False)
    async with serving(detecting([half, answer()], silence_ms=500)) as server:
        held = await call(server, [PlannedTurn("A table ... for four", words)])
    (turn,) = held.record.turns
    assert turn.splits == 1
    assert "turn_split=1" in held.record.warnings
    assert turn.agent_text == "For whom For four"
    assert (turn.status, turn.interrupted) == ("completed", False)
    assert 1400 + 500 - CHUNK_MS <= known(turn.endpoint_ms) <= 1900
    assert turn.sent_ms == 1400
    first, last = turn.agent
    # It was heard from its arrival until the caller went on, and the server forgets the rest.
    assert (first.end - first.start) / 24 == pytest.approx(200, abs=2 * CHUNK_MS)
    (cut,) = only_session(server).events("conversation.item.truncate")
    assert cut["audio_end_ms"] == (first.end - first.start) // 24
    assert held.right[last.start : last.end].tolist() == REPLY.tolist()
    assert held.record.ending.kind == "completed"


async def test_an_answer_that_was_complete_before_the_caller_was_does_not_end_the_turn() -> None:
    words = said(tone(400), quiet(700), tone(300))
    quick = answer(audio=[to_bytes(tone(60))], text="Yes?")
    async with serving(detecting([quick, answer()], silence_ms=500)) as server:
        held = await call(server, [PlannedTurn("A table ... for four", words)])
    (turn,) = held.record.turns
    assert (turn.agent_text, turn.splits, turn.status) == ("Yes? For four", 1, "completed")


async def test_a_hasty_answer_counts_when_no_other_follows() -> None:
    words = said(tone(400), quiet(700), tone(300))
    async with serving(detecting([answer()], silence_ms=500)) as server:
        held = await call(server, [PlannedTurn("A table ... for four", words)])
    (turn,) = held.record.turns
    assert (turn.agent_text, turn.status) == ("For four", "completed")
    assert held.record.ending.kind == "completed"


async def test_a_tool_gets_one_answer_and_one_request() -> None:
    item = call_item("find_table", "{}")
    tooled = answer(events=[call_done(item)])
    executor = TableExecutor({"find_table": ToolOutcome("completed", {"free": True})})
    async with serving(detecting([tooled, answer()], silence_ms=300)) as server:
        held = await call(server, [PlannedTurn("For four", tone(400))], executor=executor)
    assert only_session(server).types() == ["session.update", "conversation.item.create", "response.create"]
    assert executor.state["ran"] == [["find_table", {}]]
    assert held.record.turns[0].agent_text == "For four"
    assert held.record.turns[0].rounds == 1


async def test_a_tool_called_for_half_of_the_words_runs_and_the_whole_is_answered_unasked() -> None:
    words = said(tone(400), quiet(700), tone(300))
    tooled = answer(events=[call_done(call_item("find_table", "{}"))])
    executor = TableExecutor({"find_table": ToolOutcome("completed", {"free": True})})
    async with serving(detecting([tooled, answer()], silence_ms=500)) as server:
        held = await call(server, [PlannedTurn("A table ... for four", words)], executor=executor)
    assert "response.create" not in only_session(server).types()
    assert executor.state["ran"] == [["find_table", {}]]
    assert held.record.turns[0].agent_text == "For four"


async def test_a_detection_that_creates_no_response_is_asked_for_one() -> None:
    async with serving(detecting([answer()], silence_ms=300, creates=False)) as server:
        held = await call(server, [PlannedTurn("For four", tone(400))], detection={"create_response": False})
    assert only_session(server).types() == ["session.update", "response.create"]
    assert held.record.turns[0].agent_text == "For four"


async def test_a_server_that_never_answers_is_a_time_out() -> None:
    times = replace(QUICK, turn_s=0.6)
    async with serving(detecting([])) as server:
        held = await call(server, [PlannedTurn("For four", tone(400))], timeouts=times)
    assert held.record.ending.kind == "response_timeout"
    assert held.record.turns[0].status == "timeout"


@pytest.mark.quirk(29)
@pytest.mark.parametrize("received", ["whole", "half"])
async def test_the_callers_voice_stops_the_agent_and_its_words_are_answered(received: str) -> None:
    """Real overlap: both are heard until the server notices, then nothing of the old reply is."""
    long = answer(audio=[to_bytes(tone(3000))], text="We have", ends=received == "whole")
    turns = [PlannedTurn("One", tone(300)), PlannedTurn("Two", tone(400), interrupt_after_ms=800)]
    async with serving(detecting([long, answer()], silence_ms=300)) as server:
        held = await call(server, turns)
    session = only_session(server)
    assert {"response.cancel", "response.create", "input_audio_buffer.commit"}.isdisjoint(session.types())
    first, second = held.record.turns
    assert first.interrupted
    assert first.interruption_stop_ms is None  # we cancelled nothing
    assert (first.status, first.status_reason) == (
        ("completed", None) if received == "whole" else ("cancelled", "turn_detected")
    )
    (heard,) = first.agent
    began = known(second.caller).start
    assert 800 <= (began - heard.start) / 24 <= 800 + CHUNK_MS
    assert 0 <= (heard.end - began) / 24 <= 2 * CHUNK_MS  # the scripted server notices at once
    assert held.left[began:].any()
    (cut,) = session.events("conversation.item.truncate")
    assert cut["audio_end_ms"] == (heard.end - heard.start) // 24
    assert (second.agent_text, second.status, second.splits) == ("For four", "completed", 0)
    assert held.right[second.agent[0].start : second.agent[0].end].tolist() == REPLY.tolist()
    assert not held.right[heard.end : second.agent[0].start].any()


async def test_a_detection_that_does_not_interrupt_lets_the_agent_go_on() -> None:
    long = answer(audio=[to_bytes(tone(2000))], text="We have")
    turns = [PlannedTurn("One", tone(300)), PlannedTurn("Two", tone(400), interrupt_after_ms=800)]
    async with serving(detecting([long, answer()], silence_ms=300, interrupts=False)) as server:
        held = await call(server, turns, detection={"interrupt_response": False})
    first, second = held.record.turns
    assert first.interrupted
    assert (first.agent[0].end - first.agent[0].start) / 24 == 2000
    assert known(second.caller).start < first.agent[0].end
    assert only_session(server).events("conversation.item.truncate") == []
    assert second.agent_text == "For four"


async def test_several_turns_wait_for_each_other_on_an_open_microphone() -> None:
    turns = [PlannedTurn(name, tone(300)) for name in ("One", "Two", "Three")]
    answers = [answer(text=name) for name in ("A", "B", "C")]
    async with serving(detecting(answers, silence_ms=300)) as server:
        held = await call(server, turns)
    assert [turn.agent_text for turn in held.record.turns] == ["A", "B", "C"]
    for before, after in zip(held.record.turns, held.record.turns[1:], strict=False):
        pause = known(after.caller).start - before.agent[-1].end
        assert 0 <= pause <= 2 * CHUNK_MS * 24
    for turn in held.record.turns:
        assert known(turn.endpoint_ms) - turn.sent_ms == pytest.approx(300, abs=CHUNK_MS)


async def test_not_in_real_time_the_silence_alone_takes_its_time() -> None:
    """Words at once, silence paced: latency runs from the last voiced sample."""
    words = said(tone(1000), quiet(400))
    async with serving(detecting([answer()], silence_ms=200)) as server:
        held = await call(server, [PlannedTurn("For four", words)], real_time=False)
    (turn,) = held.record.turns
    assert turn.sent_ms == 1000
    assert known(turn.endpoint_ms) - turn.sent_ms == pytest.approx(200, abs=CHUNK_MS)
    latency_ms = (voiced(held.right)[0].start - voiced(held.left)[-1].end) / 24
    assert latency_ms == pytest.approx(200, abs=CHUNK_MS)
    assert held.record.pacing is None
