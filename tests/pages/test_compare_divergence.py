"""Where two conversations of one scenario first part: calls before words, and each side's own moment."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runs_app.comparing.divergence import call_difference, first_divergence, paired_calls
from runs_app.realtime.record import Ending, Record, Span, Turn
from tests.grading.builders import BOOKING, call, record, turn, unreadable_call

EARLIER = {**BOOKING, "date": "2027-05-14"}


def turns(*texts: str, **more: Any) -> tuple[Turn, ...]:
    """Caller turns of a second each, five seconds apart."""
    return tuple(
        turn(text, index=n, caller=Span(n * 120_000, n * 120_000 + 24_000), **more) for n, text in enumerate(texts)
    )


def spoken(*calls: Any, texts: tuple[str, ...] = ("Booked.", "Goodbye."), **more: Any) -> Record:
    return record(*calls, turns=turns(*texts), audio_samples=240_000, **more)


def test_the_same_conversation_parts_nowhere() -> None:
    assert first_divergence(spoken(call()), spoken(call(called_ms=1_700.0))) is None
    assert first_divergence(spoken(texts=("Booked!",)), spoken(texts=("booked",))) is None


def test_an_argument_that_differs_is_named_with_both_values_and_each_sides_moment() -> None:
    a, b = spoken(call(called_ms=1_500.0)), spoken(call(arguments=EARLIER, called_ms=1_900.0))
    found = first_divergence(a, b)
    assert found is not None
    assert (found.kind, found.turn) == ("tool", 0)
    assert found.text == "B sent date 2027-05-14, A 2027-05-15"
    assert (found.at_a_ms, found.at_b_ms) == (1_500.0, 1_900.0)
    assert found.from_a_ms == 0.0


def test_a_call_that_differs_later_comes_before_words_that_differ_earlier() -> None:
    a = spoken(call(turn=1, called_ms=6_500.0), texts=("One moment.", "Booked."))
    b = spoken(call(turn=1, arguments=EARLIER, called_ms=6_600.0), texts=("Just a second.", "Booked."))
    found = first_divergence(a, b)
    assert found is not None
    assert (found.kind, found.turn, found.from_a_ms) == ("tool", 1, 4_500.0)


def test_a_call_that_only_one_side_made_is_heard_from_the_end_of_the_callers_words_on_the_other() -> None:
    found = first_divergence(spoken(call(called_ms=1_500.0)), spoken())
    assert found is not None
    assert found.text == "A called create_reservation, B did not"
    assert (found.at_a_ms, found.at_b_ms) == (1_500.0, 1_000.0)


def test_arguments_left_out_or_added_say_so_and_further_ones_are_counted() -> None:
    without = {key: value for key, value in BOOKING.items() if key != "party_size"}
    assert call_difference((call(), call(arguments=without))) == "B left out party_size, A sent 3"
    assert call_difference((call(arguments=without), call())) == "B sent party_size 3, A did not"
    other = {**BOOKING, "date": "2027-05-14", "time": "19:00", "party_size": 4}
    assert call_difference((call(), call(arguments=other))) == "B sent date 2027-05-14, A 2027-05-15 and 2 more"


def test_the_same_call_that_came_to_something_else_is_a_difference() -> None:
    assert call_difference((call(), call(status="failed"))) == "create_reservation: A completed, B failed"
    assert call_difference((call(), call())) == ""
    unreadable = unreadable_call('{"date": '), unreadable_call("[]")
    assert call_difference(unreadable) == "create_reservation: arguments that nobody can read differ"


def test_numbers_that_were_heard_otherwise_are_told_before_the_call_that_came_of_them() -> None:
    a = record(call(), turns=turns("Booked.", heard_text="table for 3, 0132"))
    b = record(call(arguments=EARLIER), turns=turns("Booked.", heard_text="table for 3, 132"))
    found = first_divergence(a, b)
    assert found is not None
    assert (found.kind, found.text) == ("heard", "A heard 0132, B heard 132")


def test_other_numbers_in_the_reply_come_before_other_words() -> None:
    found = first_divergence(spoken(texts=("Certainly.", "At 18:00.")), spoken(texts=("Of course.", "At 19:00 for 3.")))
    assert found is not None
    assert (found.kind, found.turn, found.text) == ("said", 1, "A says 18:00, B says 19:00 3")
    found = first_divergence(spoken(texts=("Certainly.",)), spoken(texts=("Of course.",)))
    assert found is not None
    assert (found.kind, found.text) == ("wording", "wording only")


def test_a_side_that_ended_sooner_or_did_not_answer_is_named() -> None:
    short = record(turns=turns("Booked."), audio_samples=100_000, ending=Ending("invalid", stage="socket_closed"))
    found = first_divergence(spoken(), short)
    assert found is not None
    assert (found.kind, found.turn, found.text) == ("ended", 1, "B ended before this turn (socket closed)")
    assert (found.at_a_ms, found.at_b_ms) == (5_000.0, 100_000 / 24)
    silent = record(turns=(*turns("Booked."), turn("", index=1, status="timeout")))
    found = first_divergence(silent, spoken())
    assert found is not None
    assert found.text == "A gave no whole answer (timeout)"


names = st.lists(st.sampled_from(["look_up", "book", "cancel"]), max_size=6)


@given(names, names)
def test_pairing_keeps_the_order_and_every_call_of_both_sides(of_a: list[str], of_b: list[str]) -> None:
    a, b = [call(name) for name in of_a], [call(name) for name in of_b]
    pairs = paired_calls(a, b)
    assert [one for one, _ in pairs if one] == a
    assert [other for _, other in pairs if other] == b
    assert all(one.name == other.name for one, other in pairs if one and other)
    if of_a == of_b:
        assert all(one and other for one, other in pairs)


@given(names)
def test_equal_arguments_find_each_other(listed: list[str]) -> None:
    a = [call(name, {"n": place}) for place, name in enumerate(listed)]
    b = [call(name, {"n": place}) for place, name in enumerate(listed) if place]
    for one, other in paired_calls(a, b):
        if one and other:
            assert one.arguments == other.arguments
