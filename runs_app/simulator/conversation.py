"""One session's items in order, with the audio that belongs to them."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from runs_app.simulator.formats import Format, Samples
from runs_app.simulator.items import encode
from runs_app.simulator.wire import Json, Refusal, new_id

SAMPLES_PER_MS = 24


class Conversation:
    """Items by order. `audio[item_id]` holds the samples of spoken items, the user's and the assistant's."""

    def __init__(self) -> None:
        self.id = new_id("conv")
        self.items: list[dict[str, Json]] = []
        self.audio: dict[str, Samples] = {}

    def insert(self, item: dict[str, Json], previous_item_id: str | None = None) -> str | None:
        """Put `item` after the given one (None: at the end, "root": at the start); the id it stands after, or None."""
        if self._position(item["id"]) is not None:
            raise Refusal("invalid_value", f"Item with id '{item['id']}' already exists.", param="item.id")
        if item["type"] == "function_call_output" and not self._knows_call(item["call_id"]):
            message = f"Tool call ID '{item['call_id']}' not found in conversation."
            raise Refusal("invalid_tool_call_id", message, param="item.call_id")
        position = self._place_after(previous_item_id)
        self.items.insert(position, item)
        return self.items[position - 1]["id"] if position else None

    def before(self, item_id: str) -> str | None:
        """The id of the item that stands before the given one; None for the first, or when it was deleted."""
        position = self._position(item_id)
        return self.items[position - 1]["id"] if position else None

    def find(self, item_id: str, doing: str) -> dict[str, Json]:
        """The item, or a Refusal such as `item_delete_invalid_item_id` that says what could not be done."""
        position = self._position(item_id)
        if position is None:
            verb = {"delete": "deleting", "retrieve": "retrieving", "truncate": "truncating"}[doing]
            message = f"Error {verb} item: the item with id '{item_id}' does not exist."
            raise Refusal(f"item_{doing}_invalid_item_id", message)
        return self.items[position]

    def delete(self, item_id: str) -> None:
        self.items.remove(self.find(item_id, "delete"))
        self.audio.pop(item_id, None)

    def retrieve(self, item_id: str, *, heard: Format, spoken: Format) -> dict[str, Json]:
        """The item with its audio in base64, in the format of the caller's or of the agent's side."""
        item = deepcopy(self.find(item_id, "retrieve"))
        for part in item.get("content", ()):
            if part["type"] in ("input_audio", "output_audio"):
                form = heard if part["type"] == "input_audio" else spoken
                part["audio"] = encode(self.audio.get(item_id, np.zeros(0, np.int16)), form)
        return item

    def truncate(self, item_id: str, content_index: int, audio_end_ms: int, *, miscounted_ms: int = 0) -> None:
        """Cut a spoken reply at what was heard: its words are forgotten, its audio ends there.

        `miscounted_ms`: so much less than was sent is known to be there.
        """
        item = self.find(item_id, "truncate")
        content = item.get("content") or [{}]
        spoken = item.get("role") == "assistant" and item_id in self.audio
        if not spoken or content_index >= len(content) or content[content_index].get("type") != "output_audio":
            raise Refusal("unsupported_content_type", "Only model output audio messages can be truncated")
        has_ms = max(0, len(self.audio[item_id]) // SAMPLES_PER_MS - miscounted_ms)
        if audio_end_ms > has_ms:
            message = f"Audio content of {has_ms}ms is already shorter than {audio_end_ms}ms"
            raise Refusal("invalid_value", message, param="audio_end_ms")
        self.audio[item_id] = self.audio[item_id][: audio_end_ms * SAMPLES_PER_MS]
        content[content_index]["transcript"] = ""

    def _position(self, item_id: str) -> int | None:
        return next((place for place, item in enumerate(self.items) if item["id"] == item_id), None)

    def _knows_call(self, call_id: str) -> bool:
        return any(item["type"] == "function_call" and item["call_id"] == call_id for item in self.items)

    def _place_after(self, previous_item_id: str | None) -> int:
        if not previous_item_id:
            return len(self.items)
        if previous_item_id == "root":
            return 0
        position = self._position(previous_item_id)
        if position is None:
            message = f"Error creating item: the previous item with id '{previous_item_id}' does not exist."
            raise Refusal("item_create_invalid_previous_item_id", message, param="previous_item_id")
        return position + 1
