"""Acoustic conditions of the caller's line: what is done to clean words before the agent hears them.

In a configuration `caller.condition` is a name of PRESETS, or an object that says which parts the condition has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from scenarios_app.spec.contract import Contract, Flag, Number, Whole, parse
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.jsontext import Json

Decibels = Annotated[Number, Field(ge=-20, le=60)]
Gain = Annotated[Number, Field(gt=0, le=2)]
Decay = Annotated[Number, Field(gt=0, le=0.95)]
Loss = Annotated[Number, Field(gt=0, le=0.5)]
EchoDelay = Annotated[Whole, Field(ge=1, le=1000)]
Burst = Annotated[Whole, Field(ge=1, le=50)]

ECHO_DELAY_MS = 120
PACKET_BURST = 2


class Condition(Contract):
    """Parts of a condition, all optional; what is left out is not there.

    `noise_snr_db`: white noise so far under the caller's voice. `background_speech_gain`: other voices, as loud as so
    much of the caller's (1: as loud). `echo_decay`: how loud each repetition is, against the one before it.
    `telephony`: 300 to 3,400 Hz, 8 kHz, u-law. `packet_loss`: the share of 20 ms packets that never arrive, always
    `packet_burst` in a row.
    """

    noise_snr_db: Decibels | None = None
    background_speech_gain: Gain | None = None
    echo_decay: Decay | None = None
    echo_delay_ms: EchoDelay = ECHO_DELAY_MS
    telephony: Flag = False
    packet_loss: Loss | None = None
    packet_burst: Burst = PACKET_BURST


PRESETS: dict[str, Condition] = {
    "clean": Condition(),
    "noisy": Condition(noise_snr_db=10),
    "telephony": Condition(telephony=True),
    "background_speech": Condition(background_speech_gain=0.65),
    "echo": Condition(echo_decay=0.35),
    "packet_loss": Condition(packet_loss=0.08),
    "realistic": Condition(
        noise_snr_db=20, background_speech_gain=0.4, echo_decay=0.25, telephony=True, packet_loss=0.04
    ),
}


def parse_condition(value: Json, path: str = "") -> Condition | None:
    """The condition that a name or an object stands for; None when there is none to apply. Raises SpecError with
    every problem, paths below `path`."""
    if value is None:
        return None
    condition = _named(value, path) if isinstance(value, str) else parse(Condition, value, _rules, path)
    return condition if parts(condition) else None


def condition_problems(value: Json, path: str) -> tuple[Problem, ...]:
    try:
        parse_condition(value, path)
    except SpecError as error:
        return tuple(error.problems)
    return ()


def parts(condition: Condition) -> dict[str, Json]:
    """The parts that are there, with their settings: {} when the words stay clean."""
    present = {
        "noise_snr_db": condition.noise_snr_db,
        "background_speech_gain": condition.background_speech_gain,
        "echo_decay": condition.echo_decay,
        "echo_delay_ms": condition.echo_delay_ms if condition.echo_decay is not None else None,
        "telephony": condition.telephony or None,
        "packet_loss": condition.packet_loss,
        "packet_burst": condition.packet_burst if condition.packet_loss is not None else None,
    }
    return {name: value for name, value in present.items() if value is not None}


def told(present: Mapping[str, Json]) -> str:
    """Parts in words: `noise 10 dB under the voice, telephone band`."""
    said = {
        "noise_snr_db": "noise {noise_snr_db:g} dB under the voice",
        "background_speech_gain": "other voices at {background_speech_gain:g} of its level",
        "echo_decay": "an echo every {echo_delay_ms} ms at {echo_decay:g}",
        "telephony": "telephone band",
        "packet_loss": "{packet_loss:.3g} of the packets lost, {packet_burst} in a row",
    }
    return ", ".join(words.format(**present) for part, words in said.items() if part in present)


def told_value(value: Json) -> str:
    """What a configuration says of the line: the name and its parts. Nothing for a clean line."""
    condition = parse_condition(value)
    if condition is None:
        return ""
    words = told(parts(condition))
    return f"{value}: {words}" if isinstance(value, str) else words


def _named(name: str, path: str) -> Condition:
    if name not in PRESETS:
        raise SpecError([Problem(path, f'there is no condition "{name}"; there are {", ".join(PRESETS)}')])
    return PRESETS[name]


def _rules(condition: Condition) -> list[Problem]:
    """Settings of parts that are not there would do nothing."""
    given = condition.model_fields_set
    return [
        Problem(setting, f"belongs to {part}, which is not given")
        for setting, part in (("echo_delay_ms", "echo_decay"), ("packet_burst", "packet_loss"))
        if setting in given and getattr(condition, part) is None
    ]
