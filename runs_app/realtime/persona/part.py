"""The part that a model plays in one conversation: who it is, whom to ask for its words, and its voice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from runs_app.realtime.pcm import Int16
from runs_app.realtime.structured import Reply
from scenarios_app.spec.conditions import Condition
from scenarios_app.spec.persona import Persona

MOST_TURNS = 20  # of a persona whose scenario says nothing of it

Ask = Callable[[str, str], Awaitable[Reply]]
Voice = Callable[[str], Awaitable[Int16]]


class CallerFailed(Exception):
    """Our own caller could not go on. `stage` is one of record.STAGES."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


@dataclass(frozen=True)
class Part:
    """`ask`: instructions and document to a reply, in words where it fails. `voice`: words to int16 mono at 24 kHz,
    raising CallerFailed; None in text mode. `condition`: of the caller's line."""

    persona: Persona
    model: str
    seed: int | str
    ask: Ask = field(repr=False)
    voice: Voice | None = field(default=None, repr=False)
    stop_when: str | None = None
    most_turns: int = MOST_TURNS
    today: str | None = None
    condition: Condition | None = None
