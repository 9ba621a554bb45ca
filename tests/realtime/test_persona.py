"""A caller who finds his own words: what he is told, when he speaks, and what makes him hang up."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.part import CallerFailed, Part
from runs_app.realtime.persona.words import INSTRUCTIONS, UnusableWords, read_words
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import Record
from runs_app.realtime.script import Impatience
from runs_app.realtime.structured import Reply
from scenarios_app.spec.persona import Persona
from tests.realtime.support import Held, asked, hold, known, plan, setup, tone
from tests.scripted_events import call_item, call_reply, text_delta, text_reply
from tests.scripted_server import Hang, Send, serving
from tests.scripted_steps import Pause

AGENDA = ({"id": "ask", "commitment": "Ask for a table"}, {"id": "bye", "commitment": "Say goodbye"})


@dataclass
class Actor:
    """Answers from a list, one after the other, and keeps what it was asked."""

    answers: list[Any]
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, instructions: str, document: str) -> Reply:
        assert instructions == INSTRUCTIONS
        self.asked.append(json.loads(document.removeprefix("```json\n").removesuffix("\n```")))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        return answer if isinstance(answer, Reply) else Reply(json.dumps(answer), input_tokens=10, output_tokens=2)


def says(text: str, *steps: str, **more: Any) -> dict[str, Any]:
    return {"say": text, "steps": list(steps), "hang_up": False, "stop": False, "why": "so", **more}


def part(actor: Actor, *, behaviors: dict[str, Any] | None = None, agenda: Any = AGENDA, **more: Any) -> Part:
    given = {"goal": "A table", "facts": {"people": 4}, "agenda": list(agenda), "behaviors": behaviors or {}}
    return Part(persona=Persona.model_validate(given), model="actor-1", seed=more.pop("seed", 5), ask=actor, **more)


def replies(*texts: str) -> list[Any]:
    steps = [*setup()]
    for nth, text in enumerate(texts):
        steps += [*asked(), *text_reply(text, f"resp_{nth}")]
    return steps


async def call(server_steps: list[Any], made: Part, **changes: Any) -> Held:
    async with serving(server_steps) as server:
        return await hold(plan(server.url, text="Hello.", part=made, **changes))


async def test_each_turn_is_asked_for_with_the_whole_call_so_far() -> None:
    actor = Actor([says("A table, please.", "ask"), says("Goodbye.", "bye", hang_up=True)])
    held = await call(replies("Hello?", "It is booked.", "Bye."), part(actor), history=(("user", "I am Nora."),))
    record = held.record
    assert [turn.caller_text for turn in record.turns] == ["Hello.", "A table, please.", "Goodbye."]
    assert [turn.agent_text for turn in record.turns] == ["Hello?", "It is booked.", "Bye."]
    assert [line["text"] for line in actor.asked[1]["conversation"]] == [
        "I am Nora.",
        "Hello.",
        "Hello?",
        "A table, please.",
        "It is booked.",
    ]
    assert [one["steps_said"] for one in actor.asked] == [[], ["ask"]]
    assert actor.asked[0]["caller"]["facts"] == {"people": 4}
    told = known(record.persona)
    assert (told.model, told.ended_by, told.why, told.steps) == ("actor-1", "caller", "so", ("ask", "bye"))
    assert (told.asked, told.input_tokens, told.output_tokens) == (2, 20, 4)
    assert (record.ending.kind, record.ending.code) == ("completed", "caller")
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize(
    ("answers", "changes", "texts", "ended_by"),
    [
        ([says("", stop=True)], {"stop_when": "It is booked"}, ["Booked."], "stop_when"),
        ([says("", hang_up=True)], {}, ["Booked."], "caller"),
        ([says("More.")], {"most_turns": 2}, ["One.", "Two."], "max_turns"),
        ([says("Again?")], {"behaviors": {"patience_turns": 2}}, ["No.", "Later.", "no", "No!"], "patience"),
    ],
)
async def test_the_caller_hangs_up_for_one_of_these_reasons(
    answers: list[Any], changes: dict[str, Any], texts: list[str], ended_by: str
) -> None:
    held = await call(replies(*texts), part(Actor(answers), **changes))
    assert known(held.record.persona).ended_by == ended_by
    assert (held.record.ending.kind, held.record.ending.code) == ("completed", ended_by)
    assert [turn.agent_text for turn in held.record.turns] == texts


async def test_the_done_tool_ends_the_call_of_a_persona_too() -> None:
    actor = Actor([says("A table, please.")])
    steps = [*setup(), *asked(), *text_reply("Hi"), *asked(), *call_reply([call_item("end_session", "{}")], "resp_9")]
    held = await call(steps, part(actor))
    assert (held.record.ending.code, known(held.record.persona).ended_by) == ("done_tool", "done_tool")
    assert len(actor.asked) == 1


async def test_silence_beyond_the_callers_patience_is_an_answer_that_never_came() -> None:
    held = await call([*setup(), *asked(), Hang()], part(Actor([says("x")])), patience_s=0.4)
    ending = held.record.ending
    assert (ending.kind, ending.code) == ("response_timeout", "patience")
    assert ending.message == "the caller hung up after 0.4 s of silence"
    assert held.record.turns[0].status == "timeout"


async def test_words_that_keep_coming_are_no_silence() -> None:
    slow = [step for n in range(6) for step in (Pause(0.2), Send(text_delta(f"word {n} ")))]
    steps = [*setup(), *asked(), Send({"type": "response.created", "response": {"id": "resp_1"}}), *slow]
    steps += text_reply("", "resp_1")[-1:]
    held = await call(steps, part(Actor([says("", hang_up=True)])), patience_s=0.5)
    assert held.record.ending.code == "caller"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Reply(error="the persona answered HTTP 500"), "the persona answered HTTP 500"),
        (says(""), "the persona cannot be played: it had nothing to say, and did not hang up"),
        (Reply("I am a model"), "the persona cannot be played: its answer is not of the agreed form"),
    ],
)
async def test_a_caller_that_cannot_be_played_makes_an_invalid_trial(answer: Any, message: str) -> None:
    actor = Actor([answer])
    held = await call(replies("Hello?"), part(actor))
    assert (held.record.ending.kind, held.record.ending.stage) == ("invalid", "caller")
    assert held.record.ending.message.startswith(message)
    assert len(actor.asked) == (1 if isinstance(answer, Reply) and answer.error else 2)


async def test_words_without_a_voice_are_the_speech_services_fault() -> None:
    async def mute(words: str) -> Int16:
        raise CallerFailed("speech", "the service is down")

    held = await call(replies("Hello?"), part(Actor([says("x")]), voice=mute))
    assert (held.record.ending.stage, held.record.ending.message) == ("speech", "the service is down")


async def test_what_our_caller_takes_is_told_and_is_in_no_number_of_the_agents() -> None:
    async def slow(words: str) -> Int16:
        await asyncio.sleep(0.3)
        return tone(200)

    actor = Actor([says("A table."), says("", hang_up=True)])
    held = await call(replies("Hello?", "Yes."), part(actor, voice=slow), mode="text")
    first, second = held.record.turns
    assert first.thought is None
    thought = known(second.thought)
    assert 290 < thought.speech_ms < 2000
    assert thought.silence_ms >= thought.speech_ms
    assert known(second.first_token_ms) - second.sent_ms < 290


def interrupting(seed: int, probability: float) -> list[float | None]:
    """What the temper of a caller draws for ten replies."""
    impatience = Impatience(seed, 1, probability)
    return [impatience.draw() for _ in range(10)]


def test_a_seed_breaks_in_at_the_same_places() -> None:
    assert interrupting(3, 0.5) == interrupting(3, 0.5) != interrupting(4, 0.5)


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"say": "   "}', '{"say": 7}', json.dumps({"say": "x" * 1001})])
def test_what_no_caller_can_say_is_not_said(body: str) -> None:
    with pytest.raises(UnusableWords):
        read_words(body)


async def test_a_person_who_stops_the_run_does_not_wait_for_the_callers_words() -> None:
    async def never(instructions: str, document: str) -> Reply:
        await asyncio.Event().wait()
        return Reply()

    stop = asyncio.Event()
    made: Plan
    async with serving(replies("Hello?")) as server:
        persona = Persona(goal="A table")
        made = plan(server.url, part=Part(persona=persona, model="m", seed=1, ask=never))
        asyncio.get_running_loop().call_later(0.5, stop.set)
        held = await hold(made, stop=stop, within_s=5)
    assert held.record.ending.kind == "cancelled"
