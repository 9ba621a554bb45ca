"""Conversation items: what clients may create, and how the wire shows them."""

from __future__ import annotations

import base64
import binascii
from typing import Literal

import numpy as np
from pydantic import ValidationError

from runs_app.simulator.formats import RATE_HZ, Format, Samples, resampled
from runs_app.simulator.shapes import Id, Strict
from runs_app.simulator.wire import Json, Refusal, new_id, refusal_of

_PARTS = {"system": {"input_text"}, "user": {"input_text", "input_audio"}, "assistant": {"output_text"}}


class Part(Strict):
    type: str
    text: str | None = None
    audio: str | None = None
    transcript: str | None = None
    image_url: str | None = None
    detail: str | None = None


class Item(Strict):
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None


class MessageItem(Item):
    type: Literal["message"]
    role: Literal["system", "user", "assistant"]
    content: list[Part]


class CallItem(Item):
    type: Literal["function_call"]
    name: str
    call_id: Id | None = None
    arguments: str


class OutputItem(Item):
    type: Literal["function_call_output"]
    call_id: Id
    output: str


_SHAPES: dict[str, type[Item]] = {
    "message": MessageItem,
    "function_call": CallItem,
    "function_call_output": OutputItem,
}


def read_item(raw: dict[str, Json], form: Format, prefix: str = "item") -> tuple[dict[str, Json], Samples | None]:
    """The item as the conversation keeps it, and the audio (in `form`) that came with it at 24 kHz.

    Refusal names what is wrong.
    """
    shape = _SHAPES.get(raw["type"]) if isinstance(raw.get("type"), str) else None
    if "type" not in raw:
        raise Refusal(
            "missing_required_parameter", f"Missing required parameter: '{prefix}.type'.", param=f"{prefix}.type"
        )
    if shape is None:
        message = f"Invalid value: '{raw['type']}'. Supported values are: {', '.join(_SHAPES)}."
        raise Refusal("invalid_value", message, param=f"{prefix}.type")
    try:
        item = shape.model_validate(raw)
    except ValidationError as error:
        raise refusal_of(error, raw, prefix) from error
    if isinstance(item, MessageItem):
        return _message(item, form, prefix)
    kept = {"id": item.id or new_id("item"), **item.model_dump(exclude={"id", "object"})}
    if isinstance(item, CallItem):
        kept["call_id"] = item.call_id or new_id("call")
    return kept | {"status": item.status or "completed", "object": "realtime.item"}, None


def _message(item: MessageItem, form: Format, prefix: str) -> tuple[dict[str, Json], Samples | None]:
    audio: list[Samples] = []
    content: list[dict[str, Json]] = []
    for number, part in enumerate(item.content):
        where = f"{prefix}.content[{number}]"
        if part.type not in _PARTS[item.role]:
            known = " or ".join(f"'{name}'" for name in sorted(_PARTS[item.role]))
            message = f"Invalid value: '{part.type}'. The content of a {item.role} message must be {known} here."
            raise Refusal("invalid_value", message, param=f"{where}.type")
        if part.type == "input_audio":
            samples = form.read(read_base64(part.audio or "", f"{where}.audio"))
            audio.append(resampled(samples, from_hz=form.rate_hz, to_hz=RATE_HZ))
            content.append({"type": "input_audio", "transcript": part.transcript})
        elif part.text is None:
            raise Refusal(
                "missing_required_parameter", f"Missing required parameter: '{where}.text'.", param=f"{where}.text"
            )
        else:
            content.append({"type": part.type, "text": part.text})
    kept: dict[str, Json] = {"id": item.id or new_id("item"), "object": "realtime.item", "type": "message"}
    kept |= {"role": item.role, "status": item.status or "completed", "content": content}
    return kept, np.concatenate(audio) if audio else None


def read_base64(text: str, param: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        message = f"Invalid '{param}'. Expected base64-encoded audio bytes but got an invalid value."
        raise Refusal("invalid_value", message, param=param) from error


def encode(samples: Samples, form: Format) -> str:
    """Samples at 24 kHz as the wire has them in `form`."""
    return base64.b64encode(form.write(resampled(samples, from_hz=RATE_HZ, to_hz=form.rate_hz))).decode()
