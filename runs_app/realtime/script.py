"""What the caller will say and when: the scripted turns of a scenario, with a persona's urge to break in drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import CallerLine
from scenarios_app.spec.scenario import Scenario

# How much of the agent's audio an impatient caller hears before he breaks in.
IMPATIENCE_MS = (600, 2000)


@dataclass(frozen=True)
class PlannedTurn:
    """What the caller says: int16 mono at RATE_HZ in audio mode, the text alone in text mode.

    `interrupt_after_ms`: over the reply to the turn before, once so much of it was heard (0: as soon as it begins);
    None: when `wait` is over, the whole reply or the first second of silence in it. `line`: what a condition made of
    the clean words, its positions counted from the first sample of `audio`.
    """

    text: str
    audio: Int16 | None = None
    interrupt_after_ms: float | None = None
    wait: Literal["reply", "silence"] = "reply"
    line: CallerLine | None = None


@dataclass(frozen=True)
class ScriptLine:
    """A turn of the script without its sound."""

    text: str
    interrupt_after_ms: float | None = None
    wait: Literal["reply", "silence"] = "reply"


def lines(scenario: Scenario, *, seed: int | str = 0) -> tuple[ScriptLine, ...]:
    """The caller's lines in order, at most `max_turns`. The same seed breaks in at the same places."""
    return tuple(_lines(scenario, seed))[: scenario.max_turns]


def with_audio(script: Sequence[ScriptLine], audio: Sequence[Int16 | None]) -> tuple[PlannedTurn, ...]:
    return tuple(
        PlannedTurn(line.text, samples, line.interrupt_after_ms, line.wait)
        for line, samples in zip(script, audio, strict=True)
    )


def _lines(scenario: Scenario, seed: int | str) -> Iterator[ScriptLine]:
    yield ScriptLine(scenario.input.text)
    behaviors = scenario.persona.behaviors if scenario.persona else None
    chance = (behaviors.interrupt_probability or 0.0) if behaviors else 0.0
    own_seed = scenario.persona.seed if scenario.persona else None
    draw = random.Random(f"interruptions {seed} {own_seed}")
    for turn in scenario.input.turns:
        breaks_in, after_ms = draw.random() < chance, float(round(draw.uniform(*IMPATIENCE_MS)))
        given = turn.interrupt_after_ms
        yield ScriptLine(
            text=turn.text or "",
            interrupt_after_ms=float(given) if given is not None else after_ms if breaks_in else None,
            wait=turn.wait or "reply",
        )
