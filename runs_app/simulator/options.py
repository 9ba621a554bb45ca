"""How one connection wants the simulator to be: its seed, its pace and its faults.

Every option may come as a handshake header (`x-sim-seed: 7`), in the query (`?x-sim-seed=7`) or after the model's name
(`sim-clerk:seed=7:latency-ms=900`); the header wins over the query, the query over the model's name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from runs_app.simulator.faults import Faults, UnknownFaultError, read_faults
from runs_app.simulator.luck import luck

PREFIX = "x-sim-"
DEFAULT_MODEL = "sim-clerk"

# name: (default, lowest, highest)
NUMBERS = {
    "latency-ms": (350.0, 0.0, 600_000.0),  # thinking time before the first output of a response
    "jitter-ms": (150.0, 0.0, 600_000.0),  # up to so much more, by the seed, drawn anew for each response
    "slip": (0.0, 0.0, 1.0),  # how likely it is that the clerk forgets its instructions for the whole call
    "audio-speed": (8.0, 1.0, 1_000.0),  # how much faster than real time audio is sent
    "expires-s": (3_600.0, 0.05, 3_600.0),  # when the session ends by itself
    "fault-delay-ms": (5_000.0, 0.0, 600_000.0),
    "truth": (0.0, 0.0, 1.0),  # 1: response.metadata tells when the reply really began
}
TEXTS = {"seed": "0", "fault": ""}


class OptionError(ValueError):
    """An option that cannot be read. `name` is the option as the client wrote it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class Options:
    """What one connection asked for; see NUMBERS for ranges and meaning."""

    model: str = DEFAULT_MODEL
    api_version: str | None = None  # only Azure's deprecated address takes one
    seed: str = "0"
    latency_ms: float = 350.0
    jitter_ms: float = 150.0
    slip: float = 0.0
    audio_speed: float = 8.0
    expires_s: float = 3_600.0
    fault_delay_ms: float = 5_000.0
    truth: float = 0.0
    faults: Faults = field(default_factory=Faults)

    def thinking_ms(self, response: int) -> float:
        """How long the clerk thinks before response number `response` of the session."""
        return self.latency_ms + self.jitter_ms * luck(self.seed, f"latency {response}")

    def slips(self) -> bool:
        return luck(self.seed, "slip") < self.slip


def read_options(headers: Mapping[str, str], query: str) -> Options:
    """Options of a handshake: lower-case `headers` and the raw `query`. OptionError names what cannot be read."""
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    model, *suffixes = _split_model(asked.get("model") or asked.get("deployment") or DEFAULT_MODEL)
    given = _suffix_options(suffixes)
    given |= {name: value for name, value in asked.items() if name.startswith(PREFIX)}
    given |= {name: value for name, value in headers.items() if name.startswith(PREFIX)}
    for name in given:
        if name.removeprefix(PREFIX) not in NUMBERS | TEXTS:
            known = ", ".join(PREFIX + known for known in sorted(NUMBERS | TEXTS))
            raise OptionError(name, f"unknown option {name!r}; known options: {known}")
    numbers = {name.replace("-", "_"): _number(name, given.get(PREFIX + name)) for name in NUMBERS}
    seed = given.get(PREFIX + "seed", TEXTS["seed"])
    try:
        faults = read_faults(given.get(PREFIX + "fault", ""), seed)
    except UnknownFaultError as error:
        raise OptionError(PREFIX + "fault", str(error)) from error
    version = asked.get("api-version")
    return Options(model=model or DEFAULT_MODEL, api_version=version, seed=seed, faults=faults, **numbers)


def _split_model(name: str) -> list[str]:
    return name.split(":") if name.startswith("sim-") else [name]


def _suffix_options(suffixes: list[str]) -> dict[str, str]:
    options = {}
    for suffix in filter(None, suffixes):
        name, equals, value = suffix.partition("=")
        if not equals:
            raise OptionError("model", f"what follows the model's name must be name=value, not {suffix!r}")
        options[PREFIX + name] = value
    return options


def _number(name: str, text: str | None) -> float:
    default, lowest, highest = NUMBERS[name]
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not lowest <= value <= highest:
        raise OptionError(
            PREFIX + name, f"{PREFIX}{name} must be a number from {lowest:g} to {highest:g}, not {text!r}"
        )
    return value
