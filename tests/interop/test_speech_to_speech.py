"""Our engine against Hugging Face's speech-to-speech, for real: `make interop-hf`.

Its ears and its mouth are our simulator's, its wits are aimock's; turn detection, queues and protocol are its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from runs_app.realtime.pcm import Int16
from runs_app.realtime.plan import Plan, Timeouts
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.tools import ToolOutcome
from runs_app.simulator.ear import Ear
from runs_app.simulator.voices import AGENT, synthesise
from tests.interop.servers import (
    GREETING,
    aimock_running,
    is_idle,
    need_speech_to_speech,
    simulated,
    speech_to_speech_running,
)
from tests.interop.software import SENTENCE, need_software
from tests.realtime.support import Held, TableExecutor, hold, known, plan, tool
from tests.services import eventually

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.interop, pytest.mark.timeout(300)]

GREETED = "Hi there! How can I help you today?"
BOOKED = "Done, your table is booked."
DETECTION = {"type": "server_vad", "create_response": True, "interrupt_response": True}
FIRST_ANSWER_S = 60  # it goes on importing until it has answered once


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = need_speech_to_speech()
    need_software()
    folder: Path = tmp_path_factory.mktemp("speech-to-speech")
    with simulated(folder) as desk, aimock_running(folder) as wits:
        made = speech_to_speech_running(program, folder, speech=f"{desk}/v1", words=f"http://{wits}/v1")
        with made as address:
            yield address


@pytest.fixture
def server(started: str) -> str:
    """With a session free."""
    eventually(lambda: is_idle(started), what="speech-to-speech has room for a session")
    return f"ws://{started}/v1/realtime?model=any"


class Kept(NamedTuple):
    """A conversation and what became of its function calls."""

    held: Held
    ran: list[object]


async def call(url: str, *said: str, spoken: bool) -> Kept:
    executor = TableExecutor({"create_reservation": ToolOutcome("completed", {"ok": True})})
    turns = tuple(PlannedTurn(words, synthesise(words) if spoken else None) for words in said)
    made: Plan = plan(
        url,
        audio=turns[0].audio,
        turns=turns,
        executor=executor,
        real_time=spoken,
        timeouts=Timeouts(turn_s=FIRST_ANSWER_S, settle_s=1),
    )
    made.session["tools"] = [tool("create_reservation", "guest_name", "date")]
    if spoken:
        made.session["audio"]["input"]["turn_detection"] = DETECTION
    held = await hold(made, within_s=2 * FIRST_ANSWER_S)
    assert held.record.ending.kind == "completed", held.record
    assert held.record.unknown_events == {}
    return Kept(held, executor.state["ran"])


def heard(held: Held, turn: int = 0) -> str | None:
    """Which of the agent's sentences is the sound of its channel in a turn of the recording."""
    ear = Ear()
    for words in (GREETED, BOOKED):
        ear.remember(words, synthesise(words, AGENT))
    spans = held.record.turns[turn].agent
    sound: Int16 = held.right[spans[0].start : spans[-1].end]
    return ear.hear(sound).text


async def test_a_written_turn_is_answered_aloud(server: str) -> None:
    """It was asked for text, and speaks all the same: a warning, and its transcript is the answer."""
    held, ran = await call(server, GREETING, spoken=False)
    (turn,) = held.record.turns
    assert (turn.agent_text, turn.status, ran) == (GREETED, "completed", [])
    assert [warning.split("=")[0] for warning in held.record.warnings] == ["audio_in_text_mode"]


async def test_a_written_turn_calls_a_function(server: str) -> None:
    held, ran = await call(server, SENTENCE, spoken=False)
    assert ran == [["create_reservation", {"guest_name": "Maya", "date": "2026-08-06"}]]
    assert held.record.turns[0].agent_text == BOOKED


async def test_a_spoken_turn_is_heard_and_answered_when_the_server_hears_its_end(server: str) -> None:
    held, ran = await call(server, GREETING, spoken=True)
    (turn,) = held.record.turns
    assert (turn.heard_text, turn.agent_text, turn.splits, ran) == (GREETING, GREETED, 0, [])
    assert turn.sent_ms < known(turn.endpoint_ms) < known(turn.first_audio_ms)
    assert "input_audio_buffer.commit" not in held.types()
    assert heard(held) == GREETED


async def test_a_spoken_turn_calls_a_function_and_the_agent_says_so(server: str) -> None:
    held, ran = await call(server, SENTENCE, spoken=True)
    assert ran == [["create_reservation", {"guest_name": "Maya", "date": "2026-08-06"}]]
    assert [(made.name, made.status) for made in held.record.tool_calls] == [("create_reservation", "completed")]
    (turn,) = held.record.turns
    assert (turn.heard_text, turn.agent_text, turn.rounds) == (SENTENCE, BOOKED, 1)
    assert heard(held) == BOOKED


async def test_two_spoken_turns_follow_each_other(server: str) -> None:
    held, ran = await call(server, GREETING, SENTENCE, spoken=True)
    assert [turn.heard_text for turn in held.record.turns] == [GREETING, SENTENCE]
    assert [turn.agent_text for turn in held.record.turns] == [GREETED, BOOKED]
    assert len(ran) == 1
    assert heard(held, turn=1) == BOOKED
