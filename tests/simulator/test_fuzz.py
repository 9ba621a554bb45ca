"""Whatever a client sends, the session answers with an event or an error, and lives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs_app.simulator import beta_shapes, live_shapes, shapes
from runs_app.simulator.dialects import choose
from runs_app.simulator.ear import Ear
from runs_app.simulator.http_reply import RequestError, read_object
from runs_app.simulator.live_session import LiveSession
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.session import Session
from runs_app.simulator.voices import Voices

Json = Any
Build = Callable[[Outlet], Session | LiveSession]

WORDS = [
    *("type", "session", "response", "item", "audio", "input", "output", "format", "rate", "voice", "id", "role"),
    *("content", "text", "delta", "tools", "name", "parameters", "tool_choice", "function", "turn_detection"),
    *("threshold", "silence_duration_ms", "eagerness", "modalities", "output_modalities", "input_audio_format"),
    *("temperature", "delegation", "responses", "model", "instructions", "call_id", "item_id", "delegation_id"),
    *("content_index", "audio_end_ms", "previous_item_id", "metadata", "conversation", "max_output_tokens"),
]
VALUES = [
    *("realtime", "server_vad", "semantic_vad", "audio/pcm", "audio/pcmu", "pcm16", "g711_alaw", "audio", "text"),
    *("message", "user", "assistant", "function_call_output", "input_text", "input_audio", "function", "responses"),
    *("client", "auto", "none", "AAAA", "AAA=", "root", "", "24000"),
]
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 30_000), st.floats(0, 2), st.sampled_from(VALUES), st.text(max_size=5)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)),
    max_leaves=12,
)


PCMU = {"type": "audio/pcmu"}
FORMATS = {
    "input": {"format": PCMU, "turn_detection": {"type": "server_vad"}},
    "output": {"format": PCMU, "voice": "x"},
}
TOOL = {"type": "function", "name": "book", "parameters": {"type": "object", "properties": {"day": {"type": "string"}}}}
CHOICE = {"type": "function", "name": "book"}
MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
GA = {"type": "realtime", "output_modalities": ["text"], "audio": FORMATS, "tools": [TOOL], "tool_choice": CHOICE}
FLAT = {
    "modalities": ["text"],
    "input_audio_format": "pcm16",
    "tools": [TOOL],
    "turn_detection": {"type": "server_vad"},
}
ITEMS = [
    {"type": "conversation.item.create", "item": MESSAGE},
    {"type": "conversation.item.create", "item": {"type": "function_call", "name": "book", "arguments": "{}"}},
    {"type": "conversation.item.truncate", "item_id": "a", "content_index": 0, "audio_end_ms": 5},
    {"type": "input_audio_buffer.append", "audio": "AAAAAAAA"},
    {"type": "input_audio_buffer.commit"},
    {"type": "response.cancel"},
]
BACKEND = {"type": "responses", "responses": {"model": "x", "tools": [TOOL], "tool_choice": CHOICE}}
LIVE = {"model": "x", "input": [MESSAGE], "audio": {"format": PCMU | {"rate": 8000}}, "delegation": BACKEND}
TEMPLATES: dict[str, list[Json]] = {
    "ga": [
        {"type": "session.update", "session": GA},
        {"type": "response.create", "response": {"input": [MESSAGE]}},
        *ITEMS,
    ],
    "beta": [
        {"type": "session.update", "session": FLAT},
        {"type": "response.create", "response": {"modalities": ["audio", "text"], "tools": [TOOL]}},
        *ITEMS,
    ],
    "live": [
        {"type": "session.start", "session": LIVE},
        {"type": "session.update", "session": {"delegation": BACKEND}},
        {"type": "session.input_audio.append", "audio": "AAAAAAAA"},
        {"type": "session.commentary.append", "content": "Hi.", "delegation_id": None},
        {"type": "response.item.create", "item": {"type": "function_call_output", "call_id": "a", "output": "b"}},
        {"type": "response.create"},
    ],
}


@st.composite
def spoilt(draw: st.DrawFn, templates: list[Json]) -> Json:
    """A good event in which one place may be something else."""

    def part(node: Json) -> Json:
        if isinstance(node, dict | list) and node and draw(st.integers(0, 5)):
            keys = [*node] if isinstance(node, dict) else [*range(len(node))]
            key = draw(st.sampled_from(keys))
            return {**node, key: part(node[key])} if isinstance(node, dict) else [*node[:key], part(node[key])]
        return draw(st.one_of(st.just(node), TREES))

    return part(draw(st.sampled_from(templates)))


def frames(types: list[str], templates: list[Json]) -> st.SearchStrategy[str]:
    fields = st.dictionaries(st.sampled_from(WORDS), TREES, max_size=4)
    wild = st.builds(lambda fields, type: fields | {"type": type}, fields, st.sampled_from(types))
    return st.one_of(spoilt(templates), spoilt(templates), wild, TREES).map(json.dumps)


def realtime(outlet: Outlet, headers: dict[str, str]) -> Session:
    dialect = choose("/v1/realtime", headers, ())
    return Session(options=OPTIONS, dialect=dialect, ear=EAR, voices=VOICES, outlet=outlet)


EAR, VOICES, OPTIONS = Ear(), Voices(), Options(latency_ms=600_000)
BUILDS: dict[str, tuple[Build, list[str]]] = {
    "ga": (lambda outlet: realtime(outlet, {}), [*shapes.EVENTS]),
    "beta": (lambda outlet: realtime(outlet, {"openai-beta": "realtime=v1"}), [*shapes.EVENTS]),
    "live": (lambda outlet: LiveSession(options=OPTIONS, ear=EAR, voices=VOICES, outlet=outlet), [*live_shapes.EVENTS]),
}
# A last frame that is refused, and how: who refuses it lives.
LAST: dict[str, tuple[Json, str]] = {
    "ga": ({"type": "conversation.item.delete", "item_id": "nowhere"}, "item_delete_invalid_item_id"),
    "beta": ({"type": "conversation.item.delete", "item_id": "nowhere"}, "item_delete_invalid_item_id"),
    "live": ({"type": "response.create", "surprise": 1}, "unknown_parameter"),
}


def answers(kind: str, told: list[str]) -> list[Json]:
    """What a session says to these frames and to the last one."""
    build, _ = BUILDS[kind]
    first = [json.dumps(TEMPLATES["live"][0])] * (kind == "live")

    async def talk() -> list[Json]:
        sent: list[str] = []

        async def send(text: str) -> None:
            sent.append(text)

        async def close(code: int, reason: str) -> None:
            sent.append('{"type": "closed"}')

        async with asyncio.TaskGroup() as group:
            session = build(Outlet(group=group, send=send, close=close))
            await session.open()
            for frame in [*first, *told, json.dumps(LAST[kind][0])]:
                await session.receive(frame)
            await asyncio.sleep(0)
            session.end()
        return [json.loads(text) for text in sent]

    return asyncio.run(talk())


def codes_of(events: list[Json]) -> list[str | None]:
    return [event["error"]["code"] for event in events if event["type"] == "error"]


@pytest.mark.parametrize("kind", BUILDS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_frame_breaks_a_session(kind: str, data: st.DataObject) -> None:
    events = answers(kind, data.draw(st.lists(frames(BUILDS[kind][1], TEMPLATES[kind]), min_size=1, max_size=6)))
    assert LAST[kind][1] in codes_of(events) or {"type": "closed"} in events


@pytest.mark.parametrize("kind", BUILDS)
@pytest.mark.parametrize("frame", ["[" * 100_000, '{"type": ' + "1" * 5_000 + "}"], ids=["deep", "endless"])
def test_a_frame_that_json_itself_gives_up_on_is_refused(kind: str, frame: str) -> None:
    assert codes_of(answers(kind, [frame])) == ["invalid_json", LAST[kind][1]]


def test_a_body_that_json_itself_gives_up_on_is_a_bad_request() -> None:
    with pytest.raises(RequestError, match="the body is not JSON"):
        read_object(b"[" * 100_000)


@pytest.mark.parametrize("kind", ["ga", "beta"])
@pytest.mark.parametrize("type", [[], {}, 5, None], ids=str)
def test_a_part_of_history_of_an_odd_type_is_refused(kind: str, type: Json) -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": type, "text": "Hi"}]}
    told = [
        {"type": "conversation.item.create", "item": item},
        {"type": "response.create", "response": {"input": [item]}},
    ]
    assert codes_of(answers(kind, [json.dumps(event) for event in told])) == ["invalid_value"] * 2 + [LAST[kind][1]]


def test_every_beta_key_is_one_that_the_fuzzer_may_hit() -> None:
    assert {"modalities", "input_audio_format", "temperature"} <= set(beta_shapes.BetaSession.model_fields) & set(WORDS)
