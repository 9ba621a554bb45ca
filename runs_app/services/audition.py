"""The caller's words as an agent would hear them, before there is a run: a configuration's voice, over its line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from runs_app.models import Run
from runs_app.realtime.conditions import on_line
from runs_app.realtime.endpoints import EndpointError, shown
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.script import PlannedTurn, ScriptLine, lines, with_audio
from runs_app.realtime.speech import CallerAudioError, SpeechError
from runs_app.services.addresses import NoSimulator
from runs_app.services.caller_voice import SaidTurn, said_turns, sound_of
from runs_app.services.secrets import SecretError
from runs_app.services.tooling import NOBODY
from scenarios_app.models import Configuration
from scenarios_app.spec.conditions import Condition, parse_condition, told
from scenarios_app.spec.configuration import Caller, parse_configuration
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import parse_scenario

SECONDS = 60.0
SEED = 1  # one line of all that the condition can draw


class CannotHear(Exception):
    """Why there is nothing to hear, in words for the page."""


@dataclass(frozen=True)
class Voice:
    """A way to speak that a configuration has. `value` is the name of that configuration."""

    value: str
    label: str


@dataclass(frozen=True)
class Audition:
    """What is asked for, ready to be spoken. `turn` counts from 1."""

    line: ScriptLine
    said: SaidTurn
    condition: Condition | None
    turn: int
    turns: int


@dataclass(frozen=True)
class Heard:
    """int16 mono at 24 kHz. `facts` are for the page: JSON values."""

    samples: Int16
    facts: dict[str, Any]


def voices() -> list[Voice]:
    """One for each endpoint, model and voice that a configuration speaks its callers with; first that of the one which
    was called last, as that one can be heard."""
    found: dict[tuple[str, str, str], Voice] = {}
    called = Run.objects.last_called()
    for configuration in sorted(
        Configuration.objects.current().select_related("latest"), key=lambda one: one != called
    ):
        if configuration.latest is None:
            continue
        caller = parse_configuration(configuration.latest.content).caller
        key = (caller.endpoint, caller.model, caller.voice)
        found.setdefault(key, Voice(configuration.name, f"{caller.voice}, {caller.model} ({shown(caller.endpoint)})"))
    default = Caller()
    if (default.endpoint, default.model, default.voice) not in found:
        found["", "", ""] = Voice("", f"{default.voice}, {default.model} ({default.endpoint})")
    return list(found.values())


def prepare_audition(
    *, given: Mapping[str, Any], turn: int = 1, configuration: str = "", condition: str = ""
) -> Audition:
    """`given` is the input of a scenario, saved or not; `condition` a name of its own, or "" for the configuration's.
    Raises CannotHear."""
    try:
        caller = _caller(configuration)
        script = _script(given)
        line = script[min(max(turn, 1), len(script)) - 1]
        (said,) = said_turns([line], caller, NOBODY)
        wanted = parse_condition(condition or caller.condition, "condition")
    except (SpecError, EndpointError, NoSimulator, SecretError, ImproperlyConfigured) as error:
        raise CannotHear(str(error)) from error
    return Audition(line, said, wanted, min(max(turn, 1), len(script)), len(script))


def _caller(name: str) -> Caller:
    if not name:
        return Caller()
    configuration = Configuration.objects.named(name).select_related("latest").first()
    if configuration is None or configuration.latest is None:
        raise CannotHear(f"there is no configuration {name}")
    return parse_configuration(configuration.latest.content).caller


def _script(given: Mapping[str, Any]) -> tuple[ScriptLine, ...]:
    """Of a scenario that has nothing but what is said: the rest may be half written."""
    if not str(given.get("text") or "").strip():
        raise CannotHear("the caller has nothing to say yet: write the words first")
    said = {name: given[name] for name in ("text", "recordings", "turns") if given.get(name)}
    kind = "multi_turn" if said.get("turns") else "single_turn"
    return lines(parse_scenario({"id": "heard", "title": "Heard", "interaction": kind, "input": said}))


async def hear(audition: Audition) -> Heard:
    """Raises CannotHear."""
    try:
        async with asyncio.timeout(SECONDS):
            clean = await sound_of(audition.said)
    except (SpeechError, CallerAudioError) as error:
        raise CannotHear(str(error)) from error
    except TimeoutError as error:
        raise CannotHear(f"no audio of the caller's words within {SECONDS:.0f} s") from error
    return await asyncio.to_thread(_heard, audition, clean)


def _heard(audition: Audition, clean: Int16) -> Heard:
    (turn,) = on_line(with_audio([audition.line], [clean]), audition.condition, seed=SEED)
    assert turn.audio is not None
    return Heard(turn.audio, _facts(audition, turn, turn.audio))


def _facts(audition: Audition, turn: PlannedTurn, samples: Int16) -> dict[str, Any]:
    return {
        "turn": audition.turn,
        "turns": audition.turns,
        "text": audition.line.text,
        "recording": turn.recording or "",
        "line": told(turn.line.condition) if turn.line else "",
        "ms": round(samples.size / SAMPLES_PER_MS),
    }
