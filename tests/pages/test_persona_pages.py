"""What pages say of a caller who finds his own words: the scenario before, the trial after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from runs_app.realtime.persona.told import CallerThought, PersonaTold
from runs_app.realtime.record import Ending
from runs_app.trial_page.persona import persona_card
from scenarios_app.spec.scenario import parse_scenario
from tests.grading.builders import record, turn
from tests.grading.test_caller_mistakes import AGENDA, led
from tests.realtime.support import known
from tests.support import make_scenario

PERSONA = {
    "goal": "A table for Maya",
    "facts": {"people": 4},
    "agenda": AGENDA,
    "behaviors": {"patience_s": "8s", "interrupt_probability": 0.25, "patience_turns": 2},
}


def page(signed_in: Client, **content: Any) -> str:
    make_scenario("led", interaction="multi_turn", input={"text": "Hi"}, **content)
    return signed_in.get("/scenarios/led/").content.decode()


@pytest.mark.django_db
def test_a_scenario_shows_its_caller(signed_in: Client) -> None:
    text = page(signed_in, persona=PERSONA, stop_when="It is booked", max_turns=9)
    for words in ("A table for Maya", "Make it four", "hangs up after 8 s of silence", "talks over 25% of the replies"):
        assert words in text
    assert "It is booked" in text
    assert "9 turns" in text


@pytest.mark.django_db
def test_a_scenario_of_crawls_shows_what_is_played_and_what_is_not(signed_in: Client) -> None:
    text = page(signed_in, simulation_parameters={"goal": "A table", "mood": "cross"})
    assert "Read from simulation_parameters." in text
    assert "<code>simulation_parameters.mood</code> is kept and not played" in text


def test_a_trial_shows_the_part_how_far_it_came_and_why_it_ended() -> None:
    spoken = replace(turn("Yes?", index=1, caller_text="A table."), thought=CallerThought(40.0, 300.0, 12.0, ("ask",)))
    told = PersonaTold("actor", "5", "caller", "nothing is left", ("ask",))
    talk = record(turns=(turn("Yes?", caller_text="Hi"), spoken), persona=told)
    mistake = {"kind": "forgot", "turn": 1, "reason": "he forgot"}
    checks = [{"check_id": "caller_validity", "evidence": {"mistakes": [mistake]}}]
    card = known(persona_card(led(), talk, checks))
    assert (card.ended, card.why, card.model) == ("the caller hung up", "nothing is left", "actor")
    assert [(step.id, step.said_in) for step in card.steps] == [("ask", 2), ("mend", None)]
    assert [(row.turn, row.words_ms, row.speech_ms, row.silence_ms) for row in card.thoughts] == [
        (2, 40.0, 300.0, 12.0)
    ]
    assert card.mistakes[0]["turn"] == 2


def test_a_caller_who_hung_up_on_silence_is_told_so() -> None:
    ending = Ending("response_timeout", None, "patience", "the caller hung up after 8 s of silence")
    talk = record(persona=PersonaTold("actor", "5"), ending=ending)
    assert known(persona_card(led(), talk, [])).ended == "the caller hung up after 8 s of silence"


def test_a_script_has_no_such_card() -> None:
    scripted = {"id": "x", "title": "x", "interaction": "single_turn", "input": {"text": "Hi"}}
    assert persona_card(parse_scenario(scripted), record(), []) is None
