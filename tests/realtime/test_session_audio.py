"""Audio mode: the caller's chunks, the agent's samples in the WAV one by one, both clocks."""

from __future__ import annotations

import base64
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.record import Span
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from tests.realtime.support import asked, chunks, hold, known, only_session, plan, ramp, setup, tone
from tests.scripted_events import audio_delta, audio_reply, created, done, text_delta, transcript_delta
from tests.scripted_server import Expect, Pause, Send, Step, serving

BUSY_MS = 80  # how late a loop may be that shares its cores; scripts/bench_latency.py measures the real error


@pytest.mark.quirk(22)
@pytest.mark.behaviour(7)
async def test_250_ms_of_caller_audio_are_three_appends_a_commit_and_a_request() -> None:
    """Behaviour 7."""
    audio = ramp(6000)
    async with serving([*setup(), *asked(), *audio_reply([b"\1\0"])]) as server:
        await hold(plan(server.url, audio=audio))
    session = only_session(server)
    assert session.types(appends=True) == [
        "session.update",
        *["input_audio_buffer.append"] * 3,
        "input_audio_buffer.commit",
        "response.create",
    ]
    sent = [base64.b64decode(event["audio"]) for event in session.events("input_audio_buffer.append")]
    assert [len(piece) for piece in sent] == [4800, 4800, 2400]
    assert b"".join(sent) == to_bytes(audio)


async def test_appends_are_one_event_of_the_timeline_and_frames_hold_no_audio() -> None:
    script = [*setup(), *asked(), *audio_reply(chunks(ramp(4800)), "Two pieces")]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=ramp(6000)))
    assert "input_audio_buffer.append" not in held.types()
    spoken = held.of("caller.audio")
    assert [(event.payload["chunks"], event.payload["bytes"]) for event in spoken] == [(3, 12_000)]
    assert spoken[0].payload["duration_ms"] == 250
    deltas = held.of("response.output_audio.delta")
    assert [event.payload["delta"] for event in deltas] == [{"bytes": 4800}, {"bytes": 4800}]
    assert {event.payload["item_id"] for event in deltas} == {"item_resp_1"}


@pytest.mark.quirk(21)
@pytest.mark.case("A01")
@pytest.mark.parametrize("surplus", [0, 1])
async def test_samples_cut_between_deltas_arrive_whole(surplus: int) -> None:
    """A01: chunks of 1, 4799, 3, 9601 bytes and the rest; then with one surplus byte."""
    samples = np.arange(24_000).astype(np.int16)
    data = to_bytes(samples) + b"\x7f" * surplus
    cuts = np.cumsum([0, 1, 4799, 3, 9601, len(data)]).clip(max=len(data))
    pieces = [data[start:end] for start, end in pairwise(cuts)]
    async with serving([*setup(), *asked(), *audio_reply(pieces)]) as server:
        held = await hold(plan(server.url, audio=ramp(4800)))
    (span,) = held.record.turns[0].agent
    assert span.end - span.start == 24_000
    assert held.right[span.start : span.end].tolist() == samples.tolist()
    assert held.record.ending.kind == "completed"
    assert ("dangling_audio_byte=1" in held.record.warnings) == bool(surplus)


@pytest.mark.behaviour(17)
async def test_the_two_channels_hold_exactly_what_each_side_said() -> None:
    """Behaviour 17, sample by sample: caller from 0, agent after it, as far as the later of the two."""
    caller, agent = ramp(4800), ramp(7200, start=5000)
    async with serving([*setup(), *asked(), *audio_reply(chunks(agent), "Hello")]) as server:
        held = await hold(plan(server.url, audio=caller))
    turn = held.record.turns[0]
    assert turn.caller == Span(0, 4800)
    assert held.left[:4800].tolist() == caller.tolist()
    assert not held.left[4800:].any()
    (span,) = turn.agent
    assert held.right[span.start : span.end].tolist() == agent.tolist()
    assert not held.right[: span.start].any()
    assert held.right.size == held.left.size == span.end
    assert held.record.audio_samples == span.end


@pytest.mark.quirk(47)
async def test_not_in_real_time_latency_runs_from_the_commit_and_the_caller_takes_no_time() -> None:
    script = [*setup(), Expect("input_audio_buffer.commit"), *asked(), Pause(120)]
    async with serving([*script, *audio_reply([to_bytes(tone(300))])]) as server:
        held = await hold(plan(server.url, audio=tone(4000)))
    turn = held.record.turns[0]
    assert turn.sent_ms == 4000
    commit_to_delta_ms = 1000 * (
        only_session(server).sent_at("response.output_audio.delta")
        - only_session(server).received_at("input_audio_buffer.commit")
    )
    heard_ms = (voiced(held.right)[0].start - voiced(held.left)[-1].end) / 24
    assert commit_to_delta_ms >= 120
    assert abs(heard_ms - commit_to_delta_ms) < BUSY_MS
    assert abs(known(turn.first_audio_ms) - 4000 - commit_to_delta_ms) < BUSY_MS
    assert held.record.pacing is None
    assert held.record.real_time is False


@pytest.mark.quirk(47)
async def test_first_words_and_first_sound_are_measured_apart() -> None:
    """Words lead; both times are those of the frames at the socket, not of what is played."""
    script = [*setup(), *asked(), Pause(60), Send(transcript_delta("Hm")), Pause(120)]
    async with serving([*script, Send(audio_delta(to_bytes(tone(100)))), Send(done())]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    turn, session = held.record.turns[0], only_session(server)
    asked_s = session.received_at("response.create")
    for told_ms, kind in (
        (turn.first_token_ms, "response.output_audio_transcript.delta"),
        (turn.first_audio_ms, "response.output_audio.delta"),
    ):
        assert abs(known(told_ms) - turn.sent_ms - 1000 * (session.sent_at(kind) - asked_s)) < BUSY_MS
    assert known(turn.first_audio_ms) - known(turn.first_token_ms) >= 115


async def test_not_in_real_time_the_next_turn_starts_after_everything_placed() -> None:
    turns = (PlannedTurn("One", tone(200)), PlannedTurn("Two", tone(300)))
    script: list[Step] = [*setup(), *asked(), *audio_reply([to_bytes(tone(900))], "A", "resp_1")]
    script += [*asked(), *audio_reply([to_bytes(tone(100))], "B", "resp_2")]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(200), turns=turns))
    first, second = held.record.turns
    said = known(second.caller)
    assert said.start == first.agent[-1].end
    assert said.end - said.start == 300 * 24
    assert second.agent[0].start >= said.end
    times = [event.t_ms for event in held.events]
    assert times == sorted(times)


async def test_in_real_time_chunks_keep_their_distance_and_the_commit_waits_for_the_last_one() -> None:
    caller = ramp(6000)
    script = [*setup(), *asked(), Pause(150), *audio_reply([to_bytes(ramp(4800, start=9000))])]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=caller, real_time=True, chunk_ms=50))
    session = only_session(server)
    first_s = session.received_at("input_audio_buffer.append")
    for nth in range(5):
        # A busy machine may be late, which the pacing tells; it is never early.
        assert session.received_at("input_audio_buffer.append", nth) - first_s > nth * 0.05 - BUSY_MS / 1000
    commit_s = session.received_at("input_audio_buffer.commit")
    assert commit_s - first_s > 0.25 - BUSY_MS / 1000
    turn = held.record.turns[0]
    assert known(turn.caller).start == 0
    assert held.left[held.left != 0].tolist() == caller.tolist()
    truth_ms = (session.sent_at("response.output_audio.delta") - commit_s) * 1000
    heard_ms = (turn.agent[0].start - known(turn.caller).end) / 24
    assert truth_ms >= 150
    assert abs(heard_ms - truth_ms) < BUSY_MS
    pacing = known(held.record.pacing)
    assert pacing.chunks == 5
    assert pacing.lag_max_ms is not None


async def test_in_real_time_trickling_audio_keeps_its_gaps() -> None:
    trickle: list[Step] = [Send(audio_delta(to_bytes(tone(40)))), Pause(120), Send(audio_delta(to_bytes(tone(40))))]
    async with serving([*setup(), *asked(), *trickle, Send(done())]) as server:
        held = await hold(plan(server.url, audio=tone(100), real_time=True))
    first, second = held.record.turns[0].agent
    apart_s = np.diff([logged.at_s for logged in only_session(server).sent if "delta" in logged.event])[0]
    assert apart_s >= 0.12
    assert abs((second.start - first.start) / 24 - apart_s * 1000) < BUSY_MS


@pytest.mark.quirk(48)
async def test_in_real_time_the_caller_waits_until_the_agent_was_heard() -> None:
    turns = (PlannedTurn("One", tone(100)), PlannedTurn("Two", tone(100)))
    script: list[Step] = [*setup(), *asked(), *audio_reply([to_bytes(tone(400))], "A", "resp_1")]
    script += [*asked(), *audio_reply([to_bytes(tone(50))], "B", "resp_2")]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), turns=turns, real_time=True))
    first, second = held.record.turns
    assert 0 <= known(second.caller).start - first.agent[-1].end < BUSY_MS * 24


@pytest.mark.quirk(50)
@pytest.mark.case("A03")
async def test_a_reply_cut_at_the_token_limit_keeps_what_was_heard() -> None:
    """A03: status incomplete after half a sentence is an ending like any other, with its reason."""
    cut = {"type": "incomplete", "reason": "max_output_tokens"}
    reply = audio_reply([to_bytes(tone(500))], "We have a", status="incomplete", status_details=cut)
    async with serving([*setup(), *asked(), *reply]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    turn = held.record.turns[0]
    assert held.record.ending.kind == "completed"
    assert (turn.status, turn.status_reason) == ("incomplete", "max_output_tokens")
    assert turn.agent_text == "We have a"
    assert turn.agent[0].end - turn.agent[0].start == 500 * 24


@pytest.mark.quirk(50)
@pytest.mark.case("A03")
async def test_a_filtered_reply_without_any_audio_is_an_ending_too() -> None:
    """A03, second script: content_filter with no audio at all."""
    cut = {"type": "incomplete", "reason": "content_filter"}
    reply = [Send(created()), Send(done(status="incomplete", status_details=cut))]
    async with serving([*setup(), *asked(), *reply]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    turn = held.record.turns[0]
    assert held.record.ending.kind == "completed"
    assert (turn.status, turn.status_reason) == ("incomplete", "content_filter")
    assert (turn.agent, turn.first_audio_ms, turn.agent_text) == ((), None, "")
    assert not held.right.any()


@pytest.mark.quirk(7)
@pytest.mark.case("A11")
async def test_audio_of_a_response_that_is_over_is_counted_and_not_heard() -> None:
    """A11, as far as a caller without interruptions meets it: late deltas of an ended response never sound."""
    cut = {"type": "cancelled", "reason": "client_cancelled"}
    late = [Send(audio_delta(to_bytes(tone(100)), "resp_1"))] * 3
    turns = (PlannedTurn("One", tone(100)), PlannedTurn("Two", tone(100)))
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(600)), "resp_1")),
        Send(done("resp_1", "cancelled", status_details=cut)),
        *late,
        *asked(),
        *audio_reply([to_bytes(ramp(2400))], "B", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), turns=turns))
    first, second = held.record.turns
    assert [span.end - span.start for span in first.agent] == [600 * 24]
    (span,) = second.agent
    assert held.right[span.start : span.end].tolist() == ramp(2400).tolist()
    assert "late_deltas=3" in held.record.warnings


@pytest.mark.quirk(7)
async def test_audio_after_output_audio_done_still_counts_until_the_response_is_done() -> None:
    script = [
        *setup(),
        *asked(),
        Send(audio_delta(to_bytes(ramp(240)))),
        Send({"type": "response.output_audio.done", "response_id": "resp_1", "item_id": "item_1"}),
        Send(audio_delta(to_bytes(ramp(240, start=300)))),
        Send(done()),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    spans = held.record.turns[0].agent
    assert sum(span.end - span.start for span in spans) == 480


@pytest.mark.quirk(41)
@pytest.mark.case("A15")
async def test_a_frame_of_a_megabyte_and_a_half_is_heard_whole() -> None:
    """A15: one audio delta whose JSON is 1.5 MB, about 23 s."""
    samples = ramp(561_600)  # 23.4 s
    async with serving([*setup(), *asked(), *audio_reply([to_bytes(samples)])]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    (span,) = held.record.turns[0].agent
    assert (span.end - span.start) / 24_000 == 23.4
    assert held.right[span.start : span.end].tolist() == samples.tolist()


@pytest.mark.quirk(6)
async def test_an_audio_reply_of_text_alone_is_an_answer_without_sound() -> None:
    script = [*setup(), *asked(), Send(text_delta("Only words")), Send(done())]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    turn = held.record.turns[0]
    assert (turn.agent_text, turn.first_audio_ms, turn.agent) == ("Only words", None, ())
    assert turn.first_token_ms is not None
    assert held.record.warnings == ("no_audio=1",)


async def test_bad_base64_is_a_warning_and_the_rest_is_heard() -> None:
    bad = {**audio_delta(b""), "delta": "!"}
    script = [*setup(), *asked(), Send(bad), Send(audio_delta(b"\5\0\6\0")), Send(done())]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    assert held.right[held.record.turns[0].agent[0].start :].tolist() == [5, 6]
    assert "unreadable_event=1" in held.record.warnings


@pytest.mark.quirk(2)
async def test_what_the_agents_side_understood_is_kept_with_its_turn_even_when_late() -> None:
    heard = "conversation.item.input_audio_transcription"
    session = {"type": "realtime", "audio": {"input": {"transcription": {"model": "whisper-1"}}}}
    script = [
        *setup(),
        Expect("input_audio_buffer.commit"),
        Send({"type": "input_audio_buffer.committed", "item_id": "item_u"}),
        *asked(),
        Send({"type": f"{heard}.delta", "item_id": "item_u", "delta": "a table for "}),
        *audio_reply([b"\1\0"], "Sure"),
        Pause(50),
        Send({"type": f"{heard}.completed", "item_id": "item_u", "transcript": "A table for three."}),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), session=session))
    assert held.record.turns[0].heard_text == "A table for three."


@settings(max_examples=8, deadline=None)
@given(data=st.data())
async def test_however_a_reply_is_cut_into_deltas_the_samples_are_the_same(data: st.DataObject) -> None:
    samples = ramp(2000)
    whole = to_bytes(samples)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    edges = [0, *cuts, len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(edges)]
    async with serving([*setup(), *asked(), *audio_reply(pieces)]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    heard = [held.right[span.start : span.end] for span in held.record.turns[0].agent]
    assert np.concatenate(heard).tolist() == samples.tolist()
