"""CRAWL's simulation_parameters as a persona: what is understood is played, and everything else is listed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.spec.scenario import Scenario, dump_file, parse_scenario
from scenarios_app.spec.simulation import left_out, played
from tests.realtime.support import known

GIVEN: dict[str, Any] = {
    "private_goal": "Move the booking to Friday",
    "persona": {"style": "Polite.", "tone": "Tired.", "age": 40},
    "known_facts": {"name": "Maya", "day": "Friday"},
    "agenda": [
        {
            "id": "ask",
            "commitment": "Ask to move it",
            "trigger_condition": "the agent greets",
            "completion_condition": "it is moved",
            "completion_basis": "agent_speech",
            "wording_policy": "free",
            "response_hint": "Can I move it?",
            "facts": ["day", "colour"],
        },
        {"id": "hush", "commitment": "Say nothing", "action": "wait"},
        {"id": "bye", "commitment": "Say goodbye", "action": "finish", "after": ["ask", "hush"], "required": False},
    ],
    "seed": 7,
    "max_turns": 9,
    "max_seconds": 90,
}


def crawl(parameters: dict[str, Any], **more: Any) -> Scenario:
    expected = {"answer": "It is moved."}
    given = {"id": "move", "title": "Move it", "interaction": "multi_turn", "input": {"text": "Hi"}, **more}
    return parse_scenario({**given, "expected": expected, "simulation_parameters": parameters})


def places(scenario: Scenario) -> set[str]:
    return {problem.path.removeprefix("simulation_parameters.") for problem in left_out(scenario)}


def test_goal_facts_and_agenda_become_a_persona() -> None:
    who = known(played(crawl(GIVEN)))
    persona = who.persona
    assert (persona.goal, persona.style, persona.seed, who.max_turns) == (
        "Move the booking to Friday",
        "Polite. Tired.",
        7,
        9,
    )
    assert persona.facts == {"name": "Maya", "day": "Friday"}
    ask, bye = persona.agenda
    assert (ask.when, ask.done_when, ask.words, ask.facts) == (
        "the agent greets",
        "it is moved",
        "Can I move it?",
        {"day": "Friday"},
    )
    assert (bye.action, bye.after, bye.required) == ("finish", ("ask",), False)


def test_what_has_no_place_in_a_persona_is_listed_and_stays_in_the_scenario() -> None:
    scenario = crawl(GIVEN)
    assert places(scenario) == {
        "persona.age",
        "agenda[0].completion_basis",
        "agenda[0].wording_policy",
        "agenda[0].facts",
        "agenda[1].action",
        "max_seconds",
    }
    assert scenario.to_json()["simulation_parameters"] == GIVEN
    assert dump_file([scenario])["schema_version"] == "1.0"


def test_without_a_goal_the_title_stands_for_it_and_that_is_said() -> None:
    scenario = crawl({"known_facts": ["It is Friday", "It is late"]})
    assert known(played(scenario)).persona.goal == "Move it"
    assert known(played(scenario)).persona.facts == {"fact 1": "It is Friday", "fact 2": "It is late"}
    assert [problem.message for problem in left_out(scenario)] == ["names no goal: the scenario's title stands for it"]


def test_an_agenda_that_nobody_could_follow_is_left_out_whole() -> None:
    steps = [{"id": "a", "commitment": "x", "after": "b"}, {"id": "b", "commitment": "y", "after": ["a"]}]
    scenario = crawl({"goal": "g", "agenda": steps})
    assert known(played(scenario)).persona.agenda == ()
    assert left_out(scenario)[-1].message == "is left out whole: no caller could follow it"


def test_a_script_or_a_persona_of_the_scenarios_own_leads_instead() -> None:
    scripted = crawl({"goal": "g"}, input={"text": "Hi", "turns": [{"text": "Bye"}]})
    assert played(scripted) is None
    assert left_out(scripted)[0].message == "is kept and not played: input.turns lead the call"
    own = crawl({"goal": "g"}, persona={"goal": "mine"})
    assert known(played(own)).persona.goal == "mine"
    assert places(own) == {"simulation_parameters"}


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["goal", "persona", "known_facts", "agenda", "seed", "max_turns", "stop_when", "facts", "x"])
STEP_KEYS = st.sampled_from(["id", "commitment", "action", "facts", "after", "required", "response_hint", "y"])


@given(st.dictionaries(KEYS, ANY | st.lists(st.dictionaries(STEP_KEYS, ANY, max_size=6), max_size=4), max_size=6))
def test_whatever_stands_in_the_parameters_somebody_can_play_it(parameters: dict[str, Any]) -> None:
    scenario = crawl(parameters)
    assert known(played(scenario)).persona.goal.strip()
    left_out(scenario)
