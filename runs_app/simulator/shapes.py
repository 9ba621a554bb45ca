"""What clients may send on `/v1/realtime` (GA dialect): every key is known or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs_app.simulator.wire import Json, Refusal, refusal_of

Id = Annotated[str, Field(max_length=32, pattern=r"^[a-zA-Z0-9_-]+$")]
Modalities = Annotated[list[Literal["text", "audio"]], Field(min_length=1, max_length=1)]
MaxTokens = Annotated[int, Field(ge=1, le=4096)] | Literal["inf"]
Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PcmFormat(Strict):
    type: Literal["audio/pcm"]
    rate: Literal[24000] | None = None


class G711Format(Strict):
    """8 kHz by its nature: there is no rate to name."""

    type: Literal["audio/pcmu", "audio/pcma"]


AudioFormat = Annotated[PcmFormat | G711Format, Field(discriminator="type")]


class Transcription(Strict):
    model: str | None = None
    language: str | None = None
    languages: list[str] | None = None
    prompt: str | None = None
    keywords: list[str] | None = None
    delay: str | None = None


class NoiseReduction(Strict):
    type: Literal["near_field", "far_field"] | None = None
    strength: float | None = None


class Detection(Strict):
    create_response: bool | None = None
    interrupt_response: bool | None = None


class BetaServerVad(Detection):
    type: Literal["server_vad"]
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    prefix_padding_ms: Annotated[int, Field(ge=0, le=5_000)] | None = None
    silence_duration_ms: Annotated[int, Field(ge=0, le=10_000)] | None = None


class ServerVad(BetaServerVad):
    idle_timeout_ms: Annotated[int, Field(ge=5_000, le=30_000)] | None = None


class SemanticVad(Detection):
    type: Literal["semantic_vad"]
    eagerness: Literal["low", "medium", "high", "auto"] | None = None


TurnDetection = Annotated[ServerVad | SemanticVad, Field(discriminator="type")]


class AudioInput(Strict):
    format: AudioFormat | None = None
    transcription: Transcription | None = None
    noise_reduction: NoiseReduction | None = None
    turn_detection: TurnDetection | None = None


class VoiceId(Strict):
    id: str


class AudioOutput(Strict):
    format: AudioFormat | None = None
    voice: str | VoiceId | None = None
    speed: Annotated[float, Field(ge=0.25, le=1.5)] | None = None


class Audio(Strict):
    input: AudioInput | None = None
    output: AudioOutput | None = None


class FunctionTool(Strict):
    type: Literal["function"]
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: str | None = None
    parameters: dict[str, Json] | None = None


class FunctionChoice(Strict):
    type: Literal["function"]
    name: str


ToolChoice = Literal["auto", "none", "required"] | FunctionChoice


class SessionPatch(Strict):
    type: Literal["realtime"]
    model: str | None = None
    output_modalities: Modalities | None = None
    instructions: str | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: dict[str, Json] | None = None
    max_output_tokens: MaxTokens | None = None
    tracing: Json = None
    truncation: Json = None
    prompt: Json = None
    include: list[str] | None = None
    audio: Audio | None = None


class ResponseAudioOutput(Strict):
    format: AudioFormat | None = None
    voice: str | VoiceId | None = None


class ResponseAudio(Strict):
    output: ResponseAudioOutput | None = None


class ResponseParams(Strict):
    conversation: Literal["auto", "none"] | None = None
    input: list[dict[str, Json]] | None = None
    instructions: str | None = None
    output_modalities: Modalities | None = None
    audio: ResponseAudio | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: dict[str, Json] | None = None
    max_output_tokens: MaxTokens | None = None
    metadata: Metadata | None = None
    prompt: Json = None


class ClientEvent(Strict):
    type: str
    event_id: Annotated[str, Field(max_length=512)] | None = None


class SessionUpdate(ClientEvent):
    session: SessionPatch


class BufferAppend(ClientEvent):
    audio: str


class ItemCreate(ClientEvent):
    item: dict[str, Json]
    previous_item_id: str | None = None


class ItemById(ClientEvent):
    item_id: str


class ItemTruncate(ClientEvent):
    item_id: str
    content_index: Annotated[int, Field(ge=0)]
    audio_end_ms: Annotated[int, Field(ge=0)]


class ResponseCreate(ClientEvent):
    response: ResponseParams | None = None


class ResponseCancel(ClientEvent):
    response_id: str | None = None


EVENTS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": BufferAppend,
    "input_audio_buffer.commit": ClientEvent,
    "input_audio_buffer.clear": ClientEvent,
    "conversation.item.create": ItemCreate,
    "conversation.item.retrieve": ItemById,
    "conversation.item.truncate": ItemTruncate,
    "conversation.item.delete": ItemById,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
}


def read_event(raw: Json, events: Mapping[str, type[ClientEvent]]) -> ClientEvent:
    """The event in `raw`, one of `events`. Refusal names the first key that is unknown, missing or wrong."""
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        raise Refusal("invalid_event", "The event must be a JSON object with a 'type'.")
    shape = events.get(raw["type"])
    if shape is None:
        known = ", ".join(f"'{name}'" for name in events)
        raise Refusal("invalid_value", f"Invalid value: '{raw['type']}'. Supported values are: {known}.", param="type")
    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        raise refusal_of(error, raw) from error
