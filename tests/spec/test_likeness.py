"""Which scenarios are most like another one: a measure that is the same from both sides, and says why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.spec.likeness import likeness, most_alike
from scenarios_app.spec.scenario import Scenario, parse_scenario
from tests.support import scenario_json

names = st.lists(st.sampled_from(["book", "cancel", "look_up", "transfer"]), max_size=3, unique=True)


def made(key: str = "one", tools: list[str] | None = None, says: str = "A table, please.", **more: Any) -> Scenario:
    required = [{"name": name} for name in (tools if tools is not None else ["book"])]
    expected = {"answer": "It is done.", "tools": {"required": required}}
    return parse_scenario(scenario_json(key, expected=expected, input={"text": says}, **more))


scenarios = st.builds(
    lambda tools, says, tags: made(tools=tools, says=says, tags=tags),
    names,
    st.text("ab ç日", min_size=1, max_size=12).filter(str.strip),
    st.lists(st.sampled_from(["x", "X", "y"]), max_size=2),
)


@given(scenarios, scenarios)
def test_it_is_the_same_from_both_sides_and_never_out_of_range(one: Scenario, other: Scenario) -> None:
    forth, back = likeness(one, other), likeness(other, one)
    assert forth.score == pytest.approx(back.score)
    assert 0 <= forth.score <= 1
    assert (forth.tools, forth.tags) == (back.tools, back.tags)


@given(scenarios)
def test_nothing_is_more_like_a_scenario_than_its_twin(one: Scenario) -> None:
    assert likeness(one, one).score == pytest.approx(1)


def test_the_same_tool_weighs_more_than_the_same_words_and_those_more_than_tags() -> None:
    target = made(tags=["evening"])
    by_tool = made("tool", says="Quiero ir mañana.", tags=[])
    by_words = made("words", tools=["cancel"], tags=[])
    by_tags = made("tags", tools=["cancel"], says="Quiero ir mañana.", tags=["Evening"])
    nothing = made("nothing", tools=["cancel"], says="Quiero ir mañana.", tags=[], type="other")
    ranked = most_alike(target, [nothing, by_tags, by_words, by_tool, target], 5)
    assert [scenario.id for scenario, _ in ranked] == ["tool", "words", "tags", "nothing"]


def test_why_names_what_both_have() -> None:
    alike = likeness(made(tags=["evening"]), made("other", tags=["evening"]))
    assert alike.why == "same tools: book; same tags: booking, evening; alike in its words"
    far = likeness(made(), made("far", tools=["cancel"], says="Quiero ir.", tags=[], type="other"))
    assert far.why == "little in common"


def test_what_neither_has_tells_nothing() -> None:
    talk = made("talk", tools=[], says="When do you open?", tags=[])
    assert likeness(talk, made("talk_2", tools=[], says="When do you open?", tags=[])).score == pytest.approx(1)


def test_no_more_are_found_than_asked_for_and_ties_go_by_id() -> None:
    others = [made(key) for key in ("c", "a", "b")]
    assert [scenario.id for scenario, _ in most_alike(made(), others, 2)] == ["a", "b"]
