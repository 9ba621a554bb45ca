"""session.start from a configuration: what the openai package types, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.live import SessionStartEventParam
from pydantic import TypeAdapter

from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.delegation.planning import Address
from runs_app.realtime.plan import Plan, PlanError, build_plan
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import parse_scenario
from tests.realtime.support import TableExecutor, tone

CONFIGURATION: dict[str, Any] = {
    "name": "Front desk",
    "protocol": "live",
    "endpoint": "wss://agent.example/v1/live/sessions",
    "model": "gpt-live-1",
    "instructions": "You answer the phone of a restaurant.",
    "voice": "cedar",
    "backend": {"mode": "responses", "model": "gpt-backend", "reasoning": "low", "verbosity": "low"},
}
TOOL = {"name": "create_reservation", "description": "Books.", "parameters": {"type": "object", "properties": {}}}
APPLICATION = parse_application({"name": "Trattoria", "facts": {"city": "Rome"}, "tools": [TOOL]})


def made(changes: dict[str, Any] | None = None, scenario: dict[str, Any] | None = None, **more: Any) -> Plan:
    document = {
        "id": "one",
        "title": "One",
        "interaction": "single_turn",
        "input": {"text": "Book a table."},
        "application": {"initial_state": {}},
        "expected": {"answer": "A table is booked."},
        **(scenario or {}),
    }
    known: dict[str, Any] = {
        "configuration": parse_configuration({**CONFIGURATION, **(changes or {})}),
        "scenario": parse_scenario(document),
        "application": APPLICATION,
        "url": CONFIGURATION["endpoint"],
        "headers": {"Authorization": "Bearer sk-1234567890"},
        "caller_audio": [tone(300)],
        "executor": TableExecutor(),
    }
    return build_plan(**known | more)


def refused(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_configuration({**CONFIGURATION, **changes})
    return {problem.path: problem.message for problem in caught.value.problems}


def test_the_session_is_built_from_the_configuration_and_typed_by_the_openai_package() -> None:
    history = [{"role": "user", "text": "A table for four."}, {"role": "assistant", "text": "Which date?"}]
    plan = made(scenario={"input": {"text": "Tomorrow.", "context": {"history": history}}})
    session = plan.session
    assert (session["model"], plan.url) == ("gpt-live-1", CONFIGURATION["endpoint"])  # no query
    assert session["audio"] == {"format": {"type": "audio/pcm", "rate": 24000}, "output": {"voice": "cedar"}}
    assert [item["content"] for item in session["input"]] == [
        [{"type": "input_text", "text": "A table for four."}],
        [{"type": "output_text", "text": "Which date?"}],
    ]
    responses = session["delegation"]["responses"]
    assert session["delegation"]["type"] == "responses"
    assert (responses["model"], responses["reasoning"], responses["text"]) == (
        "gpt-backend",
        {"effort": "low"},
        {"verbosity": "low"},
    )
    assert [tool["name"] for tool in responses["tools"]] == ["create_reservation"]
    assert (responses["tool_choice"], responses["parallel_tool_calls"]) == ("auto", True)
    for prompt in (session["instructions"], responses["instructions"]):
        assert prompt.startswith("You answer the phone")
        assert '"city": "Rome"' in prompt
    event = plan.dialect.session_update(session, "e1")
    TypeAdapter(SessionStartEventParam).validate_python(event, strict=True)
    assert (plan.history, plan.chunk_ms, plan.mode, plan.timeouts.response_s) == ((), 20, "audio", 30)


def test_the_backend_has_instructions_of_its_own() -> None:
    plan = made({"backend": {**CONFIGURATION["backend"], "instructions": "Use the tools."}})
    assert plan.session["instructions"].startswith("You answer the phone")
    assert plan.session["delegation"]["responses"]["instructions"].startswith("Use the tools.")


def test_session_update_lies_over_it_and_its_tools_are_the_backends() -> None:
    extra = {"type": "function", "name": "page_someone", "parameters": {"type": "object", "required": ["who"]}}
    delegation = {"type": "responses", "acknowledgement_delay_ms": 200, "responses": {"max_output_tokens": 300}}
    plan = made({"session_update": {"tools": [extra], "delegation": delegation, "store": False}})
    responses = plan.session["delegation"]["responses"]
    assert [tool["name"] for tool in responses["tools"]] == ["create_reservation", "page_someone"]
    assert (responses["max_output_tokens"], responses["model"]) == (300, "gpt-backend")
    assert plan.session["delegation"]["acknowledgement_delay_ms"] == 200
    assert (plan.session["store"], "tools" in plan.session) == (False, False)
    assert plan.required_arguments["page_someone"] == ("who",)


@pytest.mark.parametrize(("coding", "kind"), [("g711_ulaw", "audio/pcmu"), ("g711_alaw", "audio/pcma")])
def test_one_format_serves_both_ways(coding: str, kind: str) -> None:
    plan = made({"audio": {"input": coding, "output": coding}})
    assert plan.session["audio"]["format"] == {"type": kind, "rate": 8000}
    told = plan.dialect.formats(plan.session)
    assert told.input == told.output
    assert (known := told.input) is not None
    assert (known.coding, known.rate_hz) == (coding, 8000)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"mode": "text"}, "mode"),
        ({"turn_detection": "server_vad"}, "turn_detection"),
        ({"audio": {"input": "g711_ulaw"}}, "audio.output"),
        ({"backend": {"mode": "responses"}}, "backend.model"),
        ({"backend": {"mode": "client"}}, "backend.model"),
        ({"backend": {"mode": "client", "endpoint": "wss://a.example/ws/assistant"}}, "backend.token"),
        ({"backend": {"mode": "client", "model": "m", "token": "t"}}, "backend.token"),
        ({"protocol": "realtime", "backend": {"mode": "responses"}}, "backend.model"),
        ({"session_update": {"turn_detection": None}}, "session_update.turn_detection"),
        ({"endpoint": "wss://agent.example/v1/live/sessions?model=m"}, "endpoint"),
    ],
)
def test_what_live_has_not_is_refused_where_it_is_written(changes: dict[str, Any], path: str) -> None:
    assert path in refused(changes)


def test_a_trial_that_is_to_be_typed_cannot_be_held_live() -> None:
    with pytest.raises(PlanError, match="GPT Live is spoken") as caught:
        made(mode="text", caller_audio=())
    assert (caught.value.field, caught.value.stage) == ("mode", "configuration")


def test_a_backend_of_our_own_gets_the_tools_and_what_may_be_known_and_the_session_gets_neither() -> None:
    history = [{"role": "user", "text": "A table for four."}]
    plan = made(
        {"backend": {"mode": "client", "model": "m", "instructions": "Use the tools.", "max_output_tokens": 300}},
        scenario={"input": {"text": "Tomorrow.", "context": {"history": history}}},
        backend=Address("https://backend.example/v1", api_key="sk-backend-1"),
    )
    assert plan.session["delegation"] == {"type": "client"}
    assert (delegate := plan.delegate) is not None
    assert delegate.instructions.startswith("Use the tools.")
    assert '"city": "Rome"' in delegate.instructions
    assert delegate.history == (("user", "A table for four."),)
    assert [tool["name"] for tool in delegate.tools] == ["create_reservation"]
    assert (delegate.model, delegate.max_output_tokens, delegate.is_remote) == ("m", 300, False)
    assert "sk-backend-1" in plan.secrets
    assert "sk-backend-1" not in repr(plan)


def test_a_remote_assistant_learns_no_facts_and_no_state_and_answers_the_tools_itself() -> None:
    state = {"authorised_reservation_ids": ["R-1"]}
    told = {"application": {"initial_state": state}, "reference_date": "2027-05-01"}
    plan = made(
        {"backend": {"mode": "client", "endpoint": "wss://a.example/ws/assistant", "token": "t"}},
        scenario={**told, "input": {"text": "Tomorrow.", "context": {"summary": "She has booked before."}}},
        backend=Address("wss://a.example/ws/assistant", token="a-token-of-ours"),
        executor=ApplicationExecutor(APPLICATION, initial_state=state),
    )
    assert (delegate := plan.delegate) is not None
    assert delegate.is_remote
    assert "She has booked before." in delegate.instructions
    assert "2027-05-01" in delegate.instructions
    assert "Rome" not in delegate.instructions
    assert "R-1" not in delegate.instructions
    assert (plan.executor.declares("create_reservation"), plan.executor.snapshot()) == (False, state)


def test_a_voice_on_the_realtime_protocol_has_one_function_and_its_backend_the_tools() -> None:
    changes = {"protocol": "realtime", "mode": "audio", "backend": {"mode": "responses", "model": "m"}}
    plan = made(changes, backend=Address("https://backend.example/v1"))
    assert [tool["name"] for tool in plan.session["tools"]] == ["delegate"]
    assert (delegate := plan.delegate) is not None
    assert [tool["name"] for tool in delegate.tools] == ["create_reservation"]
    assert '"city": "Rome"' in plan.session["instructions"]
