"""The beta dialect: sent shapes letter by letter, and conversations with servers that speak it."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.realtime.dialects.base import Fault
from runs_app.realtime.dialects.realtime import BetaDialect, RealtimeDialect
from runs_app.realtime.formats import Formats, format_of
from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.tools import ToolOutcome
from tests.realtime.support import TableExecutor, asked, chunks, hold, known, only_session, plan, tone, tool
from tests.scripted_events import (
    audio_delta,
    call_done,
    call_item,
    created,
    done,
    error,
    session_created,
    text_delta,
    transcript_delta,
)
from tests.scripted_server import Close, Expect, Send, Step, serving

BETA, GA = BetaDialect(), RealtimeDialect()

BETA_NAMES = {
    "response.output_text.delta": "response.text.delta",
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
}
SESSION = {
    "id": "sess_1",
    "object": "realtime.session",
    "modalities": ["audio", "text"],
    "voice": "alloy",
    "input_audio_format": "pcm16",
    "output_audio_format": "pcm16",
    "turn_detection": None,
}


def beta(event: dict[str, Any]) -> Send:
    return Send({**event, "type": BETA_NAMES.get(event["type"], event["type"])})


def beta_setup(**session: Any) -> list[Step]:
    told = {**SESSION, **session}
    return [
        Send({"type": "session.created", "session": SESSION}),
        Send({"type": "conversation.created", "conversation": {"id": "conv_1"}}),
        Expect("session.update"),
        Send({"type": "session.updated", "session": told}),
    ]


def test_the_default_sessions_are_flat_and_without_a_type() -> None:
    assert BETA.default_session("text") == {"modalities": ["text"]}
    assert BETA.default_session("audio") == {
        "modalities": ["audio", "text"],
        "input_audio_format": "pcm16",
        "output_audio_format": "pcm16",
        "turn_detection": None,
    }


def test_fields_of_a_configuration_become_flat_keys() -> None:
    detection = {"type": "server_vad", "silence_duration_ms": 300}
    tools = [tool("look_up", "topic")]
    assert BETA.configured_session(
        instructions="Be brief.",
        voice="sage",
        tools=tools,
        formats=Formats(format_of("g711_ulaw"), format_of("g711_alaw")),
        turn_detection=detection,
    ) == {
        "instructions": "Be brief.",
        "voice": "sage",
        "input_audio_format": "g711_ulaw",
        "output_audio_format": "g711_alaw",
        "turn_detection": {
            "type": "server_vad",
            "threshold": 0.5,
            "prefix_padding_ms": 300,
            "silence_duration_ms": 300,
            "create_response": True,
            "interrupt_response": True,
        },
        "tools": tools,
    }
    assert BETA.configured_session(instructions="", voice=None, tools=[]) == {}


@pytest.mark.quirk(34)
@pytest.mark.parametrize("dialect", [GA, BETA], ids=["ga", "beta"])
def test_turn_detection_is_sent_whole_since_servers_take_different_things_for_granted(dialect: Any) -> None:
    def sent(detection: dict[str, Any]) -> Any:
        session = dialect.configured_session(instructions="", voice=None, tools=[], turn_detection=detection)
        return dialect.turn_detection(session)

    assert sent({"type": "server_vad"}) == {
        "type": "server_vad",
        "threshold": 0.5,
        "prefix_padding_ms": 300,
        "silence_duration_ms": 500,
        "create_response": True,
        "interrupt_response": True,
    }
    semantic = sent({"type": "semantic_vad", "eagerness": "high"})
    assert semantic == {
        "type": "semantic_vad",
        "eagerness": "high",
        "create_response": True,
        "interrupt_response": True,
    }


def test_what_the_agent_said_before_is_text_and_what_the_caller_said_is_input_text() -> None:
    kinds = {
        (dialect.name, role): dialect.message(role, "Hi")["item"]["content"][0]["type"]
        for dialect in (GA, BETA)
        for role in ("user", "assistant")
    }
    assert kinds == {
        ("ga", "user"): "input_text",
        ("ga", "assistant"): "output_text",
        ("beta", "user"): "input_text",
        ("beta", "assistant"): "text",
    }


async def test_a_text_turn_with_history_and_a_tool_is_held_in_beta() -> None:
    answers = {"look_up": ToolOutcome("completed", output={"open": True})}
    made = plan(
        "",
        dialect=BETA,
        headers=BETA.headers,
        session={**BETA.default_session("text"), "tools": [tool("look_up")]},
        history=(("user", "Hi"), ("assistant", "Hello")),
        executor=TableExecutor(answers),
    )
    item = call_item("look_up", "{}")
    mirror = {"type": "conversation.item.created", "item": {**item, "arguments": "", "status": "in_progress"}}
    call = [created(), mirror, call_done(item), done(output=[item])]
    answer = [created("resp_2"), text_delta("We are open.", "resp_2"), done("resp_2")]
    script = [*beta_setup(), *asked(), *map(beta, call), *asked(), *map(beta, answer)]
    async with serving(script) as server:
        held = await hold(made.__class__(**{**vars(made), "url": server.url}))
    session = only_session(server)
    assert session.headers["OpenAI-Beta"] == "realtime=v1"
    (update,) = session.events("session.update")
    assert update["session"] == {"modalities": ["text"], "tools": [tool("look_up")]}
    assert held.record.turns[0].agent_text == "We are open."
    assert [(call.name, call.status) for call in held.record.tool_calls] == [("look_up", "completed")]
    assert (held.record.dialect, held.record.warnings) == ("beta", ())


@pytest.mark.quirk(52)
async def test_a_spoken_turn_is_held_in_beta_and_text_of_created_items_is_not_read() -> None:
    said = tone(300)
    empty = {"id": "item_1", "type": "message", "role": "assistant", "content": [{"type": "audio", "transcript": "x"}]}
    reply = [
        created(),
        {"type": "conversation.item.created", "item": empty},
        transcript_delta("Sure."),
        *(audio_delta(chunk) for chunk in chunks(said)),
        done(),
    ]
    async with serving([*beta_setup(), *asked(), *map(beta, reply)]) as server:
        held = await hold(plan(server.url, audio=tone(200), dialect=BETA, session=BETA.default_session("audio")))
    (turn,) = held.record.turns
    assert turn.agent_text == "Sure."
    assert known(held.conversation.audio)[turn.agent[0].start : turn.agent[0].end, 1].tolist() == said.tolist()
    assert held.record.warnings == ()


@pytest.mark.behaviour(8)
@pytest.mark.quirk(45)
async def test_a_gateway_that_translates_half_of_the_names_is_understood() -> None:
    """session.created is GA, the deltas are beta's, the end is GA again."""
    setup: list[Step] = [Send(session_created()), Expect("session.update")]
    confirmed = Send({"type": "session.updated", "session": {"audio": {}, "output_modalities": ["audio"]}})
    reply = [
        created(),
        audio_delta(to_bytes(tone(50))),
        transcript_delta("Ye"),
        {"type": "response.output_audio_transcript.delta", "response_id": "resp_1", "item_id": "item_1", "delta": "s."},
        done(),
    ]
    sent = [beta(reply[0]), beta(reply[1]), beta(reply[2]), Send(reply[3]), Send(reply[4])]
    async with serving([*setup, confirmed, *asked(), *sent]) as server:
        held = await hold(plan(server.url, audio=tone(100)))
    assert held.record.turns[0].agent_text == "Yes."
    assert [span.end - span.start for span in held.record.turns[0].agent] == [50 * 24]


@pytest.mark.parametrize(
    ("dialect", "code", "param", "shape", "told"),
    [
        (GA, "unknown_parameter", "session.audio", None, "beta"),
        (GA, "unknown_parameter", "session.type", None, "beta"),
        (GA, "unknown_parameter", "session.output_modalities", None, "beta"),
        (GA, "unknown_parameter", "session.audio.input.noise", None, None),
        (GA, "unknown_parameter", "session.audio.input.noise", {"audio": {}}, None),
        (GA, "invalid_value", "session.voice", {"modalities": ["text"]}, "beta"),
        (GA, "missing_required_parameter", "session.model", None, None),
        (BETA, "unknown_parameter", "session.modalities", None, "ga"),
        (BETA, "unknown_parameter", "session.turn_detection", None, "ga"),
        (BETA, "missing_required_parameter", "session.type", None, "ga"),
        (BETA, "unknown_parameter", "session.voice", {"voice": "alloy", "modalities": []}, "ga"),
        (BETA, "invalid_value", "session.voice", {"modalities": []}, None),
    ],
)
def test_a_refusal_or_a_session_shows_which_dialect_a_server_speaks(
    dialect: RealtimeDialect, code: str, param: str, shape: dict[str, Any] | None, told: str | None
) -> None:
    assert dialect.mismatch(Fault(code, None, "no", param, None), shape) == told


async def test_a_ga_server_refuses_beta_with_the_setting_to_change() -> None:
    refusal = error("missing_required_parameter", "Missing required parameter: 'session.type'.", param="session.type")
    async with serving([Send(session_created()), Expect("session.update"), Send(refusal)]) as server:
        held = await hold(plan(server.url, dialect=BETA, session=BETA.default_session("text")))
    assert held.record.ending.stage == "session"
    assert "set dialect: ga" in held.record.ending.message
    (warning,) = [event.payload for event in held.of("warning") if event.payload["name"] == "dialect_mismatch"]
    assert warning["detail"].endswith("this configuration speaks beta: set dialect: ga")


@pytest.mark.parametrize(("opened", "named"), [(SESSION, True), ({"id": "sess_1"}, False)])
async def test_a_server_that_hangs_up_on_the_wrong_dialect_names_the_setting(opened: Any, named: bool) -> None:
    """Without an error, only the shape of its session tells why."""
    script = [Send({"type": "session.created", "session": opened}), Expect("session.update"), Close(1008, "bad event")]
    async with serving(script) as server:
        held = await hold(plan(server.url))
    assert held.record.turns == ()
    assert ("set dialect: beta" in held.record.ending.message) == named


@pytest.mark.behaviour(36)
async def test_beta_at_a_server_that_switched_it_off_names_the_setting() -> None:
    close = Close(4000, "invalid_request_error.beta_api_shape_disabled")
    async with serving([Send(error("beta_api_shape_disabled", "The beta is over.")), close]) as server:
        held = await hold(plan(server.url, dialect=BETA, session=BETA.default_session("text")))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "authorisation", "beta_api_shape_disabled")
    assert "set dialect: ga" in ending.message
