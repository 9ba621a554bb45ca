"""What a response shall be: the session's settings with those of response.create over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runs_app.simulator.config import full_format
from runs_app.simulator.formats import Format, format_of
from runs_app.simulator.shapes import ResponseParams
from runs_app.simulator.wire import Json

Modality = Literal["text", "audio"]


@dataclass(frozen=True)
class Order:
    """One response as it was ordered."""

    instructions: str
    tools: list[dict[str, Json]]
    tool_choice: Json
    modality: Modality
    voice: Json
    speed: float
    format_settings: dict[str, Json]  # as the wire shows it, such as {"type": "audio/pcmu"}
    max_output_tokens: int | Literal["inf"]
    metadata: dict[str, str] | None
    in_conversation: bool
    items: tuple[dict[str, Json], ...] | None = None  # None: the conversation's own

    @property
    def format(self) -> Format:
        return format_of(self.format_settings)


def read_order(params: ResponseParams, session: dict[str, Json], items: list[dict[str, Json]] | None) -> Order:
    """The order of a response.create. `items`: what its `input` named, None for the conversation's own."""
    asked = params.model_dump(exclude_none=True)
    settings: dict[str, Json] = session | asked
    output: dict[str, Json] = session["audio"]["output"] | asked.get("audio", {}).get("output", {})
    return Order(
        instructions=settings["instructions"],
        tools=settings["tools"],
        tool_choice=settings["tool_choice"],
        modality=settings["output_modalities"][0],
        voice=output["voice"],
        speed=output["speed"],
        format_settings=full_format(output["format"]),
        max_output_tokens=settings["max_output_tokens"],
        metadata=params.metadata,
        in_conversation=params.conversation != "none",
        items=None if items is None else tuple(items),
    )
