"""The simulated caller: what he says next, from his part and the call alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.realtime.persona.words import INSTRUCTIONS, SHAPE, Moment, document, read_words
from runs_app.realtime.persona.words import Line as CallLine
from runs_app.realtime.structured import open_model
from runs_app.simulator.persona import Words, next_words
from runs_app.simulator.persona_scene import Scene, find_scene
from scenarios_app.spec.persona import Persona
from tests.realtime.support import known
from tests.simulator.wire_client import Simulator

FACTS = {"guest_name": "Maya", "date": "2027-05-15", "time": "19:00", "party_size": 3, "phone": "555 010 0234"}
AGENDA: list[dict[str, Any]] = [
    {"id": "dogs", "commitment": "Ask whether dogs are welcome"},
    {"id": "price", "commitment": "Ask for the price", "when": "the agent offers a menu", "after": ["dogs"]},
    {
        "id": "four",
        "commitment": "Make it four",
        "action": "correct",
        "facts": {"party_size": 4},
        "after": ["dogs"],
    },
]


def scene(*lines: str, said: tuple[str, ...] = (), seed: str = "5", over: bool = False, **changes: Any) -> Scene:
    """Lines in turn, the caller's first."""
    persona = Persona.model_validate({"goal": "A table", "facts": FACTS, "agenda": AGENDA, **changes.pop("part", {})})
    who = ("caller", "agent")
    talk = [CallLine(who[n % 2], text) for n, text in enumerate(lines)]
    moment = Moment(talk, said, len(talk) // 2 + 1, 20, over)
    return known(find_scene(document(persona, moment, seed=seed, today="2027-05-01", **changes)))


def said(*lines: str, **changes: Any) -> Words:
    return next_words(scene(*lines, **changes))


ALL = ("dogs", "price", "four")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("May I have the guest name, please?", "My name is Maya."),
        ("For which date?", "It is on May 15."),
        ("What time, and how many people?", "It is at 7 p.m. It is for 3 people."),
        ("Could you give me your phone number?", "The phone is 555 010 0234."),
    ],
)
def test_he_answers_what_he_is_asked_from_his_facts(question: str, answer: str) -> None:
    assert said("Hello.", question).say == answer


def test_what_he_does_not_know_he_says_so() -> None:
    assert said("Hello.", "What is your shoe size?", said=ALL).say == "I am sorry, I do not know that."


def test_a_step_that_was_said_replaces_what_it_corrects() -> None:
    assert said("Hello.", "How many people?", said=("dogs", "four")).say == "It is for 4 people."


def test_he_repeats_himself_when_he_was_not_understood() -> None:
    assert said("A table.", "Sorry, I did not catch that. Could you say it again?").say == "A table."


def test_steps_come_in_order_each_when_its_time_has_come() -> None:
    first = said("Hello.", "How can I help you?")
    assert (first.steps, "Can you tell me whether dogs are welcome?" in first.say) == (("dogs",), True)
    assert said("Hello.", "We offer a menu.", said=("dogs",)).steps == ("price",)
    mended = said("Hello.", "All right.", said=("dogs", "price"))
    assert (mended.steps, mended.say) == (("four",), "Sorry, actually, I meant for 4 people.")


def test_when_nothing_is_left_he_says_goodbye_and_hangs_up() -> None:
    last = said("Hello.", "It is booked. Anything else?", said=ALL)
    assert last.hang_up
    assert "oodbye" in last.say


def test_he_says_yes_to_what_is_right_and_mends_what_the_agent_has_wrong() -> None:
    assert said("For three people.", "Shall I book it for 3 people?", said=ALL).say.startswith("Yes")
    wrong = said("It is for 3 people.", "It is booked for 5 people.", said=("dogs", "price"))
    assert wrong.say == "No, it is for 3 people."


def test_he_stops_when_it_is_so() -> None:
    wish = "the table is booked"
    assert said("Hello.", "The table is booked.", stop_when=wish).stop
    assert not said("Hello.", "The table cannot be booked.", stop_when=wish).stop


def test_over_the_agent_he_says_his_next_step_or_nothing() -> None:
    over = said("Hello.", over=True)
    assert (over.steps, over.say.endswith("Can you tell me whether dogs are welcome?")) == (("dogs",), True)
    assert said("Hello.", over=True, said=ALL).say == ""


def test_a_seed_says_it_the_same_way_again_and_others_in_other_ways() -> None:
    ways = {said("Hello.", "How can I help you?", seed=str(seed)).say for seed in range(20)}
    assert len(ways) > 2
    assert said("Hello.", "Yes?", seed="3") == said("Hello.", "Yes?", seed="3")


async def test_the_endpoint_answers_callers_beside_judges(simulator: Simulator) -> None:
    persona = Persona.model_validate({"goal": "A table", "agenda": AGENDA})
    asked = document(persona, Moment([CallLine("caller", "Hello.")], (), 2, 20, False), seed=1)
    async with open_model(endpoint=f"{simulator.http}/v1", model="m", api_key="none", who="the persona") as model:
        reply = await model.ask(INSTRUCTIONS, asked, SHAPE)
        assert read_words(reply.body).steps == ("dogs",)
        broken = await model.ask(INSTRUCTIONS, json.dumps({"caller": {}, "conversation": []}), SHAPE)
    assert "the caller's scene cannot be read" in broken.error
