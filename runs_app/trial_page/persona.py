"""The caller that a model played: his part, how far he came with it, what he did wrong, and why he hung up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.persona.told import EndedBy
from runs_app.realtime.record import Record
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.simulation import played

ENDINGS: dict[EndedBy, str] = {
    "caller": "the caller hung up",
    "stop_when": "the caller hung up, because what the scenario waits for had come true",
    "max_turns": "the caller had said as many turns as the scenario allows",
    "done_tool": "the agent ended the call",
    "patience": "the caller lost patience: the replies brought nothing new",
    "": "the conversation broke off before the caller hung up",
}


@dataclass(frozen=True)
class StepRow:
    id: str
    commitment: str
    action: str
    said_in: int | None  # the caller's turn, from 1
    required: bool


@dataclass(frozen=True)
class ThoughtRow:
    """What it took to find one turn's words and voice, and how long the line was silent for it."""

    turn: int  # from 1
    words_ms: float
    speech_ms: float
    silence_ms: float


@dataclass(frozen=True)
class PersonaCard:
    model: str
    goal: str
    style: str
    facts: tuple[tuple[str, str], ...]
    steps: tuple[StepRow, ...]
    ended: str
    why: str
    mistakes: tuple[Mapping[str, Any], ...]
    thoughts: tuple[ThoughtRow, ...]


def persona_card(scenario: Scenario, record: Record, checks: Iterable[Mapping[str, Any]]) -> PersonaCard | None:
    """None where a script led the call."""
    who, told = played(scenario), record.persona
    if who is None or told is None:
        return None
    validity = next((check for check in checks if check["check_id"] == "caller_validity"), None)
    mistakes = (validity["evidence"] or {}).get("mistakes", ()) if validity else ()
    said_in = {step: turn.index + 1 for turn in record.turns if turn.thought for step in turn.thought.steps}
    persona = who.persona
    return PersonaCard(
        model=told.model,
        goal=persona.goal,
        style=persona.style or "",
        facts=tuple((name, _plain(value)) for name, value in persona.facts.items()),
        steps=tuple(
            StepRow(step.id, step.commitment, step.action, said_in.get(step.id), step.required)
            for step in persona.agenda
        ),
        ended=_ended(record, told.ended_by),
        why=told.why,
        mistakes=tuple({**each, "turn": None if each["turn"] is None else each["turn"] + 1} for each in mistakes),
        thoughts=tuple(
            ThoughtRow(turn.index + 1, turn.thought.words_ms, turn.thought.speech_ms, turn.thought.silence_ms)
            for turn in record.turns
            if turn.thought is not None
        ),
    )


def _ended(record: Record, by: EndedBy) -> str:
    return record.ending.message if record.ending.code == "patience" and not by else ENDINGS[by]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
