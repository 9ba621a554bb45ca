"""What a connector may say to the service, read strictly."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from runs_app.realtime.delegation.limits import MOST_ITEMS


class ServiceError(Exception):
    """The session ends with this error. `code`: as the protocol names it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Tool(BaseModel):
    """Only its name counts: the service has tools of its own."""

    model_config = ConfigDict(extra="allow")

    name: str


class InitialItem(Strict):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant"]
    content: str


class Configure(Strict):
    type: Literal["session.configure"]
    model: str | None = None
    instructions: str = ""
    tools: list[Tool] | None = None
    initial_items: Annotated[list[InitialItem], Field(max_length=MOST_ITEMS)] = []


class TranscriptDelta(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: Literal["session.input_transcript.delta", "session.output_transcript.delta"]
    delta: str
    start_ms: float | None = None
    end_ms: float | None = None


class Delegation(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(min_length=1)]
    target: Literal["client"]


class DelegationCreated(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: Literal["session.delegation.created"]
    delegation: Delegation
    offset_ms: float = 0.0


class SessionClosed(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: Literal["session.closed"]


Event = Annotated[TranscriptDelta | DelegationCreated | SessionClosed, Field(discriminator="type")]


class LiveEvent(Strict):
    type: Literal["live.event"]
    event: Event


MESSAGE: TypeAdapter[Configure | LiveEvent] = TypeAdapter(Annotated[Configure | LiveEvent, Field(discriminator="type")])


def read(raw: str | bytes) -> Configure | LiveEvent:
    """Raises ServiceError."""
    try:
        return MESSAGE.validate_python(json.loads(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ServiceError("client_protocol_error", f"{place or 'the message'}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ServiceError("client_protocol_error", "the message is not JSON") from error
