"""GPT Live with our own backend: what it is asked, what is appended, and what comes of trouble."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from openai.types.live import CommentaryAppendEvent, ThinkingAppendEvent

from runs_app.realtime.delegation.assistant import Delegate
from runs_app.realtime.live.dialect import LiveDialect
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from tests.backend_server import answers, calls, failed
from tests.live_server import Cue, caption, delegated, live, says
from tests.realtime.fake_clock import WarpClock
from tests.realtime.support import QUICK, Held, TableExecutor, hold, only_session, tool
from tests.realtime.test_live import LIMIT_S, basis, ending, live_plan, words
from tests.scripted_server import ScriptedServer, Session, serving
from tests.speech_server import Answer, SpeechServer, error_answer, speech_server

BOOK = ("create_reservation", '{"guest_name": "Maya"}', "call_1")
BOOKED = "Your table is booked."
TOOLS = (tool("create_reservation", "guest_name"),)
HEARD = [Cue(450, [caption("A table ", 0, 200, side="input"), caption("for Maya.", 200, 400, side="input")])]
HANDED = Cue(900, [delegated(target="client")])
ONE_MOMENT = says("One moment.", at_ms=960, ms=500)


def delegate(backend: SpeechServer, **changes: Any) -> Delegate:
    known: dict[str, Any] = {"model": "m", "instructions": "Use the tools.", "tools": TOOLS, "api_key": "sk-1"}
    return Delegate(**{"endpoint": backend.url, **known, **changes})


@contextmanager
def backend(*given: Answer) -> Any:
    with speech_server(given) as server:
        yield server


async def call(
    server: SpeechServer, cues: Iterable[Cue], *turns: PlannedTurn, changes: dict[str, Any] | None = None, **more: Any
) -> tuple[Held, Session]:
    async with serving(live(cues)) as voice:
        held = await hold(
            planned(
                voice, turns or (PlannedTurn("A table for Maya", words()),), delegate(server, **(changes or {})), more
            ),
            clock=WarpClock(),
            within_s=60,
        )
    return held, only_session(voice)


def planned(voice: ScriptedServer, turns: Sequence[PlannedTurn], own: Delegate, more: dict[str, Any]) -> Any:
    session = {"model": "gpt-live-1", **LiveDialect().default_session("audio"), "delegation": {"type": "client"}}
    # the backend takes real time, and the clock of these tests runs far ahead of it
    patient = {"timeouts": replace(QUICK, response_s=120, closed_s=0.5)}
    return live_plan(voice, turns, session=session, delegate=own, **patient | more)


def booking() -> list[Cue]:
    return [*HEARD, HANDED, *ONE_MOMENT, *says(BOOKED, at_ms=1200, after_return=1)]


async def test_a_task_is_done_with_the_tools_and_its_answer_appended_as_commentary() -> None:
    with backend(calls(BOOK, text="Let me see."), answers(BOOKED)) as server:
        held, session = await call(server, booking(), changes={"reasoning": "low", "verbosity": "low"})
    assert ending(held) == ("completed", "")
    assert basis(held) == ["returned_turn"]
    (told,) = session.events("session.commentary.append")
    CommentaryAppendEvent.model_validate(told, strict=True)
    assert (told["content"], told["delegation_id"]) == (BOOKED, "dlg_1")
    (made,) = held.record.tool_calls
    assert (made.name, made.arguments, made.status, made.call_id) == (
        BOOK[0],
        {"guest_name": "Maya"},
        "completed",
        "call_1",
    )
    assert held.record.final_state == {"ran": [["create_reservation", {"guest_name": "Maya"}]]}
    (work,) = held.record.delegations
    assert (work.target, work.status, work.rounds, work.texts) == ("client", "completed", 1, ("Let me see.", BOOKED))
    assert (held.record.backend_usage.total_tokens, held.record.usage.total_tokens) == (50, None)
    assert held.record.turns[0].agent_text == f"One moment. {BOOKED}"
    first, second = (one["json"] for one in server.asked)
    assert server.asked[0]["path"] == "/v1/responses"
    assert server.asked[0]["headers"]["authorization"] == "Bearer sk-1"
    assert first["input"] == [{"type": "message", "role": "user", "content": "A table for Maya."}]
    assert (first["store"], first["reasoning"], first["text"]) == (False, {"effort": "low"}, {"verbosity": "low"})
    assert [(one["name"], one["strict"]) for one in first["tools"]] == [("create_reservation", False)]
    assert second["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "call_1", "name": BOOK[0], "arguments": BOOK[1]},
        {"type": "function_call_output", "call_id": "call_1", "output": '{"ok": true}'},
    ]


async def test_what_was_said_before_the_call_and_since_the_last_task_is_handed_on() -> None:
    history = (("user", "Hello."), ("assistant", "What can I do?"))
    cues = [
        *booking(),
        Cue(5400, [caption("And one for Ben.", 5000, 5300, side="input")]),
        Cue(5900, [delegated("dlg_2", target="client")]),
        *says("Ben has one too.", at_ms=1200, after_return=2),
    ]
    turns = (PlannedTurn("A table for Maya", words()), PlannedTurn("And one for Ben", words()))
    with backend(answers(BOOKED), answers("Ben has one too.", "resp_3")) as server:
        held, _ = await call(server, cues, *turns, changes={"history": history})
    assert ending(held)[0] == "completed"
    said = [(item["role"], item["content"]) for item in server.asked[1]["json"]["input"]]
    assert said == [
        *history,
        ("user", "A table for Maya."),
        ("assistant", BOOKED),
        ("assistant", f"One moment. {BOOKED}"),
        ("user", "And one for Ben."),
    ]
    assert [work.turn for work in held.record.delegations] == [0, 1]


async def test_two_tasks_at_once_are_both_done_and_the_last_content_must_be_told() -> None:
    hold_back = threading.Event()
    slow = Answer(answers("The first.").body, 200, {"Content-Type": "application/json"}, hold=hold_back)
    cues = [
        *HEARD,
        HANDED,
        Cue(1000, [delegated("dlg_2", target="client")]),
        *says("The second.", at_ms=1200, after_return=2),
    ]
    with backend(slow, answers("The second.", "resp_3")) as server:
        threading.Timer(0.3, hold_back.set).start()
        held, session = await call(server, cues)
    told = {one["delegation_id"]: one["content"] for one in session.events("session.commentary.append")}
    assert told.keys() == {"dlg_1", "dlg_2"}
    assert {work.id: work.status for work in held.record.delegations} == {"dlg_1": "completed", "dlg_2": "completed"}


async def test_a_long_answer_is_appended_in_pieces_that_may_be() -> None:
    text = "Ein Tisch für vier Personen ist reserviert. " * 30
    with backend(answers(text)) as server:
        held, session = await call(server, booking())
    told = session.events("session.commentary.append")
    assert len(told) > 2
    assert all(len(one["content"].encode()) <= 400 for one in told)
    assert " ".join(one["content"] for one in told) == text.strip()
    assert ending(held)[0] == "completed"


async def test_a_backend_with_nothing_to_say_lets_the_voice_know_silently() -> None:
    with backend(answers("")) as server:
        held, session = await call(server, booking())
    assert session.events("session.commentary.append") == []
    (told,) = session.events("session.thinking.append")
    ThinkingAppendEvent.model_validate(told, strict=True)
    assert told["delegation_id"] == "dlg_1"
    assert ending(held)[0] == "completed"


async def test_a_tool_that_fails_is_told_to_the_backend() -> None:
    executor = TableExecutor({"create_reservation": ToolOutcome("failed", {"ok": False}, error="fully booked")})
    with backend(calls(BOOK), answers("Sorry.")) as server:
        held, _ = await call(server, booking(), executor=executor)
    assert server.asked[1]["json"]["input"][-1]["output"] == '{"ok": false}'
    assert (held.record.tool_calls[0].status, held.record.tool_calls[0].error) == ("failed", "fully booked")
    assert ending(held)[0] == "completed"


async def test_the_done_tool_ends_the_call() -> None:
    with backend(calls(("end_session", "{}", "call_9"), text="Goodbye.")) as server:
        held, session = await call(server, [*HEARD, HANDED, *ONE_MOMENT])
    assert (held.record.ending.kind, held.record.ending.code) == ("completed", "done_tool")
    assert session.events("session.commentary.append") == []
    assert [made.status for made in held.record.tool_calls] == ["recorded"]


async def test_a_backend_that_calls_for_ever_is_stopped_after_the_last_round() -> None:
    with backend(calls(BOOK), calls((*BOOK[:2], "call_2"), response="resp_2")) as server:
        held, _ = await call(server, booking(), tool_rounds=1)
    assert [made.status for made in held.record.tool_calls] == ["completed", "recorded"]
    assert held.record.turns[0].status_reason == "tool_rounds_limit"
    assert "tool_rounds_limit=1" in held.record.warnings


@pytest.mark.parametrize(
    ("answer", "stage", "code", "words_of_it"),
    [
        (
            error_answer(401, "Incorrect API key", code="invalid_api_key"),
            "authorisation",
            "invalid_api_key",
            "HTTP 401",
        ),
        (error_answer(429, "Slow down"), "provider_limit", "invalid_request_error", "Slow down"),
        (error_answer(400, "Unknown model", code="model_missing"), "delegation", "model_missing", "Unknown model"),
        (failed("server_error", "we broke"), "delegation", "server_error", "we broke"),
        (failed("insufficient_quota", "no money"), "provider_limit", "insufficient_quota", "no money"),
        (Answer(b"<html>", 200, {"Content-Type": "text/html"}), "delegation", "not_json", "not JSON"),
        (Answer(b"{}", 200, {"Content-Type": "application/json"}), "delegation", "no_response", "not a response"),
        (error_answer(503, "down"), "delegation", "invalid_request_error", "HTTP 503"),
    ],
)
async def test_a_backend_that_cannot_be_asked_says_nothing_about_the_agent(
    answer: Answer, stage: str, code: str, words_of_it: str
) -> None:
    with backend(answer) as server:
        held, _ = await call(server, [*HEARD, HANDED, *ONE_MOMENT])
    assert (held.record.ending.kind, held.record.ending.stage, held.record.ending.code) == ("invalid", stage, code)
    assert words_of_it in held.record.ending.message
    assert held.record.turns[0].status == "failed"


async def test_trouble_that_passes_is_tried_again() -> None:
    with backend(error_answer(503, "down"), answers(BOOKED)) as server:
        held, _ = await call(server, [*HEARD, HANDED, *ONE_MOMENT, *says(BOOKED, at_ms=1200, after_return=1)])
    assert ending(held)[0] == "completed"
    assert len(server.asked) == 2


async def test_nobody_listening_is_told_as_that() -> None:
    with backend(answers(BOOKED)) as server:
        pass
    held, _ = await call(server, [*HEARD, HANDED, *ONE_MOMENT])
    assert (held.record.ending.stage, held.record.ending.code) == ("delegation", "not_reached")


async def test_a_backend_that_is_too_slow_is_the_agents_failure() -> None:
    never = threading.Event()
    try:
        with backend(Answer(answers(BOOKED).body, 200, {}, hold=never)) as server:
            soon = replace(QUICK, response_s=LIMIT_S, closed_s=0.5)
            held, _ = await call(server, [*HEARD, HANDED, *ONE_MOMENT], timeouts=soon)
            never.set()
    finally:
        never.set()
    assert held.record.ending.kind == "response_timeout"
    assert "the delegated work was not complete" in held.record.ending.message
    assert [work.status for work in held.record.delegations] == ["open"]


async def test_more_tasks_than_anybody_hands_on_end_the_call() -> None:
    never = threading.Event()
    with backend(Answer(answers(BOOKED).body, 200, {}, hold=never)) as server:
        held, _ = await call(
            server, [*HEARD, *(Cue(900 + n, [delegated(f"dlg_{n}", target="client")]) for n in range(5))]
        )
        never.set()
    assert (held.record.ending.stage, held.record.ending.code) == ("delegation", "too_many_delegations")


async def test_words_that_the_server_writes_down_late_are_waited_for() -> None:
    late = Cue(1500, [caption("A table for Maya.", 0, 400, side="input")])
    with backend(answers(BOOKED)) as server:
        held, _ = await call(server, [HANDED, late, *ONE_MOMENT, *says(BOOKED, at_ms=1200, after_return=1)])
    assert server.asked[0]["json"]["input"][0]["content"] == "A table for Maya."
    assert ending(held)[0] == "completed"
    with backend(answers("What do you mean?")) as server:
        held, _ = await call(server, [HANDED, *says("What do you mean?", at_ms=1200, after_return=1)])
    assert server.asked[0]["json"]["input"][0]["content"] == "(The caller's words were not understood.)"


async def test_a_caller_who_talks_over_the_agent_stops_no_task() -> None:
    held_back = threading.Event()
    slow = Answer(answers(BOOKED).body, 200, {"Content-Type": "application/json"}, hold=held_back)
    cues = [
        *HEARD,
        HANDED,
        *says("One moment, please, I look.", at_ms=960, ms=900),
        *says(BOOKED, at_ms=1200, after_return=1),
    ]
    turns = (
        PlannedTurn("A table for Maya", words()),
        PlannedTurn("Quickly, please", words(), interrupt_after_ms=200),
    )
    with backend(slow) as server:
        threading.Timer(0.2, held_back.set).start()
        held, session = await call(server, cues, *turns)
    assert held.record.turns[0].interrupted
    assert [work.status for work in held.record.delegations] == ["completed"]
    assert [one["content"] for one in session.events("session.commentary.append")] == [BOOKED]
