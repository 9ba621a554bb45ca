"""The configuration contract: an agent under test and everything needed to talk with it.

Use `parse_configuration` and `parse_configurations`: they check placeholders, URLs and headers, which a model alone
does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from scenarios_app.spec import configuration_rules
from scenarios_app.spec.application import Application, ApplicationRef
from scenarios_app.spec.contract import (
    Contract,
    Flag,
    Name,
    Seconds,
    Text,
    ToolName,
    Whole,
    parse,
    parse_entries,
)
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.sources import Source

OPENAI = "https://api.openai.com/v1"
CHUNK_MS = {"realtime": 100, "live": 20}
DETECTED_CHUNK_MS = 20  # a server that listens for the end of the words hears no further than the audio it has
JUDGE_MODEL = "gpt-5.6-terra"

_DETECTION_NAMES = list(configuration_rules.TURN_DETECTION)
_DETECTION_SCHEMA = {
    "anyOf": [
        {"enum": [*_DETECTION_NAMES, None]},
        {"type": "object", "required": ["type"], "properties": {"type": {"enum": _DETECTION_NAMES}}},
    ]
}

Coding = Literal["pcm16", "g711_ulaw", "g711_alaw"]
Positive = Annotated[Whole, Field(ge=1)]
TurnDetection = Annotated[Json, AfterValidator(configuration_rules.turn_detection), WithJsonSchema(_DETECTION_SCHEMA)]
TextOrObject = Annotated[
    Json, AfterValidator(configuration_rules.text_or_object), WithJsonSchema({"type": ["string", "object", "null"]})
]


class Backend(Contract):
    """Who thinks behind the voice. `direct`: the voice model itself."""

    mode: Literal["direct", "responses", "client"] = "direct"
    model: Text | None = None
    instructions: str | None = None
    endpoint: Text | None = None
    api_key: Text | None = None
    token: Text | None = None
    reasoning: Text | None = None
    verbosity: Text | None = None
    max_output_tokens: Positive | None = None


class Audio(Contract):
    input: Coding = "pcm16"
    output: Coding = "pcm16"
    chunk_ms: Annotated[Whole, Field(ge=1, le=1000)] | None = None  # None: the protocol's, see Configuration.chunk_ms
    real_time: Flag = True


def _turn_timeout(data: dict[str, Any]) -> Seconds:
    turn: Seconds = data.get("turn", Seconds(60))
    return turn


class Timeouts(Contract):
    """Seconds. `turn`: realtime, until each response.done. `response`: live, from the end of the caller's words."""

    turn: Seconds = Seconds(60)
    connect: Seconds = Field(default_factory=_turn_timeout)  # the handshake waits as long as a turn
    session_ready: Seconds = Seconds(3)
    response: Seconds = Seconds(30)


class Caller(Contract):
    """The speech service that says the caller's words. Without an api_key a dummy is sent."""

    endpoint: Text = OPENAI
    model: Text = "gpt-4o-mini-tts"
    voice: Text = "marin"
    api_key: Text | None = None
    condition: TextOrObject = None


def _judge_effort(data: dict[str, Any]) -> str | None:
    # other models may not know the setting at all
    return "medium" if data.get("model") == JUDGE_MODEL else None


class Judge(Contract):
    endpoint: Text = OPENAI
    model: Text = JUDGE_MODEL
    api_key: Text | None = None
    reasoning_effort: Text | None = Field(default_factory=_judge_effort)  # None: not sent
    rubric: Text | None = None  # None: the current one


class PersonaModel(Contract):
    """The model that plays a simulated caller."""

    endpoint: Text = OPENAI
    model: Text
    api_key: Text | None = None


def usual_mode(content: Mapping[str, Any]) -> Literal["text", "audio"]:
    """Of a configuration that names none: GPT Live cannot be typed to."""
    return "audio" if content.get("protocol") == "live" else "text"


def mode_of(content: Mapping[str, Any]) -> str:
    """The one that a stored configuration names, else the usual one."""
    return content.get("mode") or usual_mode(content)


class Configuration(Contract):
    """An agent under test. Only name, protocol, endpoint and model are required. Times are in seconds."""

    name: Name
    protocol: Literal["realtime", "live"]
    endpoint: Text
    model: Text
    headers: dict[str, str] = {}
    instructions: str = ""
    backend: Backend | None = None
    application: ApplicationRef | None = None
    voice: Text | None = None  # None: the server's own
    session_update: dict[str, Json] = {}
    dialect: Literal["ga", "beta"] = "ga"
    mode: Literal["text", "audio"] = Field(default_factory=usual_mode)
    audio: Audio = Audio()
    turn_detection: TurnDetection = "none"
    done_tool: ToolName | None = "end_session"
    tool_rounds: Annotated[Whole, Field(ge=0, le=50)] = 5
    timeouts: Timeouts = Timeouts()
    caller: Caller = Caller()
    judge: Judge | None = None
    persona: PersonaModel | None = None
    price_table: TextOrObject = None

    @property
    def chunk_ms(self) -> int:
        """Length of one chunk of caller audio: the given one, else the protocol's (shorter where the server detects
        turns)."""
        detected = configuration_rules.detects_turns(self)
        return self.audio.chunk_ms or (DETECTED_CHUNK_MS if detected else CHUNK_MS[self.protocol])

    @property
    def vad(self) -> dict[str, Json] | None:
        """Turn detection by the server with its options (`type` among them), None when the agent answers when asked."""
        given = self.turn_detection
        detection = {"type": given} if isinstance(given, str) else dict(given or {"type": "none"})
        return None if detection["type"] == "none" else detection

    @property
    def own_backend(self) -> Backend | None:
        """The backend that we ask ourselves: GPT Live's mode `responses` is the provider's, Realtime has none."""
        ours = ("client",) if self.protocol == "live" else ("responses", "client")
        return self.backend if self.backend is not None and self.backend.mode in ours else None

    @property
    def backend_model(self) -> str | None:
        """The model that thinks behind the voice; None where there is none, or nobody tells which."""
        return self.backend.model if self.backend is not None and self.backend.mode != "direct" else None

    def answer_limit_ms(self, mode: str) -> float | None:
        """A trial that timed out is not answered sooner than this; None in text mode, where nothing is heard."""
        limit_s = self.timeouts.turn if self.protocol == "realtime" else self.timeouts.response
        return float(limit_s) * 1000 if mode == "audio" else None


def parse_configuration(value: Json, path: str = "") -> Configuration:
    """One configuration. Raises SpecError with all its problems, their paths below `path`."""
    return parse(Configuration, value, configuration_rules.problems, path)


def parse_configurations(data: bytes | str | Source) -> tuple[Configuration, ...]:
    """A JSON list of configurations; the same name again is its next version. All or nothing: raises SpecError with
    the problems of all entries, each with its line."""
    return parse_entries(Configuration, data, configuration_rules.problems)


def tool_conflicts(configuration: Configuration, application: Application) -> list[Problem]:
    """Tools that both the application and session_update declare."""
    declared = {tool.name for tool in application.tools}
    return [
        Problem(f"session_update.tools[{index}].name", f'the application "{application.name}" declares "{name}" too')
        for index, name in configuration_rules.session_tools(configuration.session_update)
        if name in declared
    ]


def unsupported_fields(configuration: Configuration) -> list[Problem]:
    """Fields that are valid and kept, but that no engine serves yet."""
    return list(configuration_rules.unsupported(configuration))
