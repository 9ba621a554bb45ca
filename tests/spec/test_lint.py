from __future__ import annotations

from typing import Any

import pytest

from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.lint import lint, lint_application, lint_configuration
from scenarios_app.spec.scenario import parse_scenario
from tests.spec.examples import APPLICATION, CONFIGURATION, SCENARIO, changed

GRADED = changed(SCENARIO, {"expected.state": {"reservation_created": True}})


def remarks(changes: dict[str, Any]) -> dict[str, str]:
    return dict(lint(parse_scenario(changed(GRADED, changes))))


def test_a_good_scenario_gets_no_remark() -> None:
    assert remarks({}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "A table tomorrow, please.",
        "Tonight at seven",
        "on Friday",
        "next week",
        "this month",
        "in two days",
        "in 3 weeks",
        "a week from now",
        "It arrived two days ago",
    ],
)
def test_a_relative_date_without_a_reference_date_is_remarked(text: str) -> None:
    assert list(remarks({"input.text": text})) == ["input.text"]
    assert remarks({"input.text": text, "reference_date": "2027-03-05"}) == {}


@pytest.mark.parametrize(
    "text", ["On 15 May 2027", "at six in the evening", "in the week of 3 May", "my name is Todays", "two days a week"]
)
def test_a_date_that_stands_alone_is_not_remarked(text: str) -> None:
    assert remarks({"input.text": text}) == {}


def test_relative_dates_are_looked_for_in_all_that_is_said() -> None:
    context = {
        "summary": "She called yesterday.",
        "history": [{"role": "user", "text": "x"}, {"role": "user", "text": "today"}],
    }
    turns = [{"text": "No, tomorrow."}]
    assert set(remarks({"interaction": "multi_turn", "input.turns": turns, "input.context": context})) == {
        "input.turns[0].text",
        "input.context.summary",
        "input.context.history[1].text",
    }


def test_an_empty_state_is_remarked_as_not_checked() -> None:
    tools = {"expected.tools": {"required": [{"name": "x"}]}}
    assert list(remarks({**tools, "expected.state": {}})) == ["expected.state"]


def test_a_scenario_that_expects_nothing_is_remarked_as_ungraded() -> None:
    for expected in ({}, {"delegation": "optional", "tools": {"required": []}}):
        assert "stays ungraded" in remarks({"expected": expected})["expected"]
    assert "only a judge" in remarks({"expected": {"answer": "x"}})["expected"]
    assert (
        "only a judge"
        in remarks({"expected": {}, "assertions": [{"judge": "x"}], "expected.criteria": ["y"]})["expected"]
    )


@pytest.mark.parametrize(
    "expected",
    [
        {"expected": {"delegation": "forbidden"}},
        {"expected": {"tools": {"prohibited": [{"name": "x"}]}}},
        {"expected": {"state": {"unchanged": True}}},
        {"expected": {}, "assertions": [{"turns": {"eq": 1}}]},
    ],
)
def test_a_scenario_that_can_be_decided_without_a_judge_is_not_remarked(expected: dict[str, Any]) -> None:
    assert remarks(expected) == {}


def test_a_tool_that_is_required_and_prohibited_is_remarked() -> None:
    tools = {"required": [{"name": "x"}], "prohibited": [{"name": "x", "arguments": {"a": 1}}, {"name": "x"}]}
    assert list(remarks({"expected.tools": tools})) == ["expected.tools.prohibited[1]"]


def test_an_application_is_remarked_for_answers_that_are_never_given() -> None:
    document = {
        "name": "A",
        "tools": [
            {"name": "silent"},
            {"name": "late", "answers": [{"result": 1}, {"when": "args.x", "result": 2}]},
            {"name": "both", "answers": [{"error": "no", "effects": {"a": 1}}]},
            {"name": "mapped"},
        ],
        "tool_results": {"mapped": 1, "unknown": 2},
    }
    assert set(dict(lint_application(parse_application(document)))) == {
        "tools[0]",
        "tools[1].answers[0]",
        "tools[2].answers[0]",
        "tool_results.unknown",
    }


def test_a_good_application_gets_no_remark() -> None:
    assert lint_application(parse_application(changed(APPLICATION, {"tool_results": {}}))) == []


def test_a_key_written_into_a_configuration_is_remarked_and_not_repeated() -> None:
    key = "sk-proj-abcdefgh12345678"
    changes = {"headers": {"Authorization": f"Bearer {key}"}, "caller": {"api_key": key}, "judge": {"api_key": "dummy"}}
    found = lint_configuration(parse_configuration(changed(CONFIGURATION, changes)))
    assert [remark.path for remark in found] == ["headers.Authorization", "caller.api_key"]
    assert key not in str(found)


def test_a_secret_by_name_is_not_remarked() -> None:
    headers = {"Authorization": "Bearer {{secrets.A_VERY_LONG_NAME_OF_A_SECRET_IN_THE_ENVIRONMENT}}"}
    assert lint_configuration(parse_configuration(changed(CONFIGURATION, {"headers": headers}))) == []


LIVE = {"protocol": "live", "mode": "audio", "endpoint": "simulator"}
REMOTE = {"mode": "client", "endpoint": "wss://agent.example.com/ws/assistant", "token": "{{secrets.T}}"}


@pytest.mark.parametrize(
    ("changes", "idle"),
    [
        ({"backend": {"mode": "direct", "model": "m", "reasoning": "low"}}, ["model", "reasoning"]),
        ({"backend": {"mode": "responses", "model": "m", "endpoint": "simulator", "verbosity": "low"}}, []),
        (
            {**LIVE, "backend": {"mode": "responses", "model": "m", "endpoint": "https://ours.example.com/v1"}},
            ["endpoint"],
        ),
        ({**LIVE, "backend": {"mode": "responses", "model": "m", "reasoning": "low"}}, []),
        ({**LIVE, "backend": {**REMOTE, "instructions": "Be quick.", "max_output_tokens": 5}}, ["max_output_tokens"]),
        ({**LIVE, "backend": {"mode": "client", "model": "m", "max_output_tokens": 5}}, []),
    ],
)
def test_what_the_backends_mode_does_not_read_is_told(changes: dict[str, Any], idle: list[str]) -> None:
    found = lint_configuration(parse_configuration(changed(CONFIGURATION, changes)))
    assert [remark.path for remark in found] == [f"backend.{name}" for name in idle]
    assert all(remark.message.startswith("is not used: ") for remark in found)


@pytest.mark.parametrize(
    ("prices", "found"),
    [
        ({"audio_in": 32, "per_minute": 0.06, "text_cached": 0}, {}),
        (None, {}),
        ({}, {"price_table": "must be an object with any of text_in, text_cached"}),
        ("2027-01", {"price_table": "is not used"}),
        ({"audio_in": 32, "audio in": 3}, {'price_table["audio in"]': "is no price"}),
        (
            {"audio_in": "32", "text_in": -1, "text_out": True, "per_minute": None},
            {
                "price_table.audio_in": "must be a number",
                "price_table.text_in": "0 or more",
                "price_table.text_out": "must be a number",
                "price_table.per_minute": "must be a number",
            },
        ),
    ],
)
def test_prices_that_no_estimate_can_use_are_remarked(prices: Any, found: dict[str, str]) -> None:
    remarks = dict(lint_configuration(parse_configuration({**CONFIGURATION, "price_table": prices})))
    assert remarks.keys() == found.keys()
    assert all(words in remarks[path] for path, words in found.items())


OPENAI = "wss://api.openai.com/v1/realtime"
AZURE = "wss://desk.openai.azure.com/openai/v1/realtime"
KEY = {"Authorization": "Bearer {{secrets.KEY}}"}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, {}),
        ({"headers": {"x-mine": "1"}}, {}),
        ({"endpoint": OPENAI}, {"headers": "needs an Authorization header"}),
        ({"endpoint": f"{OPENAI}?model=m"}, {"headers": "needs an Authorization header"}),
        ({"endpoint": OPENAI, "headers": KEY}, {}),
        ({"endpoint": OPENAI, "headers": {"authorization": "Bearer {{secrets.KEY}}"}}, {}),
        ({"endpoint": OPENAI, "headers": {"Authorization": "{{secrets.KEY}}"}}, {"headers.Authorization": "Bearer"}),
        ({"endpoint": OPENAI, "headers": KEY, "dialect": "beta"}, {"dialect": "ga only"}),
        (
            {"endpoint": OPENAI, "headers": {**KEY, "OpenAI-Beta": "realtime=v1"}},
            {"headers.OpenAI-Beta": "switched the beta dialect off"},
        ),
        ({"headers": {"openai-beta": "realtime=v1"}}, {"headers.openai-beta": "the configuration speaks ga"}),
        ({"headers": {"openai-beta": "realtime=v1"}, "dialect": "beta"}, {}),
        ({"headers": {"openai-beta": "assistants=v2"}}, {}),
        ({"endpoint": AZURE}, {"headers": "needs an api-key header"}),
        ({"endpoint": AZURE, "headers": {"api-key": "{{secrets.KEY}}"}}, {}),
        ({"endpoint": AZURE, "headers": KEY}, {}),
        ({"endpoint": f"{AZURE}?api-key={{{{secrets.KEY}}}}"}, {}),
        ({"endpoint": f"{AZURE}?api-version=1", "headers": KEY}, {"endpoint": "takes no api-version"}),
        ({"endpoint": "wss://gateway.example/openai/v1/realtime?api-version=1"}, {"endpoint": "takes no api-version"}),
        (
            {"endpoint": "wss://gateway.example/openai/realtime"},
            {"endpoint": "needs an api-version", "dialect": "preview, which speaks beta"},
        ),
        ({"endpoint": "wss://gateway.example/openai/realtime?api-version=1", "dialect": "beta"}, {}),
        ({"dialect": "beta", "session_update": {"audio": {}}}, {"session_update.audio": "only the ga dialect"}),
        ({"session_update": {"modalities": ["text"]}}, {"session_update.modalities": "only the beta dialect"}),
        ({"dialect": "beta", "session_update": {"voice": "sage", "temperature": 0.7}}, {}),
    ],
)
def test_what_a_known_host_would_refuse_is_remarked(changes: dict[str, Any], found: dict[str, str]) -> None:
    remarks = dict(lint_configuration(parse_configuration({**CONFIGURATION, **changes})))
    assert remarks.keys() == found.keys()
    assert all(words in remarks[path] for path, words in found.items())
