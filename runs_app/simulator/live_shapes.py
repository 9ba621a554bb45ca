"""What clients may send on `/v1/live/sessions`: every key is known or refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runs_app.simulator.shapes import ClientEvent, FunctionTool, Strict, ToolChoice, VoiceId

LONGEST_COMMENT = 2_000  # characters: about 500 tokens
DelayMs = Annotated[int, Field(ge=0, le=60_000)]


class Pcm(Strict):
    type: Literal["audio/pcm"]
    rate: Literal[16000, 24000]


class G711(Strict):
    type: Literal["audio/pcmu", "audio/pcma"]
    rate: Literal[8000]


class Output(Strict):
    voice: str | VoiceId | None = None


class Audio(Strict):
    format: Annotated[Pcm | G711, Field(discriminator="type")] | None = None
    output: Output | None = None


class Function(FunctionTool):
    strict: bool | None = None


class Reasoning(Strict):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    summary: Literal["concise", "detailed", "auto"] | None = None


class Verbosity(Strict):
    verbosity: Literal["low", "medium", "high"] | None = None


class BackendPatch(Strict):
    model: str | None = None
    instructions: str | None = None
    tools: list[Function] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Reasoning | None = None
    text: Verbosity | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    service_tier: Literal["auto", "default", "fast_tier_temp_pilot", "flex", "priority", "ultrafast"] | None = None


class Backend(BackendPatch):
    model: str


class ClientDelegation(Strict):
    type: Literal["client"]
    acknowledgement_delay_ms: DelayMs | None = None


class ResponsesDelegation(Strict):
    type: Literal["responses"]
    responses: Backend
    acknowledgement_delay_ms: DelayMs | None = None


class ResponsesPatch(Strict):
    type: Literal["responses"]
    responses: BackendPatch | None = None
    acknowledgement_delay_ms: DelayMs | None = None


Delegation = Annotated[ClientDelegation | ResponsesDelegation, Field(discriminator="type")]
DelegationPatch = Annotated[ClientDelegation | ResponsesPatch, Field(discriminator="type")]


class TextPart(Strict):
    type: Literal["input_text", "output_text", "text"] | None = None
    text: str


class InitialItem(Strict):
    type: Literal["message"] | None = None
    role: Literal["developer", "user", "assistant"]
    content: Annotated[list[TextPart], Field(min_length=1, max_length=1)]
    id: str | None = None
    status: Literal["incomplete", "completed"] | None = None


class SessionConfig(Strict):
    model: str
    instructions: str | None = None
    input: Annotated[list[InitialItem], Field(max_length=128)] | None = None
    audio: Audio | None = None
    delegation: Delegation | None = None
    store: bool | None = None
    safety_identifier: str | None = None


class SessionPatch(Strict):
    delegation: DelegationPatch | None = None


class Start(ClientEvent):
    session: SessionConfig


class Update(ClientEvent):
    session: SessionPatch


class Append(ClientEvent):
    audio: str


class Comment(ClientEvent):
    content: Annotated[str, Field(max_length=LONGEST_COMMENT)]
    delegation_id: str | None  # the key must be there, null or not


class CallOutput(Strict):
    type: Literal["function_call_output"]
    call_id: str
    output: str
    id: str | None = None
    status: str | None = None


class BackendMessage(Strict):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "developer", "system"]
    content: str


class ItemCreate(ClientEvent):
    item: Annotated[CallOutput | BackendMessage, Field(discriminator="type")]


EVENTS: dict[str, type[ClientEvent]] = {
    "session.start": Start,
    "session.update": Update,
    "session.input_audio.append": Append,
    "session.input_audio.mute": ClientEvent,
    "session.input_audio.unmute": ClientEvent,
    "session.instructions.append": Comment,
    "session.thinking.append": Comment,
    "session.commentary.append": Comment,
    "response.item.create": ItemCreate,
    "response.create": ClientEvent,
    "session.close": ClientEvent,
}
