"""Text mode, and what every mode shares: what is sent, what is kept of it, usage, unknown and broken frames."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.realtime.dialects.realtime import RealtimeDialect
from runs_app.realtime.plan import Timeouts
from tests.realtime.support import QUICK, asked, hold, known, only_session, plan, setup
from tests.scripted_events import (
    created,
    done,
    error,
    session_created,
    text_delta,
    text_reply,
    transcript_delta,
    usage,
)
from tests.scripted_server import Expect, Pause, Send, SendRaw, serving


@pytest.mark.behaviour(6)
async def test_a_text_turn_is_exactly_one_item_and_one_request() -> None:
    """Behaviour 6."""
    async with serving([*setup(), *asked(), *text_reply("We open at nine.")]) as server:
        held = await hold(plan(server.url, text="When do you open?"))
    session = only_session(server)
    assert session.types() == ["session.update", "conversation.item.create", "response.create"]
    item = session.events("conversation.item.create")[0]["item"]
    assert item == {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "When do you open?"}],
    }
    turn = held.record.turns[0]
    assert held.record.ending.kind == "completed"
    assert (turn.agent_text, turn.status) == ("We open at nine.", "completed")
    assert held.conversation.audio is None


async def test_history_goes_before_the_turn_and_after_the_session_is_ready() -> None:
    history = (("user", "I am Nora."), ("assistant", "Hello Nora."))
    async with serving([*setup(), *asked(), *text_reply("Hi")]) as server:
        held = await hold(plan(server.url, history=history))
    items = [event["item"] for event in only_session(server).events("conversation.item.create")]
    assert [(item["role"], item["content"][0]) for item in items[:2]] == [
        ("user", {"type": "input_text", "text": "I am Nora."}),
        ("assistant", {"type": "output_text", "text": "Hello Nora."}),
    ]
    assert held.types().index("session.ready") < held.types().index("conversation.item.create")


async def test_several_turns_follow_each_other_on_one_connection() -> None:
    turns = tuple(plan("ws://x", text=text).turns[0] for text in ("One", "Two"))
    script = [
        *setup(), *asked(), *text_reply("First", "resp_1"), *asked(), *text_reply("Second", "resp_2")
    ]  # fmt: skip
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    assert [(turn.caller_text, turn.agent_text) for turn in held.record.turns] == [
        ("One", "First"),
        ("Two", "Second"),
    ]
    assert held.record.turns[1].sent_ms >= known(held.record.turns[0].done_ms)


@pytest.mark.quirk(45)
@pytest.mark.behaviour(8)
async def test_beta_delta_names_give_the_same_text() -> None:
    """Behaviour 8."""
    beta = {**text_delta("Hello there"), "type": "response.text.delta"}
    script = [*setup(), *asked(), Send(created()), Send(beta), Send(done())]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Hello there"
    assert held.record.unknown_events == {}


@pytest.mark.quirk(4)
async def test_words_are_put_in_the_order_of_the_output_not_of_arrival() -> None:
    script = [
        *setup(),
        *asked(),
        Send(created()),
        Send(text_delta("It is ", item="item_2", output_index=1)),
        Send(text_delta("One moment.", item="item_1", output_index=0)),
        Send(text_delta("free.", item="item_2", output_index=1)),
        Send(done()),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "One moment. It is free."


@pytest.mark.parametrize("streamed", [True, False])
async def test_what_response_done_repeats_counts_only_if_nothing_was_streamed(streamed: bool) -> None:
    content = [{"type": "output_text", "text": "All booked."}]
    message = {"id": "item_1", "type": "message", "role": "assistant", "content": content}
    deltas = [Send(text_delta("All booked."))] if streamed else []
    async with serving([*setup(), *asked(), *deltas, Send(done(output=[message]))]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "All booked."


def told_item(item: str | None, text: str) -> dict[str, Any]:
    return {"id": item, "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


@pytest.mark.parametrize("named", ["by the ids it streamed", "by other ids", "by none"])
async def test_an_item_that_only_the_end_of_a_response_tells_is_heard_beside_those_that_were_streamed(
    named: str,
) -> None:
    ids = {"by the ids it streamed": ("item_1", "item_2"), "by other ids": ("msg_7", "msg_8"), "by none": (None, None)}
    first, second = ids[named]
    output = [told_item(first, "All booked."), told_item(second, "See you at six.")]
    script = [*setup(), *asked(), Send(text_delta("All ")), Send(text_delta("booked.")), Send(done(output=output))]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "All booked. See you at six."


@pytest.mark.behaviour(18, 25)
async def test_usage_of_two_responses_sums_and_cancelled_ones_count() -> None:
    """Behaviours 18 and 25."""
    turns = tuple(plan("ws://x", text=text).turns[0] for text in ("One", "Two"))
    cut = {"type": "cancelled", "reason": "turn_detected"}
    script = [
        *setup(),
        *asked(),
        *text_reply("First"),
        *asked(),
        Send(done("resp_2", "cancelled", status_details=cut, usage=usage(12, 8))),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    used = held.record.usage
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (24, 16, 40)
    assert (used.input_text_tokens, used.input_audio_tokens, used.input_cached_tokens) == (4, 20, 8)
    assert (used.output_text_tokens, used.output_audio_tokens) == (2, 14)
    assert (held.record.turns[1].status, held.record.turns[1].status_reason) == (
        "cancelled",
        "turn_detected",
    )


@pytest.mark.behaviour(26)
async def test_a_response_without_usage_leaves_it_unknown_not_zero() -> None:
    """Behaviour 26."""
    async with serving([*setup(), *asked(), Send(done(usage=None))]) as server:
        held = await hold(plan(server.url))
    assert held.record.usage.input_tokens is None
    assert held.record.usage.output_audio_tokens is None


@pytest.mark.behaviour(19)
async def test_the_count_of_messages_is_what_the_server_sent() -> None:
    """Behaviour 19."""
    async with serving([*setup(), *asked(), *text_reply("a b c d")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ws_messages_received == only_session(server).frames_sent == 8


@pytest.mark.behaviour(27)
@pytest.mark.quirk(38, 39)
@pytest.mark.case("A15")
async def test_unknown_and_extended_events_are_kept_raw_and_change_nothing() -> None:
    """A15: one warning per type, an extra field and a null where a string is usual do not raise."""
    strange = [Send({"type": "response.hologram.delta", "delta": {"x": [1, 2]}})] * 3
    odd = {**text_delta("Yes."), "obfuscation": "zzz", "item_id": None, "output_index": "0"}
    script = [
        *setup(),
        *asked(),
        Send({"type": "session.created", "session": None}),
        *strange,
        Send(odd),
        Send({**text_delta(""), "delta": None}),
        Send(done()),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Yes."
    assert held.record.unknown_events == {"response.hologram.delta": 3}
    assert [event.payload["delta"] for event in held.of("response.hologram.delta")] == [{"x": [1, 2]}] * 3
    assert [event.payload["name"] for event in held.of("warning")] == ["unknown_event"]


@pytest.mark.behaviour(27, 30)
async def test_a_frame_that_is_no_json_is_kept_and_the_session_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Behaviours 27 and 30: logs tell the place of the mistake, never the content."""
    script = [*setup(), *asked(), SendRaw('{"type": "my secret words'), SendRaw("[1]"), *text_reply("Fine")]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Fine"
    assert "malformed_frame=2" in held.record.warnings
    assert held.of("malformed")[0].payload["start"] == '{"type": "my secret words'
    assert "frame of 25 characters cannot be read" in caplog.text
    assert "secret words" not in caplog.text


async def test_bytes_that_hold_json_are_understood() -> None:
    frame = json.dumps(text_delta("Bytes")).encode()
    async with serving([*setup(), *asked(), SendRaw(frame), Send(done())]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Bytes"


@pytest.mark.quirk(40)
async def test_the_same_event_sent_twice_by_a_relay_counts_once() -> None:
    twice = [Send({**text_delta("Once."), "event_id": "event_7"})] * 2
    async with serving([*setup(), *asked(), *twice, Send(done())]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Once."
    assert "repeated_event=1" in held.record.warnings
    assert held.record.ws_messages_received == 5


@pytest.mark.case("E09")
async def test_a_character_cut_between_two_deltas_is_one_character() -> None:
    """E09: a surrogate pair over two deltas, a half that never completes, a NUL, a literal escape."""
    pieces = ['"Hi \\ud83d"', '"\\ude00 there"', '" \\u0000 \\\\u0000"', '" \\ud83d"']
    frames = [SendRaw(json.dumps(text_delta("%")).replace('"%"', piece)) for piece in pieces]
    async with serving([*setup(), *asked(), *frames, Send(done())]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Hi \U0001f600 there \ufffd \\u0000 \ufffd"
    deltas = [event.payload["delta"] for event in held.of("response.output_text.delta")]
    assert "".join(deltas) == "Hi \U0001f600 there \ufffd \\u0000 "
    json.dumps([event.payload for event in held.events], ensure_ascii=False).encode("utf-8")


async def test_every_event_comes_once_in_order_with_times_that_never_run_back() -> None:
    async with serving([*setup(), *asked(), Pause(20), *text_reply("In order")]) as server:
        held = await hold(plan(server.url))
    assert [event.seq for event in held.events] == list(range(len(held.events)))
    times = [event.t_ms for event in held.events]
    assert times == sorted(times)
    assert held.of("session.opened")[0].t_ms < 0
    assert held.of("turn.started")[0].t_ms == 0
    own = [event.type for event in held.events if event.direction == "internal"]
    assert own == [
        "session.opened",
        "session.ready",
        "turn.started",
        "turn.sent",
        "agent.turn",
        "turn.ended",
        "session.ended",
    ]


@pytest.mark.quirk(32)
@pytest.mark.behaviour(5)
async def test_a_session_that_is_never_confirmed_is_used_after_a_while() -> None:
    """Behaviour 5."""
    async with serving([*asked(), *text_reply("Still here")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.kind == "completed"
    assert held.record.session_acknowledged is False
    assert "session_not_acknowledged=1" in held.record.warnings
    wait_s = only_session(server).received_at("response.create") - only_session(server).received_at("session.update")
    assert wait_s > 0.95
    assert (QUICK.session_ready_s, Timeouts().session_ready_s) == (1.0, 3.0), "as long as is set, and that is 3 s"


async def test_the_session_is_kept_as_the_server_tells_it_without_credentials() -> None:
    mcp = {"type": "mcp", "server_label": "crm", "authorization": "hush", "headers": {"X-Key": "hush"}}
    told = {"tools": [mcp], "client_secret": {"value": "hush", "expires_at": 1}}
    from tests.scripted_events import session_updated

    script = [
        Send(session_created()),
        Expect("session.update"),
        Send(session_updated(**told)),
        *asked(),
        *text_reply("ok"),
    ]
    async with serving(script) as server:
        made = plan(server.url, session={**RealtimeDialect().default_session("text"), "tools": [mcp]})
        held = await hold(made)
    assert only_session(server).events("session.update")[0]["session"]["tools"] == [mcp]
    assert held.record.session["tools"][0]["server_label"] == "crm"
    kept = json.dumps([held.record.to_json(), [event.payload for event in held.events]])
    assert "hush" not in kept
    assert kept.count("[removed]") >= 4


async def test_a_key_that_the_server_repeats_is_cut_out_of_everything_kept() -> None:
    key = "sk-very-secret-123"
    script = [*setup(), *asked(), Send(error("bad_key", f"Incorrect key {key}")), *text_reply(f"Your {key}")]
    async with serving(script) as server:
        made = plan(server.url, headers={"Authorization": f"Bearer {key}"}, secrets=(key,))
        held = await hold(made)
    assert only_session(server).headers["Authorization"] == f"Bearer {key}"
    kept = json.dumps([held.record.to_json(), [event.payload for event in held.events]])
    assert key not in kept
    assert key not in repr(made)
    assert held.record.turns[0].agent_text == "Your [removed]"


@pytest.mark.quirk(47)
async def test_first_token_counts_any_kind_of_words() -> None:
    script = [*setup(), *asked(), Pause(60), Send(transcript_delta("Hm")), Pause(60), Send(done())]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    turn = held.record.turns[0]
    assert known(turn.first_token_ms) - turn.sent_ms >= 59
    assert known(turn.done_ms) - known(turn.first_token_ms) >= 30
    assert turn.first_audio_ms is None
    assert [caption.text for caption in turn.captions] == ["Hm"]


async def test_a_server_that_gives_all_events_one_id_loses_nothing() -> None:
    same = [Send({**text_delta("ha"), "event_id": "event_x"})] * 3
    first = Send({**created(), "event_id": "event_x"})
    async with serving([*setup(), *asked(), first, *same, Send(done())]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "hahaha"
    assert held.record.warnings == ()


async def test_a_response_belongs_to_the_turn_in_which_it_began() -> None:
    turns = tuple(plan("ws://x", text=text).turns[0] for text in ("One", "Two"))
    script = [
        *setup(),
        *asked(),
        Send(created("resp_late")),
        *text_reply("First.", "resp_1"),
        *asked(),
        Send(text_delta("And one more thing.", "resp_late", "item_late")),
        *text_reply("Second.", "resp_2"),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url, turns=turns))
    assert [turn.agent_text for turn in held.record.turns] == ["First. And one more thing.", "Second."]
