"""What a plan holds: addresses, the merged session, the context block, and nothing that only an evaluator may know."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.merging import merge
from runs_app.realtime.plan import Plan, PlanError, build_plan
from runs_app.realtime.session import converse
from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.scenario import parse_scenario
from tests.realtime.support import TableExecutor, asked, only_session, setup, tone
from tests.scripted_events import text_reply
from tests.scripted_server import serving

SCENARIO: dict[str, Any] = {
    "id": "plain",
    "title": "A plain booking",
    "interaction": "single_turn",
    "input": {
        "text": "Book a table for Nora.",
        "context": {
            "summary": "Nora called before.",
            "history": [{"role": "user", "text": "Hi"}, {"role": "assistant", "text": "Hello"}],
        },
    },
    "application": {"initial_state": {"reservations": {"R-100": {"guest": "Nora"}}}},
    "reference_date": "2027-05-14",
    "expected": {"answer": "It is booked."},
}
APPLICATION: dict[str, Any] = {
    "name": "Bistro",
    "facts": {"opens": "18:00"},
    "tools": [
        {
            "name": "find_table",
            "description": "Finds a table",
            "parameters": {"type": "object", "properties": {"date": {"type": "string"}}, "required": ["date"]},
            "answers": [{"result": {"free": True}}],
        }
    ],
}
CONFIGURATION: dict[str, Any] = {
    "name": "Front desk",
    "protocol": "realtime",
    "endpoint": "http://127.0.0.1:9/v1/realtime",
    "model": "sim-1",
    "instructions": "You answer the phone.",
    "voice": "marin",
    "mode": "audio",
}


def made(
    configuration: dict[str, Any] | None = None,
    scenario: dict[str, Any] | None = None,
    *,
    with_application: bool = True,
    **options: Any,
) -> Plan:
    given_configuration = {**CONFIGURATION, **(configuration or {})}
    known: dict[str, Any] = {
        "url": given_configuration["endpoint"],
        "headers": {},
        "caller_audio": [tone(200)],
        "executor": TableExecutor(),
    }
    return build_plan(
        configuration=parse_configuration(given_configuration),
        scenario=parse_scenario({**deepcopy(SCENARIO), **(scenario or {})}),
        application=parse_application(APPLICATION) if with_application else None,
        **{**known, **options},
    )


@pytest.mark.behaviour(1)
@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://127.0.0.1:9/v1/realtime", "ws://127.0.0.1:9/v1/realtime?model=sim-1"),
        ("https://api.example/v1/realtime", "wss://api.example/v1/realtime?model=sim-1"),
        ("wss://api.example/v1/realtime?model=other", "wss://api.example/v1/realtime?model=other"),
        ("ws://x/v1/realtime?api-version=1", "ws://x/v1/realtime?api-version=1&model=sim-1"),
    ],
)
def test_the_address_becomes_a_websocket_with_a_model(url: str, wanted: str) -> None:
    """Behaviour 1."""
    assert made(url=url).url == wanted


@pytest.mark.behaviour(2)
def test_beta_adds_its_header_and_ga_adds_none() -> None:
    """Behaviour 2. A header that the configuration writes itself stays as it is."""
    assert dict(made(headers={"X-Team": "qa"}).headers) == {"X-Team": "qa"}
    beta = made({"dialect": "beta"}, headers={"X-Team": "qa"})
    assert dict(beta.headers) == {"OpenAI-Beta": "realtime=v1", "X-Team": "qa"}
    own = {"openai-beta": "realtime=v1, assistants=v2"}
    assert dict(made({"dialect": "beta"}, headers=own).headers) == own


@pytest.mark.behaviour(3)
def test_session_update_overrides_fields_and_fields_override_defaults_key_by_key() -> None:
    """Behaviour 3, and the order of contracts 5."""
    update = {"audio": {"output": {"voice": "cedar", "speed": 1.1}, "input": {"noise_reduction": None}}}
    session = made({"session_update": update}).session
    pcm = {"type": "audio/pcm", "rate": 24_000}
    assert session["audio"] == {
        "input": {"format": pcm, "turn_detection": None, "noise_reduction": None},
        "output": {"format": pcm, "voice": "cedar", "speed": 1.1},
    }
    assert session["output_modalities"] == ["audio"]
    assert made().session["audio"]["output"]["voice"] == "marin"


def test_tools_are_the_applications_then_those_of_session_update() -> None:
    ping = {"type": "function", "name": "ping", "description": "", "parameters": {"type": "object"}}
    plan = made({"session_update": {"tools": [ping]}})
    assert [tool["name"] for tool in plan.session["tools"]] == ["find_table", "ping"]
    assert plan.session["tools"][0]["type"] == "function"
    assert plan.required_arguments == {"find_table": ("date",), "ping": ()}


def test_a_tool_declared_twice_is_an_error_at_its_field() -> None:
    twice = {"session_update": {"tools": [{"type": "function", "name": "find_table", "parameters": {}}]}}
    with pytest.raises(PlanError, match="find_table") as caught:
        made(twice)
    assert caught.value.field == "session_update.tools[0].name"
    assert caught.value.stage == "configuration"


def test_the_context_is_one_fenced_block_at_the_end_of_the_instructions() -> None:
    instructions = made().session["instructions"]
    before, _, block = instructions.partition("```json\n")
    assert before.startswith("You answer the phone.\n\n")
    assert instructions.count("```") == 2
    assert instructions.endswith("```")
    assert json.loads(block.removesuffix("```")) == {
        "summary": "Nora called before.",
        "facts": {"opens": "18:00"},
        "state": {"reservations": {"R-100": {"guest": "Nora"}}},
        "reference_date": "2027-05-14",
    }
    assert made().history == (("user", "Hi"), ("assistant", "Hello"))
    assert made().reference_date == "2027-05-14"


def test_the_context_ends_also_instructions_that_session_update_gives() -> None:
    instructions = made({"session_update": {"instructions": "Other words."}}).session["instructions"]
    assert instructions.startswith("Other words.\n\n")
    assert instructions.endswith("```")


def test_without_anything_to_know_there_is_no_block() -> None:
    bare = {"input": {"text": "Hi"}, "application": {}, "reference_date": None}
    scenario = {key: value for key, value in {**SCENARIO, **bare}.items() if value is not None}
    plan = build_plan(
        configuration=parse_configuration({**CONFIGURATION, "mode": "text", "instructions": ""}),
        scenario=parse_scenario(scenario),
        application=None,
        url="ws://x",
        headers={},
        caller_audio=(),
        executor=TableExecutor(),
    )
    assert plan.session == {"type": "realtime", "output_modalities": ["text"]}
    assert plan.turns[0].audio is None


@pytest.mark.parametrize(
    ("configured", "scenario", "run", "wanted"),
    [("audio", None, None, "audio"), ("audio", "text", None, "text"), ("audio", "text", "audio", "audio")],
)
def test_a_run_overrides_the_scenario_and_the_scenario_the_configuration(
    configured: str, scenario: str | None, run: str | None, wanted: str
) -> None:
    changes = {"mode": scenario} if scenario else {}
    plan = made({"mode": configured}, changes, mode=run)
    assert plan.mode == wanted
    assert ("audio" in plan.session) == (wanted == "audio")


def test_real_time_is_the_configurations_unless_the_run_says_otherwise() -> None:
    assert made().real_time is True
    assert made(real_time=False).real_time is False
    assert made({"audio": {"real_time": False}}).real_time is False


def test_time_outs_are_in_seconds() -> None:
    times = made({"timeouts": {"turn": "500ms", "connect": 7, "session_ready": "2s"}}).timeouts
    assert (times.turn_s, times.connect_s, times.session_ready_s) == (0.5, 7.0, 2.0)


@pytest.mark.quirk(25)
@pytest.mark.behaviour(33)
@pytest.mark.case("A13")
@pytest.mark.parametrize(("ms", "told"), [(0, "0 ms"), (60, "60 ms"), (99.9, "99 ms")])
def test_caller_audio_that_no_server_takes_is_refused_before_a_socket_opens(ms: float, told: str) -> None:
    """A13, and behaviour 33."""
    with pytest.raises(PlanError, match=rf"^caller audio {told} \(minimum 100 ms\)$") as caught:
        made(caller_audio=[tone(ms)])
    assert caught.value.stage == "caller_audio"
    with pytest.raises(PlanError, match="caller audio 0 ms"):
        made(caller_audio=())
    assert made(caller_audio=[tone(100)]).turns[0].audio is not None


@pytest.mark.parametrize(
    ("configuration", "scenario", "field"),
    [
        ({"protocol": "live"}, {}, "backend.mode"),
        (
            {},
            {"interaction": "multi_turn", "input": {"text": "Hi", "turns": [{"text": "Bye"}]}, "stop_when": "It is so"},
            "stop_when",
        ),
    ],
)
def test_what_no_engine_serves_yet_is_refused_by_name(
    configuration: dict[str, Any], scenario: dict[str, Any], field: str
) -> None:
    with pytest.raises(PlanError) as caught:
        made(configuration, scenario)
    assert caught.value.field == field


def test_an_address_that_cannot_be_opened_names_the_setting_and_hides_its_query() -> None:
    with pytest.raises(PlanError) as caught:
        made(url="ftp://host/?api-key=hush")
    assert caught.value.field == "endpoint"
    assert "hush" not in str(caught.value)


def test_values_of_credential_headers_are_secrets_and_repr_shows_none_of_them() -> None:
    headers = {"Authorization": "Bearer sk-1234567890", "X-Team": "quality", "x-api-key": "short"}
    plan = made(headers=headers, secrets=("another-secret",), url="ws://host/?api-key=query-secret&model=m")
    assert plan.secrets == ("another-secret", "Bearer sk-1234567890", "query-secret", "sk-1234567890")
    assert "sk-1234567890" not in repr(plan)
    assert "query-secret" not in repr(plan)


async def test_no_byte_of_what_is_expected_reaches_the_agent() -> None:
    hidden = {
        "answer": "SENTINEL answer",
        "criteria": ["SENTINEL criterion"],
        "delegation": "required",
        "tools": {
            "required": [{"name": "find_table", "arguments": {"date": "SENTINEL date"}}],
            "prohibited": [{"name": "SENTINEL_tool"}],
        },
        "state": {"SENTINEL key": "SENTINEL value"},
        "golden_path": {"turns": 2, "steps": ["SENTINEL step"]},
        "diagnostic_terms": ["SENTINEL term"],
    }
    more = {"expected": hidden, "notes": "SENTINEL note", "owner": "SENTINEL owner", "source": "SENTINEL bug"}
    scenario = {**more, "title": "SENTINEL title", "assertions": [{"tool_called": {"name": "SENTINEL_call"}}]}
    async with serving([*setup(), *asked(), *text_reply("ok")]) as server:
        plan = made({"mode": "text"}, scenario, url=server.url, headers={"X-Team": "qa"})
        await converse(plan, emit=lambda event: None, stop=asyncio.Event())
        session = only_session(server)
        everything = json.dumps([logged.event for logged in session.received]) + session.path + str(session.headers)
    assert "Nora called before." in everything
    assert "SENTINEL" not in everything
    assert "SENTINEL" not in repr(plan)


MAPS = st.recursive(st.integers() | st.none(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3))
TREES = st.dictionaries(st.sampled_from("abc"), MAPS, max_size=3)


@given(TREES, TREES)
def test_merging_keeps_every_leaf_of_the_upper_and_changes_neither(base: Any, over: Any) -> None:
    before = deepcopy((base, over))
    merged = merge(base, over)
    assert merge(merged, over) == merged
    assert merged.keys() == base.keys() | over.keys()
    assert all(merged[key] == value for key, value in over.items() if not isinstance(value, dict))
    assert merge({}, over) == over
    assert (base, over) == before


def test_caller_audio_is_taken_as_it_is() -> None:
    audio = tone(150)
    assert np.array_equal(made(caller_audio=[audio]).turns[0].audio, audio)  # type: ignore[arg-type]


def test_each_turn_of_a_script_needs_its_sound_and_the_missing_one_is_named() -> None:
    said = {"text": "Book a table.", "turns": [{"text": "For four"}, {"text": "Bye"}]}
    script = {"interaction": "multi_turn", "input": said}
    with pytest.raises(PlanError) as caught:
        made({}, script, caller_audio=[tone(200), tone(60)])
    assert caught.value.stage == "caller_audio"
    assert "caller audio of turn 2 60 ms (minimum 100 ms)" in str(caught.value)
    turns = made({}, script, caller_audio=[tone(200), tone(300), tone(400)]).turns
    assert [turn.text for turn in turns][1:] == ["For four", "Bye"]
    assert [turn.audio.size // 24 for turn in turns if turn.audio is not None] == [200, 300, 400]


@pytest.mark.parametrize("dialect", ["ga", "beta"])
def test_turn_detection_of_a_configuration_is_in_the_session_and_in_the_plan(dialect: str) -> None:
    plan = made({"turn_detection": {"type": "server_vad", "silence_duration_ms": 700}, "dialect": dialect})
    assert plan.turn_detection is not None
    assert plan.turn_detection["type"] == "server_vad"
    assert plan.turn_detection["silence_duration_ms"] == 700
    assert plan.turn_detection["create_response"] is True
    assert plan.chunk_ms == 20
    assert made({"turn_detection": "semantic_vad"}).turn_detection == {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    }
    assert made({"turn_detection": "server_vad"}, mode="text").turn_detection is None
    assert made({"dialect": dialect}).turn_detection is None
