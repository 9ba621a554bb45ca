"""Telling a result after it exists, and asking instead of guessing."""

from __future__ import annotations

import pytest

from runs_app.grading import relay
from runs_app.grading.speech_acts import asks, claims
from runs_app.grading.spoke_too_soon import early_claims, spoke_too_soon_ms
from runs_app.realtime.record import Caption, Turn
from tests.grading.builders import REPLY, audio_record, call, case, expecting, record, recording, scenario, spoken, turn


def said(*captions: tuple[float, str]) -> Turn:
    text = "".join(words for _, words in captions)
    return turn(text, captions=tuple(Caption(t_ms, words) for t_ms, words in captions), done_ms=3_000.0)


TOOL = call(called_ms=1_500.0, answered_ms=2_000.0)


def test_a_result_told_after_the_tool_ended_is_grounded() -> None:
    the_case = case(scenario(), record(TOOL, turns=(said((1_200, "One moment. "), (2_100, "I've booked it.")),)))
    check = relay.grounded_relay_order(the_case)
    assert (check.status, check.evidence["told_at_ms"]) == ("passed", 2_100)
    assert spoke_too_soon_ms(the_case) == 0.0


def test_success_claimed_before_the_tool_ended_is_too_soon_and_has_its_moment() -> None:
    """The sentence is spread over captions; its first word came at 1,300 ms, 700 ms before the result."""
    captions = ((1_100, "Sure. "), (1_300, "I've"), (1_350, " booked"), (1_400, " it."), (2_200, " Anything else?"))
    the_case = case(scenario(), record(TOOL, turns=(said(*captions),)))
    check = relay.grounded_relay_order(the_case)
    assert check.reason == '"I\'ve booked it." was said before the tool had ended'
    assert check.evidence["early"][0]["said_ms"] == 1_300
    assert (check.status, check.required) == ("failed", False)
    assert spoke_too_soon_ms(the_case) == 700.0
    assert relay.grounded_assistant_response(the_case).status == "passed"


def test_the_early_claim_can_be_heard() -> None:
    early = spoken(
        agent=((1_300, 1_900), (2_400, 3_000)),
        captions=(Caption(1_300, "It is booked. "), Caption(2_400, "Goodbye.")),
    )
    check = relay.grounded_relay_order(case(scenario(), audio_record(TOOL, turns=(early,))))
    assert check.evidence["spans_ms"] == [[1_300.0, 1_900.0]]


def test_silence_after_the_last_result_is_no_relay() -> None:
    the_case = case(scenario(), record(TOOL, turns=(said((1_200, "One moment.")),)))
    assert relay.grounded_relay_order(the_case).reason == "nothing was said after the last tool ended"
    response = relay.grounded_assistant_response(the_case)
    assert (response.status, response.required) == ("failed", True)


def test_without_captions_the_sound_tells() -> None:
    audio = recording([(0, 1_000)], [(2_400, 3_000)], 3_100)
    silent_text = spoken(agent=((2_400, 3_000),), captions=(), text="")
    the_case = case(scenario(), audio_record(TOOL, turns=(silent_text,)), audio=audio)
    assert relay.grounded_assistant_response(the_case).status == "passed"


def test_a_claim_without_any_tool_fails_and_no_claim_is_not_applicable() -> None:
    claimed = case(scenario(), record(turns=(turn(REPLY),)))
    assert relay.grounded_relay_order(claimed).reason == f'"{REPLY}" was said, and no tool ran'
    honest = case(scenario(), record(turns=(turn("I'm afraid that did not work."),)))
    assert relay.grounded_relay_order(honest).status == "not_applicable"
    assert spoke_too_soon_ms(claimed) is None


def test_where_no_tool_is_required_the_order_is_not_looked_at() -> None:
    assert relay.grounded_relay_order(case(expecting(answer="At ten."), record())).status == "not_applicable"


def test_a_claim_of_an_earlier_turn_is_not_early_for_a_later_tool() -> None:
    first = said((900, "Your table is booked."))
    second = turn("Cancelled.", index=1, captions=(Caption(5_200, "That is cancelled now."),))
    later = call("cancel_reservation", {}, turn=1, called_ms=5_000.0, answered_ms=5_100.0)
    assert early_claims(case(scenario(), record(later, turns=(first, second)))) == []


@pytest.mark.parametrize(
    "text",
    [
        "I've booked a table for three.",
        "I\u2019ve just booked that for you.",
        "Your table is booked.",
        "Your reservation has been cancelled.",
        "That is now confirmed.",
        "You're all set!",
        "Done.",
        "We have moved your appointment to Friday.",
    ],
)
def test_a_finished_action_is_a_claim(text: str) -> None:
    assert [claim.sentence for claim in claims(text)] == [text.replace("\u2019", "'")]


@pytest.mark.parametrize(
    "text",
    [
        "I'll get that booked for you.",
        "Let me check whether the table is booked.",
        "Shall I say it is confirmed?",
        "Your booking is not confirmed yet.",
        "It isn't booked.",
        "Once it is booked I will tell you.",
        "One moment while I book that.",
        "The restaurant is open until ten.",
        "I'm afraid that table is taken.",
    ],
)
def test_a_plan_a_question_or_a_denial_is_no_claim(text: str) -> None:
    assert claims(text) == ()


def test_a_claim_knows_where_it_stands() -> None:
    text = "Thank you.  Your table is booked. Goodbye."
    (claim,) = claims(text)
    assert text[claim.start : claim.end] == "Your table is booked."


@pytest.mark.parametrize(
    "text",
    ["What name shall I put it under?", "¿A qué hora?", "何名様ですか？", "May I have your name, please.",
     "Please tell me the time you would like.", "I just need to know your name.", "Could you give me a phone number."],
)  # fmt: skip
def test_a_question_is_a_question_in_any_script(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["Your table is booked.", "I cannot do that.", "", "We open at eleven."])
def test_a_statement_is_no_question(text: str) -> None:
    assert not asks(text)
