"""Our engine against a Realtime server that others wrote: aimock, which writes GA and answers by fixtures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from tests.interop.servers import aimock_running
from tests.interop.software import need_software
from tests.realtime.support import TableExecutor, hold, plan, tone, tool

pytestmark = [pytest.mark.slow, pytest.mark.interop]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need_software()
    with aimock_running(tmp_path_factory.mktemp("aimock")) as address:
        yield f"ws://{address}/v1/realtime?model=gpt-realtime"


async def test_a_written_turn_is_answered(aimock: str) -> None:
    got = await hold(plan(aimock, text="Hello"))
    assert got.record.ending.kind == "completed"
    assert got.record.turns[0].agent_text == "Hi there! How can I help you today?"
    assert got.record.session_acknowledged


async def test_a_function_is_called_and_its_result_heard(aimock: str) -> None:
    executor = TableExecutor({"create_reservation": ToolOutcome("completed", {"ok": True})})
    made = plan(aimock, text="Book a table for Maya on August 6", executor=executor)
    made.session["tools"] = [tool("create_reservation", "guest_name", "date")]
    got = await hold(made)
    assert got.record.ending.kind == "completed"
    assert [(call.name, call.arguments, call.status) for call in got.record.tool_calls] == [
        ("create_reservation", {"guest_name": "Maya", "date": "2026-08-06"}, "completed")
    ]
    assert got.record.turns[0].agent_text == "Done, your table is booked."


async def test_two_written_turns_follow_each_other(aimock: str) -> None:
    got = await hold(plan(aimock, turns=(PlannedTurn("Hello", None), PlannedTurn("And what else?", None))))
    assert [turn.agent_text for turn in got.record.turns] == [
        "Hi there! How can I help you today?",
        "Something else, perhaps?",
    ]


async def test_a_spoken_turn_is_answered_in_writing_by_a_server_without_a_voice(aimock: str) -> None:
    got = await hold(plan(aimock, audio=tone(400)))
    assert got.record.ending.kind == "completed"
    turn = got.record.turns[0]
    assert (turn.agent_text, turn.agent, turn.first_audio_ms) == ("Something else, perhaps?", (), None)


async def test_the_beta_dialect_is_refused_by_name(aimock: str) -> None:
    got = await hold(plan(aimock, headers={"OpenAI-Beta": "realtime=v1"}))
    assert (got.record.ending.kind, got.record.ending.stage) == ("invalid", "authorisation")
    assert got.record.ending.code == "beta_api_shape_disabled"
    assert "dialect" in got.record.ending.message
