"""How outputs of a response go over the wire: messages by words and sound, function calls by pieces of arguments."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs_app.simulator.conversation import SAMPLES_PER_MS
from runs_app.simulator.formats import RATE_HZ, Samples, resampled
from runs_app.simulator.usage import Tokens, text_tokens
from runs_app.simulator.wire import Json, new_id

if TYPE_CHECKING:
    from runs_app.simulator.clerk import Call
    from runs_app.simulator.response import Response

_CHUNK_MS = 100
_LATE_STEPS = 5
_WORDS_PER_DELTA = 3
_MS_PER_TOKEN = 50
_TEXT_PAUSE_S = 0.015
_LETTERS_PER_DELTA = 12

Step = str | bytes  # words, or sound


async def stream_message(response: Response, text: str, sound: Samples | None) -> None:
    """A spoken message, or a written one when `sound` is None."""
    item: dict[str, Json] = {"id": new_id("item"), "object": "realtime.item", "type": "message"}
    item |= {"status": "in_progress", "role": "assistant", "content": []}
    index = await response.add_item(item, None if sound is None else sound[:0])
    where = {"response_id": response.id, "item_id": item["id"], "output_index": index, "content_index": 0}
    part = {"type": "text", "text": ""} if sound is None else {"type": "audio", "transcript": ""}
    await response.emit({"type": "response.content_part.added", **where, "part": part})
    if sound is None:
        said = await _stream_text(response, where, text)
        item["content"] = [{"type": "output_text", "text": said}]
        part = {"type": "text", "text": said}
    else:
        said = await _stream_speech(response, where, text, sound)
        item["content"] = [{"type": "output_audio", "transcript": said}]
        part = {"type": "audio", "transcript": said}
    await response.emit({"type": "response.content_part.done", **where, "part": part})
    await response.finish_item(index)


async def _stream_text(response: Response, where: dict[str, Json], text: str) -> str:
    said = ""
    pieces = list(_word_groups(text, math.ceil(len(text.split(" ")) / _WORDS_PER_DELTA)))
    for number, piece in enumerate(pieces):
        if await response.pause(_TEXT_PAUSE_S if number else 0):
            break
        said += piece
        await response.emit({"type": "response.output_text.delta", **where, "delta": piece})
        if number == len(pieces) // 2:
            await response.midway()
    response.answered += Tokens(text=text_tokens(said))
    await response.emit({"type": "response.output_text.done", **where, "text": said})
    return said


async def _stream_speech(response: Response, where: dict[str, Json], text: str, sound: Samples) -> str:
    """Words lead, the sound follows at its pace; returns the words whose sound was sent."""
    faults = response.stage.options.faults
    speech = _Speech(response, where, sound)
    steps = list(_speech_steps(response, text, sound))
    after_done = [steps.pop()] if "late_audio" in faults else []
    left = await speech.say(steps)
    for piece in left[:_LATE_STEPS] if "late_after_cancel" in faults else []:
        await speech.send(piece)
    await response.emit({"type": "response.output_audio.done", **where})
    for piece in after_done:
        await speech.send(piece)
    await response.emit({"type": "response.output_audio_transcript.done", **where, "transcript": speech.said})
    response.answered += Tokens(text=text_tokens(speech.said), audio=math.ceil(speech.sent_ms / _MS_PER_TOKEN))
    return speech.said


@dataclass
class _Speech:
    """A reply being said: which of its words and how much of its sound went over the wire."""

    response: Response
    where: dict[str, Json]
    sound: Samples
    said: str = ""
    sent_ms: float = 0.0

    async def say(self, steps: list[Step]) -> list[Step]:
        """Send `steps` at the session's pace; those that a cancel left over."""
        stage, loop = self.response.stage, asyncio.get_running_loop()
        started = loop.time()
        self.response.played_to_ms = max(stage.clock_ms, self.response.played_to_ms)
        for number, piece in enumerate(steps):
            due = started + self.sent_ms / 1000 / stage.options.audio_speed
            if await self.response.pause(due - loop.time()):
                return steps[number:]
            await self.send(piece)
            if number == len(steps) // 2:
                await self.response.midway()
        return []

    async def send(self, piece: Step) -> None:
        if isinstance(piece, str):
            self.said += piece
            event = {"type": "response.output_audio_transcript.delta", **self.where, "delta": piece}
        else:
            piece_ms = len(piece) / self.response.order.format.bytes_per_ms
            self.sent_ms += piece_ms
            self.response.played_to_ms += piece_ms
            delta = base64.b64encode(piece).decode()
            event = {"type": "response.output_audio.delta", **self.where, "delta": delta}
        await self.response.emit(event)
        kept = self.response.stage.conversation.audio
        if self.where["item_id"] in kept:
            kept[self.where["item_id"]] = self.sound[: int(self.sent_ms * SAMPLES_PER_MS)]


def _speech_steps(response: Response, text: str, sound: Samples) -> Iterator[Step]:
    faults, form = response.stage.options.faults, response.order.format
    data = form.write(resampled(sound, from_hz=RATE_HZ, to_hz=form.rate_hz))
    data += b"\0" if "dangling_byte" in faults else b""
    sizes = (1, 4_799, 3, 9_601) if "odd_audio" in faults else (_CHUNK_MS * form.bytes_per_ms,)
    chunks = list(_cut(data, sizes))
    for words, chunk in itertools.zip_longest(_word_groups(text, len(chunks)), chunks):
        if words:
            yield words
        yield chunk


def _cut(data: bytes, sizes: tuple[int, ...]) -> Iterator[bytes]:
    start = 0
    for size in itertools.cycle(sizes):
        if start >= len(data):
            return
        yield data[start : start + size]
        start += size


def _word_groups(text: str, groups: int) -> Iterator[str]:
    """`text` in `groups` pieces that join to it again, evenly by words; some are empty if there are fewer words."""
    words = text.split(" ")
    start = 0
    for number in range(groups):
        end = math.ceil((number + 1) * len(words) / groups)
        piece = " ".join(words[start:end])
        yield f" {piece}" if start and piece else piece
        start = end


async def stream_calls(response: Response, calls: list[Call]) -> None:
    """Function calls, the pieces of their arguments in turn."""
    faults = response.stage.options.faults
    texts = [faults.spoil(json.dumps(call.arguments, ensure_ascii=False)) for call in calls]
    indexes = [await response.add_item(_call_item(call)) for call in calls]
    said = [""] * len(calls)
    for rounds in itertools.count():
        pieces = [text[rounds * _LETTERS_PER_DELTA : (rounds + 1) * _LETTERS_PER_DELTA] for text in texts]
        if not any(pieces) or response.cancelled.is_set():
            break
        for number, piece in enumerate(pieces):
            if piece:
                said[number] += piece
                where = _call_place(response, indexes[number])
                await response.emit({"type": "response.function_call_arguments.delta", **where, "delta": piece})
        if rounds == 0:
            await response.midway()
        await response.pause(_TEXT_PAUSE_S / 3)
    for index, arguments in zip(indexes, said, strict=True):
        await _finish_call(response, index, arguments)


async def _finish_call(response: Response, index: int, arguments: str) -> None:
    item = response.output[index]
    item["arguments"] = arguments
    response.answered += Tokens(text=text_tokens(arguments))
    done = {"type": "response.function_call_arguments.done", **_call_place(response, index)}
    done |= {"name": item["name"], "arguments": arguments}
    if "missing_name" in response.stage.options.faults:
        del done["name"]
    await response.emit(done)
    await response.finish_item(index)


def _call_item(call: Call) -> dict[str, Json]:
    item: dict[str, Json] = {"id": new_id("item"), "object": "realtime.item", "type": "function_call"}
    return item | {"status": "in_progress", "name": call.name, "call_id": new_id("call"), "arguments": ""}


def _call_place(response: Response, index: int) -> dict[str, Json]:
    item = response.output[index]
    return {"response_id": response.id, "item_id": item["id"], "output_index": index, "call_id": item["call_id"]}
