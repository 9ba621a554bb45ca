"""A persona on the whole road of a trial: what it is sent, the voice of its words, and what is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.realtime.record import Record
from scenarios_app.spec.errors import SpecError
from tests.grading.judge_server import says
from tests.realtime.support import known
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.runs.test_conversing import play, run_against, spoken
from tests.scripted_events import text_reply
from tests.scripted_server import Expect, Hang, serving_in_thread
from tests.speech_server import error_answer, speech_server

pytestmark = pytest.mark.django_db(transaction=True)

MARK = "zq7x"  # stands in every expectation and nowhere else
EXPECTED = {
    "answer": f"The {MARK} table is booked.",
    "criteria": [f"Says {MARK}"],
    "delegation": "required",
    "tools": {
        "required": [{"name": f"tool_{MARK}", "arguments": {"x": MARK}}],
        "prohibited": [{"name": f"never_{MARK}"}],
    },
    "state": {MARK: True},
    "diagnostic_terms": [MARK],
    "procedure": [{"id": MARK, "kind": "tool", "tool": f"tool_{MARK}"}],
    "golden_path": {"turns": 7, "steps": [MARK]},
}


def led(**more: Any) -> dict[str, Any]:
    given = {
        "interaction": "multi_turn",
        "expected": EXPECTED,
        "persona": {"goal": "A table", "facts": {"people": 4}},
        "assertions": [{"judge": f"It is {MARK}"}],
        "notes": MARK,
        "title": MARK,
    }
    return scenario("led", **{**given, **more})


def words(text: str, **more: Any) -> Any:
    return says({"say": text, "steps": [], "hang_up": False, "stop": False, "why": "so", **more})


def answering_twice() -> list[Any]:
    ask = Expect("response.create")
    return [*agents.UP, ask, *text_reply("Hello?", "r1"), ask, *text_reply("Yes.", "r2"), Hang()]


def test_no_byte_of_what_is_expected_reaches_the_persona_the_voice_or_the_agent() -> None:
    answers = [words("For four people."), words("", hang_up=True)]
    with serving_in_thread(answering_twice()) as agent, speech_server(answers) as persona:
        model = {"endpoint": persona.url, "model": "actor"}
        with speech_server([spoken(300)]) as voice:
            caller = {"endpoint": voice.url, "model": "tts", "voice": "nora"}
            audio = {"mode": "audio", "audio": {"real_time": False}, "caller": caller}
            trial = play(run_against(agent, scenarios=[led()], persona=model, **audio))
        sent = json.dumps([persona.asked, voice.asked, agent.sessions[0].received], default=str)
    record = Record.from_json(known(trial.record))
    assert [turn.caller_text for turn in record.turns][1:] == ["For four people."]
    assert record.ending.code == "caller"
    assert len(persona.asked) == 2
    assert len(voice.asked) == 2
    assert "A table" in sent
    assert MARK not in sent.casefold()


def test_the_personas_key_goes_to_its_endpoint_alone(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    with serving_in_thread(answering_twice()) as agent, speech_server([words("", hang_up=True)]) as persona:
        monkeypatch.setenv("PLAYER_KEY", "sk-of-the-player")
        settings.SOUNDCHECK_SECRETS = f"PLAYER_KEY={persona.url.removesuffix('/v1')}"
        model = {"endpoint": persona.url, "model": "actor", "api_key": "{{secrets.PLAYER_KEY}}"}
        trial = play(run_against(agent, scenarios=[led()], persona=model))
    assert persona.asked[0]["headers"]["authorization"] == "Bearer sk-of-the-player"
    assert persona.asked[0]["json"]["model"] == "actor"
    assert "sk-of-the-player" not in json.dumps(trial.record)


def test_a_persona_that_cannot_be_asked_is_no_failure_of_the_agent() -> None:
    with serving_in_thread(answering_twice()) as agent, speech_server([error_answer(401, "no such key")]) as persona:
        trial = play(run_against(agent, scenarios=[led()], persona={"endpoint": persona.url, "model": "actor"}))
    assert (trial.outcome, trial.stage) == ("invalid", "caller")
    assert trial.reason == "the persona answered HTTP 401: no such key"


def test_a_run_without_a_model_for_the_caller_is_not_started() -> None:
    with pytest.raises(SpecError) as caught:
        make_run([led()], configurations=[make_configuration()])
    (problem,) = caught.value.problems
    assert "persona: led is led by a persona, and no model that could play the caller is named here" in problem.message
    assert "set persona.endpoint and persona.model" in problem.message


def test_simulation_parameters_are_played_as_a_persona() -> None:
    given = {"private_goal": "A table for four", "known_facts": {"people": 4}, "max_turns": 2}
    old = led(simulation_parameters=given, notes=None, assertions=[])
    old = {key: value for key, value in old.items() if key not in ("persona", "notes", "assertions")}
    with serving_in_thread(answering_twice()) as agent, speech_server([words("For four.")]) as persona:
        trial = play(run_against(agent, scenarios=[old], persona={"endpoint": persona.url, "model": "actor"}))
    assert known(Record.from_json(known(trial.record)).persona).ended_by == "max_turns"
    assert '"A table for four"' in persona.asked[0]["json"]["input"]
