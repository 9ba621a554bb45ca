"""aimock's two Live sessions, replayed: calls are run from their items, and no end is awaited that never comes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs_app.realtime.dialects.base import Unknown, Unreadable
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.live.reading import read_event
from runs_app.realtime.tools import ToolOutcome
from tests.interop.transcripts import Line, lines, script, server_events
from tests.realtime.support import QUICK, Held, TableExecutor, hold, only_session, plan, tone
from tests.scripted_server import ScriptedServer, serving

READ = {
    "read_red": ToolOutcome("completed", {"sensor": "read_red", "value": 7}),
    "read_blue": ToolOutcome("completed", {"sensor": "read_blue", "value": 9}),
}


async def play(told: list[Line]) -> tuple[Held, ScriptedServer]:
    session = next(line["event"]["session"] for line in told if line["event"]["type"] == "session.start")
    async with serving(script(told)) as server:
        made = plan(
            server.url,
            audio=tone(300),
            dialect=LiveDialect(),
            protocol="live",
            real_time=True,
            chunk_ms=20,
            session=session,
            executor=TableExecutor(READ),
            timeouts=replace(QUICK, response_s=2.5, closed_s=1),
        )
        return await hold(made), server


@pytest.mark.parametrize("name", ["aimock-live-managed", "aimock-live-client"])
def test_every_event_of_aimocks_live_sessions_can_be_read(name: str) -> None:
    read = [read_event(event) for event in server_events(name)]
    assert not any(isinstance(one, Unknown | Unreadable) for one in read)


async def test_aimocks_backend_calls_twice_and_never_ends_its_response() -> None:
    """Its sound is six samples that nobody can hear: no answer, and the deadline says so."""
    held, server = await play(lines("aimock-live-managed"))
    assert only_session(server).types() == [
        "session.start",
        "response.item.create",
        "response.item.create",
        "response.create",
        "session.close",
    ]
    recorded = [
        line["event"] for line in lines("aimock-live-managed") if line["event"]["type"] == "response.item.create"
    ]
    sent = only_session(server).events("response.item.create")
    assert [event["item"]["call_id"] for event in sent] == [event["item"]["call_id"] for event in recorded]
    assert [call.output["value"] for call in held.record.tool_calls] == [7, 9]
    assert held.record.ending.kind == "response_timeout"
    assert "backend_end_not_told=1" in held.record.warnings
    assert held.record.session_seconds == 1
    assert held.record.unknown_events == {}


async def test_aimocks_work_for_a_client_is_told_and_the_session_closed() -> None:
    """What its client appended itself is left out, and this call has no backend of its own that would answer."""
    told = lines("aimock-live-client")
    until = next(n for n, line in enumerate(told) if line["event"]["type"] == "session.delegation.created")
    closing = [line for line in told if line["event"]["type"] in ("session.close", "session.closed")]
    held, _ = await play([*told[: until + 1], *closing])
    assert [(one.target, one.status) for one in held.record.delegations] == [("client", "open")]
    assert "delegation_unanswered=1" in held.record.warnings
    assert held.record.ending.kind == "response_timeout"
    assert held.record.session_seconds == 1
