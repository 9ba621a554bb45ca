"""Azure's addresses, keys and errors: by configuration alone, on a server that answers as Azure does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.realtime.plan import DIALECTS, Plan, build_plan
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.scenario import parse_scenario
from tests.realtime.support import QUICK, TableExecutor, asked, hold, known, only_session, plan, setup, tone
from tests.scripted_events import done, text_reply
from tests.scripted_server import Send, serving

SCENARIO = {
    "id": "s1",
    "title": "Hello",
    "interaction": "single_turn",
    "input": {"text": "Hello"},
    "application": {"initial_state": {}},
    "expected": {"answer": "Hello."},
}


def azure_plan(base: str, path: str, **changes: Any) -> Plan:
    """As a run makes it, with its key in the header."""
    document = {"name": "Azure", "protocol": "realtime", "endpoint": f"{base}{path}", "model": "desk-realtime"}
    headers = {"api-key": "0123456789abcdef"}
    return build_plan(
        configuration=parse_configuration({**document, **changes}),
        scenario=parse_scenario(SCENARIO),
        application=None,
        url=f"{base}{path}",
        headers=headers,
        caller_audio=[],
        executor=TableExecutor(),
    )


@pytest.mark.quirk(31)
@pytest.mark.parametrize(
    ("path", "dialect", "opened"),
    [
        ("/openai/v1/realtime", "ga", "/openai/v1/realtime?model=desk-realtime"),
        (
            "/openai/realtime?api-version=2025-04-01-preview",
            "beta",
            "/openai/realtime?api-version=2025-04-01-preview&deployment=desk-realtime",
        ),
        ("/openai/realtime?api-version=1&deployment=mine", "beta", "/openai/realtime?api-version=1&deployment=mine"),
    ],
)
async def test_both_of_azures_addresses_are_opened_with_the_deployment_and_the_key(
    path: str, dialect: str, opened: str
) -> None:
    async with serving([*setup(), *asked(), *text_reply("Hello.")]) as server:
        held = await hold(azure_plan(f"ws://127.0.0.1:{server.port}", path, dialect=dialect))
    session = only_session(server)
    assert session.path == opened
    assert session.headers["api-key"] == "0123456789abcdef"
    assert ("OpenAI-Beta" in session.headers) == (dialect == "beta")
    assert held.record.turns[0].agent_text == "Hello."


@pytest.mark.quirk(46)
@pytest.mark.parametrize("dialect", ["ga", "beta"])
async def test_reasoning_is_sent_only_where_session_update_holds_it(dialect: str) -> None:
    for update in ({}, {"reasoning": {"effort": "low"}}):
        async with serving([*setup(), *asked(), *text_reply("Hello.")]) as server:
            base = f"ws://127.0.0.1:{server.port}"
            await hold(azure_plan(base, "/openai/v1/realtime", dialect=dialect, session_update=update))
        sent = only_session(server).events("session.update")[0]["session"]
        assert sent.get("reasoning") == update.get("reasoning")
        assert ("reasoning" in json.dumps(only_session(server).received[0].event)) == bool(update)


@pytest.mark.quirk(33)
@pytest.mark.parametrize("dialect", ["ga", "beta"])
async def test_turn_detection_is_switched_off_in_the_words_of_the_dialect(dialect: str) -> None:
    dialect_of = DIALECTS[dialect]
    async with serving([*setup(), *asked(), *text_reply("Hello.")]) as server:
        session = dialect_of.default_session("audio")
        await hold(plan(server.url, audio=tone(200), dialect=dialect_of, session=session, timeouts=QUICK))
    sent = only_session(server).events("session.update")[0]["session"]
    assert (sent["audio"]["input"] if dialect == "ga" else sent)["turn_detection"] is None


@pytest.mark.quirk(46)
async def test_an_api_version_on_the_ga_path_is_refused_with_the_reason() -> None:
    body = json.dumps({"error": {"code": "401", "message": "Access denied due to invalid subscription key."}})
    async with serving([], refuse=401, refuse_body=body) as server:
        held = await hold(azure_plan(f"ws://127.0.0.1:{server.port}", "/openai/v1/realtime?api-version=2025-04-01"))
    ending = held.record.ending
    assert (ending.stage, ending.code) == ("authorisation", "401")
    assert "Access denied due to invalid subscription key. (this path takes no api-version" in ending.message
    assert "0123456789abcdef" not in ending.message


async def test_a_deployment_that_is_not_there_is_named() -> None:
    body = json.dumps({"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}})
    async with serving([], refuse=404, refuse_body=body) as server:
        held = await hold(azure_plan(f"ws://127.0.0.1:{server.port}", "/openai/v1/realtime"))
    ending = held.record.ending
    assert (ending.stage, ending.code) == ("session", "DeploymentNotFound")
    assert "the model is the name of the deployment" in ending.message


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "no"}',
        '{"error": {"message": 5}}',
        '{"error": null}',
        "[" * 5000,
        '{"detail": "nobody here knows this path"}',
    ],
)
async def test_a_refusal_in_any_other_words_is_shown_as_it_is(body: str) -> None:
    async with serving([], refuse=404, refuse_body=body) as server:
        held = await hold(plan(server.url))
    assert (held.record.ending.stage, held.record.ending.code) == ("connect", "404")
    assert body[:200] in held.record.ending.message


@pytest.mark.quirk(36, 46)
async def test_a_rate_limit_inside_a_response_is_the_providers() -> None:
    details = {
        "type": "failed",
        "error": {"type": "invalid_request_error", "code": "inference_rate_limit_exceeded", "message": "Slow down."},
    }
    failed = done(status="failed", status_details=details, usage={"input_tokens": 0, "output_tokens": 0})
    async with serving([*setup(), *asked(), Send(failed)]) as server:
        held = await hold(plan(server.url, timeouts=QUICK))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "provider_limit", "inference_rate_limit_exceeded")
    assert ending.message == "Slow down."
    assert known(held.record.usage.input_tokens) == 0
