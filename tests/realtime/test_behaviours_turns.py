"""Talking over the agent: what was heard of it, what the server is told, and what is never heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.dialects.base import Place
from runs_app.realtime.overlap import Sounding, audio_end_ms, before, heard, sample_when_heard, truncations
from runs_app.realtime.pcm import Int16, to_bytes
from runs_app.realtime.record import Span
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import (
    QUICK,
    Held,
    TableExecutor,
    asked,
    hold,
    known,
    only_session,
    plan,
    ramp,
    setup,
    tone,
    tool,
)
from tests.scripted_events import audio_delta, audio_reply, call_done, call_item, created, done, error, text_reply
from tests.scripted_server import Expect, ScriptedServer, Send, Session, Step, serving

CANCELLED: dict[str, Any] = {
    "status": "cancelled",
    "status_details": {"type": "cancelled", "reason": "client_cancelled"},
}
ANSWER = ramp(2400, start=9000)


def talk(*, after_ms: float, words: Int16 | None = None, **more: Any) -> tuple[PlannedTurn, ...]:
    """Two turns; the second is said over the reply to the first."""
    over = PlannedTurn("Two", tone(200) if words is None else words, interrupt_after_ms=after_ms, **more)
    return (PlannedTurn("One", tone(300)), over)


async def warped(server: ScriptedServer, turns: Sequence[PlannedTurn], **changes: Any) -> Held:
    """The call in real time of a clock that never lets anybody wake up late."""
    times = {"real_time": True, "timeouts": QUICK, **changes}
    return await hold(plan(server.url, audio=tone(300), turns=tuple(turns), **times), clock=WarpClock())


def answered_again(*, last: str = "resp_2") -> list[Step]:
    return [*asked(), *audio_reply([to_bytes(ANSWER)], "For four, then", last)]


def strict(session: Session) -> None:
    """As the server does: no truncation beyond the audio that it sent."""
    sent_ms = sum(
        len(logged.event["delta"]) * 3 / 4 / 48
        for logged in session.sent
        if logged.event["type"] == "response.output_audio.delta" and logged.event["response_id"] == "resp_1"
    )
    for event in session.events("conversation.item.truncate"):
        assert 0 <= event["audio_end_ms"] <= sent_ms


@pytest.mark.quirk(8)
@pytest.mark.behaviour(20)
@pytest.mark.case("A11")
async def test_audio_of_a_reply_that_was_talked_over_is_cut_at_what_was_heard() -> None:
    """A11 and behaviour 20: 1.0 s came, 0.6 s were heard; three late deltas are counted and never heard."""
    agent = ramp(24_000, start=5000)
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(agent), "resp_1")),
        Expect("response.cancel"),
        Expect("conversation.item.truncate"),
        *[Send(audio_delta(to_bytes(ramp(2400)), "resp_1"))] * 3,
        Send(done("resp_1", **CANCELLED)),
        *answered_again(),
    ]
    async with serving(script) as server:
        held = await warped(server, talk(after_ms=600))
    session = only_session(server)
    strict(session)
    (cut,) = session.events("conversation.item.truncate")
    assert (cut["item_id"], cut["content_index"], cut["audio_end_ms"]) == ("item_1", 0, 600)
    first, second = held.record.turns
    (heard_of_it,) = first.agent
    assert heard_of_it.end - heard_of_it.start == 600 * 24
    assert held.right[heard_of_it.start : heard_of_it.end].tolist() == agent[: 600 * 24].tolist()
    (after,) = second.agent
    assert not held.right[heard_of_it.end : after.start].any()
    assert held.right[after.start : after.end].tolist() == ANSWER.tolist()
    assert "late_deltas=3" in held.record.warnings
    assert (first.interrupted, second.interrupted) == (True, False)
    assert known(second.caller).start == heard_of_it.end == round(known(first.interrupted_ms) * 24)
    assert (first.status, first.status_reason) == ("cancelled", "client_cancelled")
    assert known(first.interruption_stop_ms) >= 0
    assert held.record.ending.kind == "completed"
    assert [event.payload["heard_ms"] for event in held.of("caller.interrupts")] == [600]
    order = [kind for kind in session.types() if kind != "session.update"]
    assert order == [
        "input_audio_buffer.commit",
        "response.create",
        "response.cancel",
        "conversation.item.truncate",
        "input_audio_buffer.commit",
        "response.create",
    ]


@pytest.mark.quirk(27)
@pytest.mark.behaviour(32)
@pytest.mark.case("A11")
async def test_a_reply_without_any_audio_is_cancelled_and_not_truncated() -> None:
    """A11, variant: cancelled before any audio of R1."""
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Expect("response.cancel"),
        Send(audio_delta(to_bytes(ramp(2400)), "resp_1")),
        Send(done("resp_1", **CANCELLED)),
        *answered_again(),
    ]
    async with serving(script) as server:
        held = await warped(server, talk(after_ms=0))
    session = only_session(server)
    assert session.types().count("response.cancel") == 1
    assert session.events("conversation.item.truncate") == []
    first, second = held.record.turns
    assert first.agent == ()
    assert first.interrupted
    assert "late_deltas=1" in held.record.warnings
    assert held.right[second.agent[0].start : second.agent[0].end].tolist() == ANSWER.tolist()


@pytest.mark.quirk(26)
@pytest.mark.case("A11")
async def test_a_truncation_never_goes_beyond_what_was_received() -> None:
    """A11, variant 2: the clock says 9 s, but only 2.0 s came. The caller waits for silence, and it lasted 7 s."""
    sounds = [Sounding(Place("resp_1", 0, "item_1", 0), Span(24_000, 72_000))]
    late = 24_000 + 9 * 24_000
    assert [cut.audio_end_ms for cut in truncations(sounds, late, ongoing={"resp_1"})] == [2000]
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(2000)), "resp_1")),
        Expect("response.cancel"),
        Expect("conversation.item.truncate"),
        Send(done("resp_1", **CANCELLED)),
        *answered_again(),
    ]
    turns = (PlannedTurn("One", tone(300)), PlannedTurn("Two", tone(200), wait="silence"))
    async with serving(script) as server:
        held = await warped(server, turns)
    (cut,) = only_session(server).events("conversation.item.truncate")
    assert cut["audio_end_ms"] == 2000
    first, second = held.record.turns
    assert known(second.caller).start - first.agent[-1].end == 24_000  # a second of silence was enough


@pytest.mark.behaviour(22, 23, 24)
@pytest.mark.parametrize(
    ("received_ms", "elapsed_ms", "ongoing", "expected"),
    [
        (1000, 5000, True, 1000),
        (1000, 5000, False, None),
        (1000, 1000, False, None),
        (1000, 400, False, 400),
        (1000, 0, True, 0),
        (1000, -1, True, None),
        (0, 0, True, None),
        (0, 800, True, None),
        (1000, 399.96, True, 399),
    ],
)
def test_where_an_item_is_cut(received_ms: float, elapsed_ms: float, ongoing: bool, expected: int | None) -> None:
    assert audio_end_ms(received_ms=received_ms, elapsed_ms=elapsed_ms, ongoing=ongoing) == expected


@pytest.mark.behaviour(23)
async def test_a_reply_that_came_whole_is_truncated_where_it_was_cut_and_nothing_is_cancelled() -> None:
    """All of it was received, response.done too, and half of it is still to be heard."""
    script = [*setup(), *asked(), *audio_reply([to_bytes(tone(1500))], "Long"), Expect("conversation.item.truncate")]
    async with serving([*script, *answered_again()]) as server:
        held = await warped(server, talk(after_ms=700))
    session = only_session(server)
    assert session.events("response.cancel") == []
    assert [event["audio_end_ms"] for event in session.events("conversation.item.truncate")] == [700]
    first = held.record.turns[0]
    assert (first.status, first.interrupted, first.interruption_stop_ms) == ("completed", True, None)
    assert first.agent[-1].end - first.agent[0].start == 700 * 24


async def test_a_reply_too_short_to_be_talked_over_is_heard_whole() -> None:
    async with serving([*setup(), *asked(), *audio_reply([to_bytes(tone(400))], "No"), *answered_again()]) as server:
        held = await warped(server, talk(after_ms=700))
    session = only_session(server)
    assert {"response.cancel", "conversation.item.truncate"}.isdisjoint(session.types())
    first, second = held.record.turns
    assert not first.interrupted
    assert known(second.caller).start == first.agent[-1].end


@pytest.mark.behaviour(20)
async def test_nobody_breaks_in_where_nothing_says_so() -> None:
    turns = (PlannedTurn("One", tone(300)), PlannedTurn("Two", tone(200)))
    async with serving([*setup(), *asked(), *audio_reply([to_bytes(tone(1500))], "A"), *answered_again()]) as server:
        held = await warped(server, turns)
    assert not any(turn.interrupted for turn in held.record.turns)
    assert {"response.cancel", "conversation.item.truncate"}.isdisjoint(only_session(server).types())


@pytest.mark.quirk(49)
@pytest.mark.behaviour(31)
@pytest.mark.parametrize("answered_first", [True, False])
async def test_a_cancel_that_races_the_end_of_the_reply_is_no_error(answered_first: bool) -> None:
    """The reply was complete when the cancel arrived: the server says so, before or after its response.done."""
    refused = Send(error("response_cancel_not_active", "Cancellation failed: no active response found"))
    over = Send(done("resp_1"))
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(1000)), "resp_1")),
        Expect("response.cancel"),
        *([over, refused] if answered_first else [refused, over]),
        *answered_again(),
    ]
    async with serving(script) as server:
        held = await warped(server, talk(after_ms=600))
    assert held.record.ending.kind == "completed"
    first, second = held.record.turns
    assert (first.status, first.interrupted, first.interruption_stop_ms) == ("completed", True, None)
    assert second.agent_text == "For four, then"


@pytest.mark.parametrize("kind", ["response.cancel", "conversation.item.truncate"])
async def test_a_server_that_knows_no_cancel_or_truncate_costs_no_turn(kind: str) -> None:
    """Its refusal names our event; that is not a failure of the agent's answer."""

    def refusal(session: Session) -> dict[str, Any]:
        asked_for = session.events(kind)[0]["event_id"]
        return error("unknown_event", f"unknown event {kind}", event_id=asked_for)

    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(1000)), "resp_1")),
        Expect("conversation.item.truncate"),
        Send(refusal),
        Send(done("resp_1")),
        *answered_again(),
    ]
    async with serving(script) as server:
        held = await warped(server, talk(after_ms=600))
    assert held.record.ending.kind == "completed"
    assert "benign_error:unknown_event=1" in held.record.warnings


async def test_a_server_that_never_confirms_a_cancel_is_asked_all_the_same() -> None:
    script = [*setup(), *asked(), Send(created("resp_1")), Send(audio_delta(to_bytes(tone(1000)), "resp_1"))]
    script += [Expect("response.cancel"), *answered_again(), Send(done("resp_1", **CANCELLED))]
    async with serving(script) as server:
        held = await warped(server, talk(after_ms=600))
    first, second = held.record.turns
    assert (first.status, first.status_reason) == ("cancelled", "not_confirmed")
    assert first.interruption_stop_ms is None or first.interruption_stop_ms > 200  # it may still come, much later
    assert second.agent_text == "For four, then"
    assert "cancel_not_confirmed=1" in held.record.warnings


async def test_a_response_asked_for_before_the_caller_broke_in_is_not_heard_either() -> None:
    """The words before a tool call play while its result is already being answered: that answer is cancelled too."""
    call = call_item("find_table", "{}")
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(900)), "resp_1")),
        Send(call_done(call)),
        Send(done("resp_1")),
        *asked(),
        Expect("response.cancel"),
        Send(created("resp_2")),
        Send(audio_delta(to_bytes(tone(300)), "resp_2", "item_2")),
        Send(done("resp_2", **CANCELLED)),
        *answered_again(last="resp_3"),
    ]
    executor = TableExecutor({"find_table": ToolOutcome("completed", {"ok": True})})
    async with serving(script) as server:
        session = {**plan(server.url, audio=tone(300)).session, "tools": [tool("find_table")]}
        held = await warped(server, talk(after_ms=600), executor=executor, session=session)
    first, second = held.record.turns
    assert sum(span.end - span.start for span in first.agent) == 600 * 24
    assert [event["audio_end_ms"] for event in only_session(server).events("conversation.item.truncate")] == [600]
    assert second.agent_text == "For four, then"
    assert executor.state["ran"] == [["find_table", {}]]


async def test_a_tool_that_runs_while_the_caller_breaks_in_still_answers_and_asks_for_nothing() -> None:
    call = call_item("find_table", "{}")
    script = [
        *setup(),
        *asked(),
        Send(created("resp_1")),
        Send(audio_delta(to_bytes(tone(900)), "resp_1")),
        Send(call_done(call)),
        Send(done("resp_1")),
        Expect("conversation.item.create"),
        *answered_again(),
    ]
    executor = TableExecutor({"find_table": ToolOutcome("completed", {"ok": True}, delay_ms=1200)})
    async with serving(script) as server:
        session = {**plan(server.url, audio=tone(300)).session, "tools": [tool("find_table")]}
        held = await warped(server, talk(after_ms=600), executor=executor, session=session)
    types = only_session(server).types()
    assert types.count("response.create") == 2
    assert "response.cancel" not in types
    assert types.index("conversation.item.create") < len(types) - 1
    assert [call.status for call in held.record.tool_calls] == ["completed"]


async def test_what_cannot_be_talked_over_waits_for_the_reply_and_says_so() -> None:
    turns = (PlannedTurn("One"), PlannedTurn("Two", interrupt_after_ms=600))
    script = [*setup(), *asked(), *text_reply("A"), *asked(), *text_reply("B", "resp_2")]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    assert [turn.agent_text for turn in held.record.turns] == ["A", "B"]
    assert "nobody_breaks_in=1" in held.record.warnings


@given(
    lengths=st.lists(st.integers(1, 500), min_size=1, max_size=6),
    gaps=st.lists(st.integers(0, 300), min_size=6, max_size=6),
    at=st.integers(-100, 5000),
    ongoing=st.booleans(),
)
def test_no_cut_tells_more_than_was_received_or_heard(
    lengths: list[int], gaps: list[int], at: int, ongoing: bool
) -> None:
    """Whatever the pieces, the pauses between them and the moment."""
    spans, place = [], 0
    for length, gap in zip(lengths, gaps, strict=False):
        spans.append(Span(place + gap, place + gap + length))
        place = spans[-1].end
    sounds = [Sounding(Place("r", 0, f"item_{nth % 2}", 0), span) for nth, span in enumerate(spans)]
    left = before(sounds, at)
    assert sum(s.span.end - s.span.start for s in left) == heard(spans, at)
    assert all(s.span.end <= at for s in left)
    for cut in truncations(sounds, at, ongoing={"r"} if ongoing else set()):
        mine = [sound.span for sound in sounds if sound.place.item_id == cut.item_id]
        assert 0 <= cut.audio_end_ms <= heard(mine, at) / 24
        assert ongoing or heard(mine, at) < sum(span.end - span.start for span in mine)
    for count in (1, sum(lengths) // 2, sum(lengths)):
        moment = sample_when_heard(spans, count)
        assert moment is not None
        assert heard(spans, moment) == count
    assert sample_when_heard(spans, sum(lengths) + 1) is None
