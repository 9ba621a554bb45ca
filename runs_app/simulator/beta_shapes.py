"""What clients of the beta dialect may send in session.update and response.create."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runs_app.simulator.shapes import (
    BetaServerVad,
    FunctionChoice,
    FunctionTool,
    MaxTokens,
    Metadata,
    NoiseReduction,
    SemanticVad,
    Strict,
    Transcription,
)
from runs_app.simulator.wire import Json

Format = Literal["pcm16", "g711_ulaw", "g711_alaw"]
Temperature = Annotated[float, Field(ge=0.6, le=1.2)]
Modalities = Annotated[list[Literal["text", "audio"]], Field(min_length=1, max_length=2)]

FORMATS: dict[str, dict[str, Json]] = {
    "pcm16": {"type": "audio/pcm", "rate": 24000},
    "g711_ulaw": {"type": "audio/pcmu"},
    "g711_alaw": {"type": "audio/pcma"},
}


class NamedFunction(Strict):
    name: str


class NestedChoice(Strict):
    type: Literal["function"]
    function: NamedFunction


TurnDetection = Annotated[BetaServerVad | SemanticVad, Field(discriminator="type")]
ToolChoice = Literal["auto", "none", "required"] | NestedChoice | FunctionChoice


class BetaSession(Strict):
    model: str | None = None
    modalities: Modalities | None = None
    instructions: str | None = None
    voice: str | None = None
    speed: Annotated[float, Field(ge=0.25, le=1.5)] | None = None
    input_audio_format: Format | None = None
    output_audio_format: Format | None = None
    input_audio_transcription: Transcription | None = None
    input_audio_noise_reduction: NoiseReduction | None = None
    turn_detection: TurnDetection | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: ToolChoice | None = None
    temperature: Temperature | None = None
    max_response_output_tokens: MaxTokens | None = None
    tracing: Json = None


class BetaResponse(Strict):
    conversation: Literal["auto", "none"] | None = None
    input: list[dict[str, Json]] | None = None
    instructions: str | None = None
    modalities: Modalities | None = None
    voice: str | None = None
    output_audio_format: Format | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: ToolChoice | None = None
    temperature: Temperature | None = None
    max_response_output_tokens: MaxTokens | None = None
    metadata: Metadata | None = None


def format_name(given: dict[str, Json]) -> str:
    """The beta name of a GA format object."""
    return next(name for name, known in FORMATS.items() if known["type"] == given["type"])
