"""What the caller will say and when: the scripted turns of a scenario, with a persona's urge to break in drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.pcm import Int16
from runs_app.realtime.persona.told import CallerThought
from runs_app.realtime.record import CallerLine
from runs_app.realtime.speech_edges import SPEECH_RMS, adaptive_threshold, voiced
from scenarios_app.spec.recordings import Recording
from scenarios_app.spec.scenario import Scenario

# How much of the agent's audio an impatient caller hears before he breaks in.
IMPATIENCE_MS = (600, 2000)
UNTYPED = "is a recording without metadata.transcript, so that nothing can be typed: set mode: audio"


@dataclass(frozen=True)
class PlannedTurn:
    """What the caller says: int16 mono at RATE_HZ in audio mode, the text alone in text mode.

    `interrupt_after_ms`: over the reply to the turn before, once so much of it was heard (0: as soon as it begins);
    None: when `wait` is over, the whole reply or the first second of silence in it. `only_over`: not said at all when
    the reply is over before that moment. `line`: what a condition made of the clean words, its positions counted from
    the first sample of `audio`. `recording`: its id, if it was recorded. `thought`: what it took a caller who finds his
    own words.
    """

    text: str
    audio: Int16 | None = None
    interrupt_after_ms: float | None = None
    wait: Literal["reply", "silence"] = "reply"
    line: CallerLine | None = None
    recording: str | None = None
    only_over: bool = False
    thought: CallerThought | None = None


class Impatience:
    """When a caller talks over a reply, drawn one reply after the other. The same seeds draw the same."""

    def __init__(self, seed: int | str, own_seed: int | None, chance: float | None) -> None:
        self._draw = random.Random(f"interruptions {seed} {own_seed}")
        self._chance = chance or 0.0

    def draw(self) -> float | None:
        """After how much of the next reply, in ms of it; None when it is heard to its end."""
        breaks_in, after_ms = self._draw.random() < self._chance, self.after_ms()
        return after_ms if breaks_in else None

    def after_ms(self) -> float:
        return float(round(self._draw.uniform(*IMPATIENCE_MS)))


@dataclass(frozen=True)
class ScriptLine:
    """A turn of the script without its sound."""

    text: str
    interrupt_after_ms: float | None = None
    wait: Literal["reply", "silence"] = "reply"
    recording: Recording | None = None


def lines(scenario: Scenario, *, seed: int | str = 0) -> tuple[ScriptLine, ...]:
    """The caller's lines in order, at most `max_turns`. The same seed breaks in at the same places."""
    return tuple(_lines(scenario, seed))[: scenario.max_turns]


def with_audio(script: Sequence[ScriptLine], audio: Sequence[Int16 | None]) -> tuple[PlannedTurn, ...]:
    return tuple(_planned(line, samples) for line, samples in zip(script, audio, strict=True))


def _planned(line: ScriptLine, samples: Int16 | None) -> PlannedTurn:
    recorded = line.recording if samples is not None else None
    return PlannedTurn(
        line.text,
        samples,
        line.interrupt_after_ms,
        line.wait,
        recorded_line(samples) if recorded and samples is not None else None,
        recorded.id if recorded else None,
    )


def recorded_line(samples: Int16) -> CallerLine | None:
    """Where somebody speaks in a recording that has noise of its own (`threshold_rms` tells from which level on); None
    where the usual threshold finds it."""
    threshold_rms = adaptive_threshold(samples)
    if threshold_rms == SPEECH_RMS:
        return None
    voice = tuple(voiced(samples, threshold_rms=threshold_rms))
    return CallerLine({}, 0, {"threshold_rms": round(threshold_rms, 1)}, voice)


def for_repeat(scenario: Scenario, repeat: int) -> Scenario:
    """The scenario with one recording for its first turn. Where there are several that no further turn names, the
    repeats (from 1) take them in order, so that every configuration is asked by the same ones."""
    spare = _spare(scenario)
    if len(spare) < 2:
        return scenario
    chosen = spare[(repeat - 1) % len(spare)]
    kept = tuple(one for one in scenario.input.recordings if one is chosen or one not in spare)
    return scenario.model_copy(update={"input": scenario.input.model_copy(update={"recordings": kept})})


def _spare(scenario: Scenario) -> list[Recording]:
    named = {turn.recording for turn in scenario.input.turns}
    return [recording for recording in scenario.input.recordings if recording.id not in named]


def _lines(scenario: Scenario, seed: int | str) -> Iterator[ScriptLine]:
    recordings = {recording.id: recording for recording in scenario.input.recordings}
    yield ScriptLine(scenario.input.text, recording=next(iter(_spare(scenario)), None))
    persona = scenario.persona
    chance = persona.behaviors.interrupt_probability if persona else None
    impatience = Impatience(seed, persona.seed if persona else None, chance)
    for turn in scenario.input.turns:
        after_ms = impatience.draw()
        given, recording = turn.interrupt_after_ms, recordings.get(turn.recording or "")
        yield ScriptLine(
            text=turn.text or (recording.transcript if recording else ""),
            recording=recording,
            interrupt_after_ms=float(given) if given is not None else after_ms,
            wait=turn.wait or "reply",
        )
