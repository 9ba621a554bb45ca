"""What is kept of a caller that a model played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EndedBy = Literal["", "caller", "stop_when", "max_turns", "done_tool", "patience"]


@dataclass(frozen=True)
class CallerThought:
    """What it took our side to find a turn's words and voice. `silence_ms`: so much of it the line was silent for,
    because the agent had been heard to its end. No metric of the agent holds any of it. `steps`: of the agenda, that
    the words take care of."""

    words_ms: float
    speech_ms: float
    silence_ms: float
    steps: tuple[str, ...] = ()
    tries: int = 1


@dataclass(frozen=True)
class PersonaTold:
    """`ended_by`: what made the caller hang up; empty where the conversation broke off before. `why`: in the
    persona's own words. `steps`: of the agenda, those that were said, in order."""

    model: str
    seed: str
    ended_by: EndedBy = ""
    why: str = ""
    steps: tuple[str, ...] = ()
    asked: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


def thought_of(data: dict[str, object]) -> CallerThought:
    """Inverse of asdict, also of what JSON made of it."""
    return CallerThought(**{**data, "steps": tuple(data.get("steps", ()))})  # type: ignore[arg-type]


def told_of(data: dict[str, object]) -> PersonaTold:
    return PersonaTold(**{**data, "steps": tuple(data.get("steps", ()))})  # type: ignore[arg-type]
