"""Servers that others wrote, replayed from their transcripts: our engine survives what they do differently."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.realtime.dialects.base import Unknown, Unreadable
from runs_app.realtime.dialects.realtime_reading import read_event
from runs_app.realtime.tools import ToolOutcome
from tests.interop.transcripts import FOLDER, lines, script, server_events
from tests.realtime.support import Held, TableExecutor, hold, plan, tone, tool
from tests.scripted_server import serving

BOOKED = {"guest_name": "Maya", "date": "2026-08-06"}
REALTIME = sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.jsonl"))


async def held(name: str, *more: str, spoken: bool = False, tools: bool = False) -> Held:
    told = [line for one in (name, *more) for line in lines(one)]
    return await play(told, spoken=spoken, tools=tools)


async def play(told: list[Any], *, spoken: bool, tools: bool) -> Held:
    async with serving(script(told)) as server:
        made = plan(
            server.url,
            audio=tone(500) if spoken else None,
            text="Book a table for Maya on August 6 at 7 p.m. for two.",
            executor=TableExecutor({"create_reservation": ToolOutcome("completed", {"ok": True})} if tools else {}),
        )
        if tools:
            made.session["tools"] = [tool("create_reservation", "guest_name", "date")]
        return await hold(made)


@pytest.mark.parametrize("name", REALTIME)
def test_every_event_that_another_server_sent_can_be_read(name: str) -> None:
    read = [(event["type"], read_event(event)) for event in server_events(name)]
    assert [type for type, one in read if isinstance(one, Unreadable)] == []
    unknown = {type for type, one in read if isinstance(one, Unknown)}
    assert unknown <= {"response.cancelled"}  # aimock's own


async def test_speech_to_speech_answers_aloud_though_asked_for_text() -> None:
    got = await held("hf-s2s/text")
    assert got.record.ending.kind == "completed"
    assert [turn.agent_text for turn in got.record.turns] == ["Hi there! How can I help you today?"]
    assert got.record.unknown_events == {}


async def test_speech_to_speech_calls_a_function_without_pieces_of_arguments() -> None:
    got = await held("hf-s2s/tool", tools=True)
    assert got.record.ending.kind == "completed"
    assert [(call.name, call.arguments, call.status) for call in got.record.tool_calls] == [
        ("create_reservation", BOOKED, "completed")
    ]
    assert got.record.turns[0].agent_text == "Done, your table is booked."


async def test_speech_to_speech_never_confirms_a_commit_that_came_at_once() -> None:
    got = await held("hf-s2s/audio", spoken=True)
    assert got.record.ending.kind == "completed"
    assert got.record.turns[0].agent_text == "Catch-all chat answer."


async def test_speech_to_speech_detects_turns_though_told_not_to() -> None:
    """It answers by itself; our request for a response is refused while its call waits for the output."""
    vad = lines("hf-s2s/vad")
    answered = next(n for n, line in enumerate(vad) if line["from"] == "client" and n > 3)
    got = await play([*lines("hf-s2s/paced"), *vad[answered:]], spoken=True, tools=True)
    assert got.record.ending.kind == "completed"
    assert [call.arguments for call in got.record.tool_calls] == [BOOKED]
    turn = got.record.turns[0]
    assert turn.agent_text == "Done, your table is booked."
    assert turn.heard_text == "Book a table for Maya on August 6 at 7 p.m. for two."
    assert got.record.warnings == ("error:function_call_output_pending=1",)


@pytest.mark.parametrize("name", ["aimock/text", "aimock/tool"])
async def test_aimock_is_understood(name: str) -> None:
    got = await held(name, tools=name == "aimock/tool")
    assert got.record.ending.kind == "completed"
    assert (got.record.usage.total_tokens, got.record.dialect) == (0, "ga")
    assert got.record.turns[0].agent_text in ("Hi there! How can I help you today?", "Done, your table is booked.")
    assert [call.arguments for call in got.record.tool_calls] == ([BOOKED] if name == "aimock/tool" else [])


async def test_a_server_that_took_the_beta_shape_away_is_named() -> None:
    got = await held("aimock-beta/text")
    assert (got.record.ending.kind, got.record.ending.stage) == ("invalid", "authorisation")
    assert "beta" in got.record.ending.message
