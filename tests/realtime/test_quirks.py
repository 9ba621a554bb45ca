"""Quirks of Realtime servers that no other test is about. docs/protocol.md lists all of them with their tests."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.plan import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from tests.realtime.support import (
    QUICK,
    TableExecutor,
    asked,
    chunks,
    hold,
    only_session,
    plan,
    setup,
    tone,
)
from tests.scripted_events import (
    audio_delta,
    audio_reply,
    call_added,
    call_item,
    call_reply,
    created,
    done,
    error,
    item_done,
    session_created,
    text_delta,
    text_reply,
    transcript_delta,
)
from tests.scripted_server import Close, Expect, Hang, Pause, Send, Session, Step, serving
from tests.scripted_steps import Call

TRANSCRIPTION = "conversation.item.input_audio_transcription"
RATES = Send({"type": "rate_limits.updated", "event_id": "event_r", "rate_limits": [{"name": "tokens", "limit": 1}]})
TRANSCRIBED = {"audio": {"input": {"transcription": {"model": "whisper-1"}}}}


def heard(kind: str, item: str, **more: Any) -> Send:
    return Send({"type": f"{TRANSCRIPTION}.{kind}", "item_id": item, "content_index": 0, **more})


def committed(item: str) -> Send:
    return Send({"type": "input_audio_buffer.committed", "item_id": item, "previous_item_id": None})


@pytest.mark.quirk(1)
@pytest.mark.parametrize("place", [0, 1, 2, 3], ids=["before", "at the start", "within", "after"])
async def test_rate_limits_say_nothing_wherever_they_come(place: int) -> None:
    reply: list[Step] = [*text_reply("Two words")]
    reply.insert([0, 1, 2, len(reply)][place], RATES)
    async with serving([*setup(), *asked(), *reply]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].agent_text == "Two words"
    assert held.record.warnings == ()


@pytest.mark.quirk(2)
async def test_what_was_understood_goes_to_the_turn_of_its_item_in_whatever_order_it_comes() -> None:
    """The first turn's words come after those of the second, and after both answers."""
    script: list[Step] = [*setup(), Expect("input_audio_buffer.commit"), committed("item_u1"), *asked()]
    script += [*audio_reply([b"\1\0"], "First", "resp_1")]
    script += [Expect("input_audio_buffer.commit"), committed("item_u2"), *asked()]
    script += [*audio_reply([b"\1\0"], "Second", "resp_2")]
    script += [
        heard("completed", "item_u2", transcript="Two"),
        Pause(30),
        heard("completed", "item_u1", transcript="One"),
    ]
    turns = tuple(PlannedTurn(text, tone(100)) for text in ("One", "Two"))
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), turns=turns, session=TRANSCRIBED))
    assert [(turn.heard_text, turn.agent_text) for turn in held.record.turns] == [("One", "First"), ("Two", "Second")]


@pytest.mark.quirk(2)
@pytest.mark.parametrize("late", [0, 150], ids=["before the end", "after it"])
async def test_a_turn_cut_in_two_is_understood_when_both_of_its_items_are_and_in_their_order(late: int) -> None:
    """A server that ends turns may take one utterance as two items; the words of the first may come last."""
    script: list[Step] = [*setup(), Expect("input_audio_buffer.commit"), committed("item_u1"), committed("item_u2")]
    script += [*asked(), *audio_reply([b"\1\0"], "Sure")]
    script += [heard("completed", "item_u2", transcript="for four"), Pause(late)]
    script += [heard("completed", "item_u1", transcript="A table")]
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), session=TRANSCRIBED))
    assert held.record.turns[0].heard_text == "A table for four"


@pytest.mark.quirk(3)
@pytest.mark.parametrize(
    ("events", "text"),
    [
        (
            [("delta", {"delta": "A table for two."}), ("completed", {"transcript": "A table for two."})],
            "A table for two.",
        ),
        ([("delta", {"delta": "A ta"}), ("delta", {"delta": "ble"})], "A table"),
        ([("delta", {"delta": "A tale"}), ("completed", {"transcript": "A table"})], "A table"),
        ([("delta", {"delta": "A ta"}), ("failed", {"error": {"code": "x"}})], "A ta"),
    ],
    ids=["whisper", "never completed", "corrected", "failed half way"],
)
async def test_the_completed_words_count_and_without_them_the_pieces(events: list[Any], text: str) -> None:
    sent = [heard(kind, "item_u1", **more) for kind, more in events]
    script = [*setup(), Expect("input_audio_buffer.commit"), committed("item_u1"), *asked(), *sent]
    async with serving([*script, *audio_reply([b"\1\0"], "Sure")]) as server:
        held = await hold(plan(server.url, audio=tone(100), session=TRANSCRIBED))
    assert held.record.turns[0].heard_text == text


@pytest.mark.quirk(5)
async def test_parts_of_one_item_keep_their_words_and_their_bytes_apart() -> None:
    def part(event: dict[str, Any], index: int) -> Send:
        return Send({**event, "content_index": index})

    first, second = to_bytes(tone(20)), to_bytes(tone(20, hz=500))
    deltas = [
        part(transcript_delta("One"), 0),
        part(transcript_delta("three"), 1),
        part(audio_delta(first[:101]), 0),
        part(audio_delta(second[:203]), 1),
        part(transcript_delta(" two"), 0),
        part(audio_delta(first[101:]), 0),
        part(audio_delta(second[203:]), 1),
    ]
    async with serving([*setup(), *asked(), Send(created()), *deltas, Send(done())]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    (turn,) = held.record.turns
    assert turn.agent_text == "One two three"
    pieces = [first[:100], second[:202], first[100:], second[202:]]
    spoken = b"".join(to_bytes(held.right[span.start : span.end]) for span in turn.agent)
    assert spoken == b"".join(pieces)
    assert held.record.warnings == ()


@pytest.mark.quirk(9)
@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_response_may_end_that_never_began(status: str) -> None:
    details = {"type": "failed", "error": {"code": "server_error"}} if status == "failed" else None
    async with serving([*setup(), *asked(), Send(done(status=status, status_details=details))]) as server:
        held = await hold(plan(server.url))
    assert held.record.turns[0].status == status
    assert (held.record.ending.kind, held.record.ending.stage) == (
        ("invalid", "response_failed") if status == "failed" else ("completed", None)
    )


@pytest.mark.quirk(11)
async def test_a_new_answer_is_asked_for_only_once_the_cancelled_one_has_ended() -> None:
    asked_early: list[int] = []

    async def look(session: Session) -> None:
        asked_early.append(session.types().count("response.create"))

    script = [
        *setup(),
        *asked(),
        Send(created()),
        Send(audio_delta(to_bytes(tone(1000)))),
        Expect("response.cancel"),
        Expect("input_audio_buffer.commit"),
        Pause(100),
        Call(look),
        Send(done(status="cancelled", status_details={"type": "cancelled", "reason": "client_cancelled"})),
        *asked(),
        *audio_reply([to_bytes(tone(50))], "For four, then", "resp_2"),
    ]
    over = PlannedTurn("For four", tone(150), interrupt_after_ms=200)
    turns = (PlannedTurn("For two", tone(200)), over)
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(200), turns=turns, real_time=True))
    assert asked_early == [1]
    assert [turn.status for turn in held.record.turns] == ["cancelled", "completed"]
    assert held.record.turns[1].agent_text == "For four, then"


@pytest.mark.quirk(12)
async def test_a_server_that_answers_a_tools_output_by_itself_is_not_asked_twice() -> None:
    active = error("conversation_already_has_active_response", "Conversation already has an active response")
    call = call_item("look_up", "{}")
    script = [
        *setup(),
        *asked(),
        *call_reply([call]),
        *asked(),
        Send(created("resp_2")),
        Send(active),
        Send(text_delta("We are open.", "resp_2", "item_2")),
        Pause(50),
        Send(done("resp_2")),
    ]
    made = plan("", executor=TableExecutor({"look_up": ToolOutcome("completed", output={"open": True})}))
    async with serving(script) as server:
        held = await hold(replace(made, url=server.url))
    assert only_session(server).types().count("response.create") == 2  # the turn's, and the refused one
    assert held.record.turns[0].agent_text == "We are open."
    assert held.record.ending.kind == "completed"
    assert held.record.warnings == ("adopted_response=1", "response_already_active=1")


@pytest.mark.quirk(14)
@pytest.mark.parametrize("where", ["before", "after", "at the end"])
async def test_the_name_of_a_call_is_taken_from_wherever_it_stands(where: str) -> None:
    item = call_item("look_up", '{"a": 1}')
    nameless = {
        "type": "response.function_call_arguments.done",
        "response_id": "resp_1",
        "item_id": item["id"],
        "call_id": item["call_id"],
        "arguments": item["arguments"],
    }
    events = {
        "before": [call_added(item), nameless, done()],
        "after": [nameless, item_done(item), done()],
        "at the end": [nameless, done(output=[item])],
    }[where]
    made = plan("", executor=TableExecutor({"look_up": ToolOutcome("completed", output=1)}))
    script = [*setup(), *asked(), *map(Send, events), *asked(), *text_reply("Yes.", "resp_2")]
    async with serving(script) as server:
        held = await hold(replace(made, url=server.url))
    (call,) = held.record.tool_calls
    assert (call.name, call.arguments, call.status) == ("look_up", {"a": 1}, "completed")


@pytest.mark.quirk(18, 19, 20, 30)
async def test_we_name_no_items_and_update_the_session_once() -> None:
    """No id of ours can be too long, foreign, taken twice or unknown, and a voice is never changed later."""
    foreign = "chatcmpl-tool-0123456789abcdef0123456789abc"
    call = call_item("look_up", "{}", call_id=foreign)
    script: list[Step] = [*setup(), *asked(), *call_reply([call]), *asked(), *text_reply("One", "resp_2")]
    script += [*asked(), *text_reply("Two", "resp_3")]
    made = plan(
        "",
        history=(("user", "Hi"), ("assistant", "Hello")),
        turns=(PlannedTurn("First"), PlannedTurn("Second")),
        executor=TableExecutor({"look_up": ToolOutcome("completed", output=1)}),
    )
    async with serving(script) as server:
        await hold(replace(made, url=server.url))
    session = only_session(server)
    sent = [logged.event for logged in session.received]
    assert [event["type"] for event in sent].count("session.update") == 1
    assert "model" not in session.events("session.update")[0]["session"]
    items = [event["item"] for event in sent if event["type"] == "conversation.item.create"]
    assert len(items) == 5
    assert not any("id" in item for item in items)
    assert not any("previous_item_id" in event for event in sent)
    assert [item["call_id"] for item in items if "call_id" in item] == [foreign]
    ids = [event["event_id"] for event in sent if "event_id" in event]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,32}", id) for id in ids)


@pytest.mark.quirk(20)
@pytest.mark.parametrize("before", [None, "", "item_0"])
async def test_what_an_item_follows_may_be_null(before: str | None) -> None:
    item = {"id": "item_1", "type": "message", "role": "user", "status": "completed", "content": []}
    mirror = [
        {"type": f"conversation.item.{moment}", "previous_item_id": before, "item": item}
        for moment in ("added", "done")
    ]
    async with serving([*setup(), *asked(), *map(Send, mirror), *text_reply("Yes.")]) as server:
        held = await hold(plan(server.url))
    assert (held.record.turns[0].agent_text, held.record.warnings) == ("Yes.", ())


@pytest.mark.quirk(26, 27, 49)
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("response_cancel_not_active", "Cancellation failed: no active response found"),
        (None, "Cancellation failed: no active response found"),
        (None, "Audio content of 3700ms is already shorter than 3760ms"),
        ("invalid_value", "Audio content of 3700ms is already shorter than 3760ms"),
        ("unsupported_content_type", "Only model output audio messages can be truncated"),
        ("item_truncate_invalid_item_id", "Error truncating item: the item with id 'X' does not exist."),
        ("item_delete_invalid_item_id", "Error deleting item: the item with id 'X' does not exist."),
        ("item_retrieve_invalid_item_id", "Error retrieving item: the item with id 'X' does not exist."),
    ],
)
async def test_an_error_about_a_cancel_or_a_cut_that_came_too_late_costs_no_turn(
    code: str | None, message: str
) -> None:
    script = [
        *setup(),
        *asked(),
        Send(error(code, message)),
        Pause(int(QUICK.error_grace_s * 1500)),
        *text_reply("Yes."),
    ]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert (held.record.ending.kind, held.record.turns[0].agent_text) == ("completed", "Yes.")
    assert held.record.warnings == (f"benign_error:{code or 'no_code'}=1",)


@pytest.mark.quirk(37)
@pytest.mark.parametrize("named", [True, False], ids=["by its event_id", "by its time"])
async def test_an_error_that_follows_an_answered_turn_is_not_the_next_ones(named: bool) -> None:
    """The second answer takes longer than an error of its own would be given."""

    def late(session: Any) -> dict[str, Any]:
        event_id = session.events("response.create")[0]["event_id"] if named else None
        return error("odd_hiccup", "Something went wrong before.", event_id=event_id)

    wait = Pause(int(QUICK.error_grace_s * 2000))
    script: list[Step] = [*setup(), *asked(), *audio_reply([to_bytes(tone(300))], "One", "resp_1"), Pause(50)]
    script += [*([*asked(), Send(late)] if named else [Send(late), *asked()]), wait]
    script += [*audio_reply([to_bytes(tone(50))], "Two", "resp_2")]
    turns = tuple(PlannedTurn(text, tone(150)) for text in ("First", "Second"))
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(150), turns=turns, real_time=True))
    assert [turn.agent_text for turn in held.record.turns] == ["One", "Two"]
    assert held.record.ending.kind == "completed"
    assert "late_error=1" in held.record.warnings


@pytest.mark.quirk(35, 44)
@pytest.mark.parametrize(
    ("reason", "stage"),
    [("Your session hit the maximum duration of 60 minutes.", "session_expired"), ("", "socket_closed")],
)
async def test_a_close_that_looks_clean_is_no_answer(reason: str, stage: str) -> None:
    """1001 from a server is a normal end to the websocket library, also in the middle of a turn."""
    async with serving([*setup(), *asked(), Send(text_delta("Well")), Close(1001, reason)]) as server:
        held = await hold(plan(server.url))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", stage)
    assert (held.record.turns[0].status, held.record.turns[0].agent_text) == ("closed", "Well")


@pytest.mark.quirk(51)
async def test_a_server_that_never_ends_its_response_is_given_up_on_with_what_was_heard() -> None:
    said = tone(100)
    deltas = [audio_delta(chunk) for chunk in chunks(said)]
    bare = [{key: value for key, value in event.items() if key in ("type", "delta")} for event in deltas]
    end = {"type": "response.output_audio.done"}
    script = [
        Send(session_created()),
        *asked(),
        *map(Send, bare),
        Send({"type": "response.audio_transcript.delta", "delta": "Hi"}),
        Send(end),
        Hang(),
    ]
    quick = replace(QUICK, session_ready_s=0.1, turn_s=0.6)
    async with serving(script) as server:
        held = await hold(plan(server.url, audio=tone(100), timeouts=quick))
    (turn,) = held.record.turns
    assert (held.record.ending.kind, turn.status, turn.agent_text) == ("response_timeout", "timeout", "Hi")
    assert [span.end - span.start for span in turn.agent] == [said.size]


@pytest.mark.quirk(51)
async def test_a_server_that_sends_deltas_and_the_end_alone_is_understood() -> None:
    """No items, no parts, no usage, no ids: what self-hosted servers leave out."""
    deltas = [Send({"type": "response.output_text.delta", "delta": delta}) for delta in ("Half ", "past two.")]
    end = Send({"type": "response.done", "response": {"status": "completed"}})
    async with serving([Send({"type": "session.created"}), *asked(), *deltas, end]) as server:
        held = await hold(plan(server.url, timeouts=replace(QUICK, session_ready_s=0.1)))
    assert (held.record.ending.kind, held.record.turns[0].agent_text) == ("completed", "Half past two.")
    assert held.record.usage.input_tokens is None
