"""What an utterance does: claim, refuse, lack, ask, deny."""

from __future__ import annotations

import pytest

from runs_app.simulator.entities import entities
from runs_app.simulator.polarity import asks, claimed_actions, denies, negated, refuses, unavailable


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("Your table is booked.", ("booked",)),
        ("I have cancelled reservation R-100.", ("cancelled",)),
        ("I've just moved it to Friday.", ("moved",)),
        ("Booked for two.", ("booked",)),
        ("All set!", ("done",)),
        ("Your reservation has been canceled.", ("cancelled",)),
        ("It is not booked yet.", ()),
        ("Shall I book it?", ()),
        ("Is it booked?", ()),
        ("Once I have your name it is booked.", ()),
        ("I would like to have it booked.", ()),
        ("We are fully booked.", ()),
        ("I could not book it, but your name is now registered.", ("registered",)),
    ],
)
def test_only_what_is_said_to_be_done_is_claimed(text: str, claimed: tuple[str, ...]) -> None:
    assert claimed_actions(text) == claimed


@pytest.mark.parametrize(
    ("text", "refused", "lacking", "denied"),
    [
        ("I cannot tell you that.", True, False, True),
        ("I'm afraid I can't share that.", True, False, True),
        ("I can only talk about it with the guest.", True, False, True),
        ("We are fully booked on Friday.", False, True, True),
        ("There is no table at 7 p.m.", False, True, True),
        ("We don't have a garden.", False, True, True),
        ("The booking did not work.", False, False, True),
        ("Your table is booked.", False, False, False),
        ("Yes, we have parking.", False, False, False),
    ],
)
def test_a_no_is_told_from_a_yes(text: str, refused: bool, lacking: bool, denied: bool) -> None:
    assert (refuses(text), unavailable(text), denies(text)) == (refused, lacking, denied)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("For which date?", True),
        ("Could you tell me your name.", True),
        ("I still need your name.", True),
        ("Asks for the date.", True),
        ("Please give me the reservation number.", True),
        ("Your table is booked.", False),
        ("Thank you, goodbye.", False),
    ],
)
def test_a_question_is_told_with_or_without_its_mark(text: str, asked: bool) -> None:
    assert asks(text) is asked


def test_negation_is_seen() -> None:
    assert negated("It isn't open")
    assert negated("not today")
    assert not negated("It is open")


def test_a_word_that_ends_like_a_number_is_none() -> None:
    assert entities("It is done, the phone is alone.") == ()
