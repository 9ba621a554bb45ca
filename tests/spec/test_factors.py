"""The labels of what a version tests: prompts by count, model and voice by name, tools by content."""

from __future__ import annotations

from typing import Any

from scenarios_app.spec.factors import Factors, factors, prompt_numbers, prompt_of
from tests.spec.examples import APPLICATION, CONFIGURATION, changed


def of(changes: dict[str, Any] | None = None, *, prompt: int = 1, application: Any = None) -> Factors:
    return factors(changed(CONFIGURATION, changes or {}), prompt=prompt, application=application)


def test_prompts_are_counted_by_their_distinct_texts_in_the_order_of_the_versions() -> None:
    assert prompt_numbers({4: "A", 1: "A", 3: "B", 2: "B"}) == {1: 1, 2: 2, 3: 2, 4: 1}
    assert prompt_numbers({2: "", 5: "A"}) == {2: 1, 5: 2}


def test_instructions_of_the_session_update_are_the_prompt() -> None:
    assert prompt_of("field", "override") == "override"
    assert prompt_of("field", None) == "field"
    assert prompt_of(None, None) == ""


def test_the_labels_of_the_least_configuration() -> None:
    assert of().texts == ("prompt@1", "agent-1", "server's voice", "no tools")
    assert str(of(prompt=3)) == "prompt@3 · agent-1 · server's voice · no tools"


def test_what_wins_on_the_wire_is_the_label() -> None:
    overridden = of(
        {"endpoint": "wss://agent.example.com/v1/realtime?model=deployment-2", "voice": "marin"}
        | {"session_update.audio": {"output": {"voice": "cedar"}}}
    )
    assert overridden.texts[1:3] == ("deployment-2", "cedar")
    assert of({"session_update.audio": {"output": {"voice": {"id": "v1"}}}}).voice == '{"id": "v1"}'
    azure = of({"endpoint": "wss://desk.openai.azure.com/openai/realtime?api-version=1&deployment=desk-2"})
    assert azure.model == "desk-2"
    beta = {"dialect": "beta", "voice": "marin", "session_update": {"voice": "sage"}}
    assert (of(beta).voice, of({**beta, "dialect": "ga"}).voice) == ("sage", "marin")


def test_tools_go_by_their_content_under_any_name() -> None:
    one = of({"application": {"name": "Bistro"}}, application=APPLICATION)
    other = of({"application": {"name": "Copy", "version": 2}}, application={**APPLICATION, "name": "Copy"})
    assert one.tools == other.tools
    assert one.texts[3] == f"tools {(one.tools or '')[:6]}"
    assert one.tool_names == tuple(tool["name"] for tool in APPLICATION["tools"])


def test_another_answer_another_fact_or_another_tool_of_the_session_is_another_set_of_tools() -> None:
    reference = {"application": {"name": "Bistro"}}
    plain = of(reference, application=APPLICATION)
    answers = of(reference, application=changed(APPLICATION, {"tool_results.lookup_policy": {"topic": "other"}}))
    facts = of(reference, application=changed(APPLICATION, {"facts.opens": "noon"}))
    session = of({**reference, "session_update.tools": [{"name": "hang_up"}]}, application=APPLICATION)
    assert len({plain.tools, answers.tools, facts.tools, session.tools}) == 4
    assert session.tool_names[-1] == "hang_up"


def test_an_application_that_is_not_there_is_not_the_same_as_none() -> None:
    assert of({"application": {"name": "Gone"}}).texts[3] == "tools unknown"


def test_labels_tell_what_changed_against_another_version() -> None:
    before = of({"voice": "marin", "instructions": "A"})
    after = of({"voice": "cedar", "instructions": "B"}, prompt=2)
    assert [label.text for label in after.labels(before) if label.changed] == ["prompt@2", "cedar"]
    assert not any(label.changed for label in after.labels())


def test_prompts_of_two_configurations_are_compared_by_their_texts() -> None:
    one, copy = of({"instructions": "A"}, prompt=3), of({"instructions": "A"})
    other = of({"instructions": "B"}, prompt=3)
    assert not copy.labels(one)[0].changed
    assert other.labels(one)[0].changed
