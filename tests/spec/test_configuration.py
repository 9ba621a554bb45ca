from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import (
    Configuration,
    parse_configuration,
    parse_configurations,
    tool_conflicts,
    unsupported_fields,
)
from scenarios_app.spec.contract import Seconds
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.templates import placeholders
from tests.spec.examples import APPLICATION, CONFIGURATION, changed, complaints

FULL: dict[str, Any] = {
    **CONFIGURATION,
    "endpoint": "wss://agent.example.com/v1/realtime?key={{secrets.AGENT}}&seed={{run.seed}}",
    "model": "agent-{{trial.seed}}-{{ trial.repeat }}",
    "headers": {"Authorization": "Bearer {{secrets.AGENT_KEY}}", "x-seed": "{{trial.seed}}"},
    "instructions": "You answer the phone.",
    "backend": {"mode": "direct", "model": "b", "max_output_tokens": 1000, "api_key": "{{secrets.B}}", "token": "t"},
    "application": {"name": "Restaurant", "version": 3},
    "voice": "marin",
    "session_update": {"temperature": 0.8, "tools": [{"type": "function", "name": "end_session"}]},
    "dialect": "ga",
    "mode": "audio",
    "audio": {"input": "pcm16", "output": "pcm16", "chunk_ms": 40, "real_time": False},
    "turn_detection": None,
    "done_tool": "hang_up",
    "tool_rounds": 2,
    "timeouts": {"connect": 5, "session_ready": "3s", "turn": "60s", "response": "1500ms"},
    "caller": {"endpoint": "simulator", "model": "sim-tts", "voice": "caller", "api_key": "{{secrets.TTS}}"},
    "judge": {"endpoint": "http://127.0.0.1:8000/v1", "model": "j", "reasoning_effort": "low", "rubric": "v2"},
    "price_table": "2027-01",
}


def refused(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_configuration(changed(CONFIGURATION, changes))
    return complaints(caught.value)


def test_the_least_configuration_has_the_documented_defaults() -> None:
    configuration = parse_configuration(CONFIGURATION)
    assert configuration.mode == "text"
    assert configuration.dialect == "ga"
    assert configuration.vad is None
    assert configuration.chunk_ms == 100
    assert configuration.audio.real_time is True
    assert configuration.done_tool == "end_session"
    assert configuration.tool_rounds == 5
    waits = configuration.timeouts
    assert (waits.connect, waits.session_ready, waits.turn, waits.response) == (60, 3, 60, 30)
    assert configuration.caller.api_key is None
    assert configuration.judge is None
    assert configuration.application is None
    assert parse_configuration(changed(CONFIGURATION, {"protocol": "live"})).chunk_ms == 20


@pytest.mark.parametrize(
    ("changes", "chunk_ms"),
    [
        ({"turn_detection": "server_vad"}, 20),
        ({"session_update": {"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}}, 20),
        ({"session_update": {"turn_detection": {"type": "server_vad"}}}, 20),
        ({"turn_detection": "server_vad", "session_update": {"audio": {"input": {"turn_detection": None}}}}, 100),
        ({"turn_detection": "server_vad", "audio": {"chunk_ms": 60}}, 60),
    ],
)
def test_a_server_that_detects_turns_gets_short_chunks(changes: dict[str, Any], chunk_ms: int) -> None:
    assert parse_configuration(changed(CONFIGURATION, changes)).chunk_ms == chunk_ms


@pytest.mark.parametrize("path", list(CONFIGURATION))
def test_a_missing_field_is_named(path: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_configuration({key: value for key, value in CONFIGURATION.items() if key != path})
    assert complaints(caught.value) == {path: "this field is required"}


def test_every_field_is_kept_as_given() -> None:
    configuration = parse_configuration(FULL)
    assert configuration.to_json() == FULL
    assert configuration.chunk_ms == 40
    assert parse_configuration(configuration.to_json()) == configuration
    assert unsupported_fields(configuration) == []


@pytest.mark.parametrize(
    ("given", "seconds"), [(60, 60), (2.5, 2.5), ("60s", 60), ("500ms", 0.5), ("1.5 s", 1.5), (" 3s ", 3)]
)
def test_a_duration_is_a_number_of_seconds_or_says_its_unit(given: Any, seconds: float) -> None:
    document = changed(CONFIGURATION, {"timeouts.turn": given})
    configuration = parse_configuration(document)
    assert configuration.timeouts.turn == seconds
    assert configuration.timeouts.connect == seconds  # the handshake waits as long as a turn
    assert configuration.to_json() == document


@pytest.mark.parametrize("given", ["60", "5m", "s", "-3s", "1e3s", True, None, [], "3 0s"])
def test_another_duration_is_refused(given: Any) -> None:
    assert "60s or 500ms" in refused({"timeouts.turn": given})["timeouts.turn"]


@pytest.mark.parametrize(
    ("changes", "path"), [({"timeouts.turn": "soon"}, "timeouts.turn"), ({"judge.model": ""}, "judge.model")]
)
def test_a_default_that_follows_a_wrong_field_is_no_problem_of_its_own(changes: dict[str, Any], path: str) -> None:
    assert set(refused(changes)) == {path}


@pytest.mark.parametrize("given", [0, -1, "0ms", 3601, "3601s", 10**400])
def test_a_duration_is_more_than_nothing_and_at_most_an_hour(given: Any) -> None:
    assert "more than 0 and at most 3600" in refused({"timeouts.session_ready": given})["timeouts.session_ready"]


def test_a_duration_survives_copies() -> None:
    wait = Seconds("500ms")
    for copied in (copy.deepcopy(wait), pickle.loads(pickle.dumps(wait))):
        assert copied == 0.5
        assert copied.given == "500ms"


@pytest.mark.parametrize(
    "endpoint",
    [
        "simulator",
        "ws://127.0.0.1:9000/v1/realtime",
        "wss://h",
        "http://[::1]:80/",
        "https://h/p?model=x&seed={{trial.seed}}",
        "wss://h/?key={{ secrets.K }}",
    ],
)
def test_an_endpoint_is_a_url_or_the_simulator(endpoint: str) -> None:
    assert parse_configuration(changed(CONFIGURATION, {"endpoint": endpoint})).endpoint == endpoint


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("ftp://h/", "must begin with ws://"),
        ("agent.example.com", "must begin with ws://"),
        ("Simulator", "the word simulator"),
        ("wss://", "and a host"),
        ("wss://h:99999/", "and a host"),
        ("wss://[h/", "and a host"),
        ("wss://h/a b", "spaces"),
        ("wss://h/\n", "control characters"),
        ("wss://user:word@h/", "user name"),
        ("wss://h/#part", "# part"),
        ("wss://{{secrets.HOST}}/", "in the query"),
        ("wss://h/{{trial.seed}}?x=1", "in the query"),
        ("{{secrets.URL}}", "in the query"),
        ("wss://h/?x={{secrets.K}", "without its }}"),
        ("wss://h/?x={{secret.K}}", "is not known"),
        ("", "must not be empty"),
    ],
)
def test_another_endpoint_is_refused(endpoint: str, words: str) -> None:
    assert words in refused({"endpoint": endpoint})["endpoint"]


def test_speech_and_judge_are_asked_over_http() -> None:
    for name in ("caller", "judge"):
        assert "must begin with http:// or https://" in refused({name: {"endpoint": "wss://h/"}})[f"{name}.endpoint"]
        assert list(refused({name: {"endpoint": "https://h/{{secrets.K}}"}})) == [f"{name}.endpoint"]


def test_the_live_protocol_takes_no_query() -> None:
    assert refused({"protocol": "live", "endpoint": "wss://h/live?x=1"}) == {
        "endpoint": "the live protocol takes no query"
    }


@pytest.mark.parametrize(
    ("headers", "path", "words"),
    [
        ({"Host": "x"}, "headers.Host", "by the connection itself"),
        ({"sec-websocket-protocol": "x"}, "headers.sec-websocket-protocol", "by the connection itself"),
        ({"a b": "x"}, "headers", "is not a header name"),
        ({"": "x"}, "headers", "is not a header name"),
        ({"{{secrets.K}}": "x"}, "headers", "is not a header name"),
        ({"x": "a\r\nb"}, "headers.x", "line breaks"),
        ({"x": "é"}, "headers.x", "ASCII"),
        ({"x": "1", "X": "2"}, "headers.X", "given twice"),
        ({"x": 5}, "headers.x", "must be text"),
        ({"x": "{{secrets.}}"}, "headers.x", "is not known"),
        ({"x": "{{secrets.A-B}}"}, "headers.x", "is not known"),
        ({"x": "{{run.id}}"}, "headers.x", "known are {{secrets.NAME}}, {{run.seed}}"),
        ({"x": "{{secrets.A"}, "headers.x", "without its }}"),
        ({"x!": "{{x}}"}, 'headers["x!"]', "is not known"),
    ],
)
def test_a_wrong_header_is_named(headers: dict[str, Any], path: str, words: str) -> None:
    found = refused({"headers": headers})
    assert set(found) == {path}
    assert words in found[path]


def test_the_value_of_a_header_or_key_is_never_repeated() -> None:
    secret = "sk-live-verysecret"
    for changes in (
        {"headers": {"x": f"{secret}\n"}},
        {"headers": {"x": f"{secret} {{{{oops"}},
        {"caller": {"api_key": f"{secret} {{{{oops"}},
        {"caller": {"api_key": [secret]}},
        {"endpoint": f"wss://u:{secret}@h/"},
    ):
        with pytest.raises(SpecError) as caught:
            parse_configuration(changed(CONFIGURATION, changes))
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("instructions", "You know {{secrets.K}}."),
        ("instructions", "{{trial.seed}}"),
        ("voice", "{{trial.seed}}"),
        ("session_update.instructions", "{{run.seed}}"),
        ("session_update.tools", [{"name": "a", "description": "{{secrets.K}}"}]),
        ("session_update", {"{{secrets.K}}": 1}),
        ("caller.model", "{{trial.seed}}"),
        ("caller.voice", "{{trial.seed}}"),
        ("judge.model", "{{trial.seed}}"),
        ("backend.instructions", "{{secrets.K}}"),
        ("name", "{{trial.seed}}"),
        ("turn_detection", {"type": "none", "x": "{{secrets.K}}"}),
    ],
)
def test_a_placeholder_elsewhere_is_refused_at_its_field(path: str, value: Any) -> None:
    (found,) = refused({path: value})
    assert found.startswith(path)


def test_the_model_takes_seeds_and_no_secrets() -> None:
    assert "secrets may stand in headers" in refused({"model": "m-{{secrets.K}}"})["model"]
    assert placeholders(parse_configuration(FULL).model) == ("trial.seed", "trial.repeat")


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"name": "a,b"}, "name", "comma or an @"),
        ({"name": "a@1"}, "name", "comma or an @"),
        ({"protocol": "sip"}, "protocol", 'realtime or live, not "sip"'),
        ({"dialect": "alpha"}, "dialect", "ga or beta"),
        ({"audio": {"input": "opus"}}, "audio.input", "must be pcm16"),
        ({"audio": {"output": "mp3"}}, "audio.output", "g711_ulaw"),
        ({"audio": {"chunk_ms": 0}}, "audio.chunk_ms", "1 or more"),
        ({"audio": {"chunk_ms": 20.5}}, "audio.chunk_ms", "whole number"),
        ({"audio": {"real_time": 1}}, "audio.real_time", "true or false"),
        ({"turn_detection": "vad"}, "turn_detection", "none, server_vad or semantic_vad"),
        ({"turn_detection": {"threshold": 0.5}}, "turn_detection", "whose type is"),
        ({"turn_detection": {"type": ["none"]}}, "turn_detection", "whose type is"),
        ({"done_tool": "hang up"}, "done_tool", "letters, digits"),
        ({"tool_rounds": 51}, "tool_rounds", "50 or less"),
        ({"tool_rounds": -1}, "tool_rounds", "0 or more"),
        ({"timeouts": {"total": 5}}, "timeouts.total", "no such field; known are turn, connect"),
        ({"backend": {"mode": "both"}}, "backend.mode", "direct, responses or client"),
        ({"application": {"name": "a", "version": "1"}}, "application.version", "whole number"),
        ({"application": "a@1"}, "application", "must be an object, not text"),
        ({"session_update.tools": {}}, "session_update.tools", "must be a list"),
        ({"session_update.tools": ["x"]}, "session_update.tools[0]", "must be an object"),
        ({"session_update.tools": [{"name": "a"}, {"name": "a"}]}, "session_update.tools[1].name", "declared twice"),
        ({"persona": {}}, "persona.model", "this field is required"),
        ({"price_table": 5}, "price_table", "must be text or an object"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], path: str, words: str) -> None:
    found = refused(changes)
    assert set(found) == {path}
    assert words in found[path]


@pytest.mark.parametrize(
    ("given", "vad"),
    [
        ("none", None),
        (None, None),
        ({"type": "none"}, None),
        ("semantic_vad", {"type": "semantic_vad"}),
        ({"type": "server_vad", "threshold": 0.5}, {"type": "server_vad", "threshold": 0.5}),
    ],
)
def test_turn_detection_is_a_word_or_an_object_with_options(given: Any, vad: Any) -> None:
    document = changed(CONFIGURATION, {"turn_detection": given})
    configuration = parse_configuration(document)
    assert configuration.vad == vad
    assert configuration.to_json() == document


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"protocol": "live"}, "backend.mode"),
        (
            {"session_update": {"audio": {"output": {"format": {"type": "audio/opus"}}}}},
            "session_update.audio.output.format",
        ),
    ],
)
def test_what_no_engine_serves_is_kept_and_named(changes: dict[str, Any], path: str) -> None:
    document = changed(CONFIGURATION, changes)
    configuration = parse_configuration(document)
    assert configuration.to_json() == document
    assert [problem.path for problem in unsupported_fields(configuration)] == [path]


def test_what_session_update_may_say_of_audio_is_not_named() -> None:
    audio = {
        "input": {"turn_detection": None, "format": {"type": "audio/pcm", "rate": 16000}},
        "output": {"voice": "cedar", "format": {"type": "audio/pcmu"}},
    }
    configuration = parse_configuration(changed(CONFIGURATION, {"session_update": {"audio": audio}}))
    assert unsupported_fields(configuration) == []


def test_a_tool_declared_by_application_and_session_is_a_conflict_at_its_field() -> None:
    tools = [{"type": "function", "name": "end_session"}, {"type": "function", "name": "create_reservation"}]
    configuration = parse_configuration(changed(CONFIGURATION, {"session_update": {"tools": tools}}))
    (problem,) = tool_conflicts(configuration, parse_application(APPLICATION))
    assert problem.path == "session_update.tools[1].name"
    assert '"Restaurant" declares "create_reservation" too' in problem.message
    assert tool_conflicts(parse_configuration(CONFIGURATION), parse_application(APPLICATION)) == []


def test_the_default_judge_thinks_with_medium_effort_and_another_is_not_told() -> None:
    def judge(given: dict[str, Any]) -> Any:
        return parse_configuration(changed(CONFIGURATION, {"judge": given})).judge

    assert judge({}).reasoning_effort == "medium"
    assert judge({"model": "other"}).reasoning_effort is None
    assert judge({"model": "other", "reasoning_effort": "high"}).reasoning_effort == "high"


def test_versions_of_one_name_stand_in_file_order() -> None:
    second = changed(CONFIGURATION, {"instructions": "Use the corrected value."})
    parsed = parse_configurations(json.dumps([CONFIGURATION, second]).encode())
    assert [configuration.to_json() for configuration in parsed] == [CONFIGURATION, second]
    assert all(isinstance(configuration, Configuration) for configuration in parsed)


def test_the_problems_of_a_list_come_with_path_and_line() -> None:
    text = json.dumps([CONFIGURATION, changed(CONFIGURATION, {"model": "{{x}}"}), 7], indent=1)
    with pytest.raises(SpecError) as caught:
        parse_configurations(text)
    lines = text.splitlines()
    places = [(problem.path, lines[(problem.line or 0) - 1].strip()) for problem in caught.value.problems]
    assert places == [("[1].model", '"model": "{{x}}"'), ("[2]", "7")]


def test_an_object_where_a_list_should_be_is_explained() -> None:
    with pytest.raises(SpecError, match="must be a list of configurations, not an object"):
        parse_configurations(json.dumps(CONFIGURATION))
