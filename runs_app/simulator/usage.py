"""Tokens as `response.done.usage` tells them: text by length, audio by time, as the real service roughly counts."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from runs_app.simulator.conversation import SAMPLES_PER_MS
from runs_app.simulator.formats import Samples
from runs_app.simulator.wire import Json

_LETTERS_PER_TOKEN = 4
_USER_MS_PER_TOKEN, _ASSISTANT_MS_PER_TOKEN = 100, 50


@dataclass(frozen=True)
class Tokens:
    text: int = 0
    audio: int = 0

    @property
    def total(self) -> int:
        return self.text + self.audio

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.text + other.text, self.audio + other.audio)

    def no_more_than(self, other: Tokens) -> Tokens:
        return Tokens(min(self.text, other.text), min(self.audio, other.audio))


def text_tokens(text: str) -> int:
    return math.ceil(len(text) / _LETTERS_PER_TOKEN)


def item_tokens(item: dict[str, Json], audio: Samples | None) -> Tokens:
    """What one item weighs: its audio if it was spoken, else its words."""
    if audio is not None:
        ms_per_token = _USER_MS_PER_TOKEN if item.get("role") == "user" else _ASSISTANT_MS_PER_TOKEN
        return Tokens(audio=math.ceil(len(audio) / SAMPLES_PER_MS / ms_per_token)) + Tokens(text=_spoken_words(item))
    words = [part.get("text") or "" for part in item.get("content", ())]
    words += [item.get("arguments") or "", item.get("output") or ""]
    return Tokens(text=sum(map(text_tokens, words)))


def prompt_tokens(instructions: str, tools: list[dict[str, Json]]) -> Tokens:
    return Tokens(text=text_tokens(instructions) + sum(text_tokens(json.dumps(tool)) for tool in tools))


def usage_object(asked: Tokens, cached: Tokens, answered: Tokens) -> dict[str, Json]:
    """The `usage` of a response: `cached` is the part of `asked` that the response before had already read."""
    return {
        "total_tokens": asked.total + answered.total,
        "input_tokens": asked.total,
        "output_tokens": answered.total,
        "input_token_details": {
            "text_tokens": asked.text,
            "audio_tokens": asked.audio,
            "image_tokens": 0,
            "cached_tokens": cached.total,
            "cached_tokens_details": {"text_tokens": cached.text, "audio_tokens": cached.audio, "image_tokens": 0},
        },
        "output_token_details": {"text_tokens": answered.text, "audio_tokens": answered.audio},
    }


def _spoken_words(item: dict[str, Json]) -> int:
    """A reply that was spoken was also written: its transcript counts. What a caller said counts as sound alone."""
    if item.get("role") != "assistant":
        return 0
    return sum(text_tokens(part.get("transcript") or "") for part in item["content"])
