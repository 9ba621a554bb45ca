"""What the trial page says of time, calls and words, against evidence whose answers are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.heard import compared_words
from runs_app.realtime.record import Caption
from runs_app.trial_page.calls import sides
from runs_app.trial_page.waterfall import waterfall
from tests.grading.builders import BOOKING, audio_record, call, expecting, record, scenario, spoken, turn


def test_a_turn_is_told_from_the_last_word_to_the_end_with_its_tool() -> None:
    tool = call(called_ms=1_200.0, answered_ms=1_500.0, status="failed")
    said = spoken(agent=((1_800, 3_000),), first_token_ms=1_700.0, captions=(Caption(1_700.0, "Booked."),))
    made = audio_record(tool, turns=(said,))
    rows = [{"index": 0, "caller_speech_end_ms": 990.0, "agent_speech_start_ms": 1_950.0, "response_latency_ms": 960.0}]
    rows[0]["event_latency_ms"] = 800.0
    events = [
        {"t_ms": 1_010.0, "type": "input_audio_buffer.committed"},
        {"t_ms": 1_030.0, "type": "response.created"},
        {"t_ms": 1_600.0, "type": "response.created"},  # of the answer after the tool: the first one counts
    ]
    (fall,) = waterfall(made, rows, events)
    assert [(step.name, step.since_ms) for step in fall.steps] == [
        ("caller's last word", -10.0),
        ("sent", 0.0),
        ("committed", 10.0),
        ("created", 30.0),
        ("first transcript", 700.0),
        ("first audio", 800.0),
        ("first word heard", 950.0),
        ("done", 2_000.0),
    ]
    assert [(bar.kind, bar.from_ms, bar.to_ms) for bar in fall.bars] == [
        ("wait", 0.0, 700.0),
        ("speech", 800.0, 2_000.0),
        ("failed", 200.0, 500.0),
    ]
    assert (fall.difference_ms, fall.suspicious) == (160.0, False)
    assert (fall.from_ms, fall.span_ms) == (-10.0, 2_010.0)


def test_turns_share_one_scale_and_keep_their_own_events() -> None:
    first, second = turn("A"), turn("B", index=1, sent_ms=5_000.0, said_ms=9_000.0)
    falls = waterfall(record(turns=(first, second)), [], [{"t_ms": 5_100.0, "type": "response.created"}])
    assert [[step.name for step in fall.steps if step.name == "created"] for fall in falls] == [[], ["created"]]
    assert falls[0].span_ms == falls[1].span_ms == 4_300.0
    assert falls[0].difference_ms is None


def test_the_first_words_are_told_also_where_the_sound_came_before_them() -> None:
    early = spoken(
        first_token_ms=1_800.0, first_audio_ms=1_800.0, captions=(Caption(1_900.0, "Hm"), Caption(2_000.0, "!"))
    )
    (fall,) = waterfall(audio_record(turns=(early,)), [], [])
    told = {step.name: step.at_ms for step in fall.steps}
    assert (told["first audio"], told["first transcript"]) == (1_800.0, 1_900.0)


def test_calls_stand_beside_what_was_expected() -> None:
    wrong = call(arguments={**BOOKING, "date": "2027-05-14", "note": "window"})
    (side,) = sides(scenario(), record(wrong), None)
    assert (side.kind, side.ok, side.says) == ("in_order", False, "with other arguments")
    assert {row["path"]: row["ok"] for row in side.rows}["date"] is False
    assert [row["path"] for row in side.rows if row.get("free")] == ["note"]


@pytest.mark.parametrize(
    ("calls", "kinds"),
    [
        ((), ["missing"]),
        ((call(),), ["in_order"]),
        ((call(), call()), ["in_order", "duplicate"]),
        ((call("cancel", {}),), ["wrong_tool"]),
        ((call("cancel", {}), call(), call("greet", {})), ["extra", "in_order", "extra"]),
    ],
)
def test_every_call_is_told_once(calls, kinds) -> None:
    assert [side.kind for side in sides(scenario(), record(*calls), None)] == kinds


def test_without_expectations_calls_are_merely_listed_as_not_expected() -> None:
    found = sides(expecting(answer="At ten."), record(call()), None)
    assert [(side.kind, side.expected) for side in found] == [("extra", None)]


def test_words_heard_are_cut_where_they_part_from_words_said() -> None:
    assert compared_words("A table for 4, please!", "a table for 14") == [
        ("equal", "a table for", "a table for"),
        ("substitute", "4", "14"),
        ("delete", "please", ""),
    ]
    assert compared_words("Yes.", "") == [("delete", "yes", "")]
    assert compared_words("", "hm") == [("insert", "", "hm")]


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_hold_every_word_of_both_sides(said: str, heard: str) -> None:
    pieces = compared_words(said, heard)
    whole = [" ".join(" ".join(piece[side] for piece in pieces).split()) for side in (1, 2)]
    alone = [compared_words(said, ""), compared_words("", heard)]
    assert whole[0] == " ".join(piece[1] for piece in alone[0])
    assert whole[1] == " ".join(piece[2] for piece in alone[1])
