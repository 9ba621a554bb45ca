"""How outputs of a response go over the wire: messages by words and sound, function calls by pieces of arguments."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from runs_app.simulator.items import Samples
from runs_app.simulator.usage import Tokens, text_tokens
from runs_app.simulator.wire import Json, new_id

if TYPE_CHECKING:
    from runs_app.simulator.clerk import Call
    from runs_app.simulator.response import Response

_CHUNK_BYTES = 4_800  # 100 ms
_BYTES_PER_S = 48_000
_WORDS_PER_DELTA = 3
_TEXT_PAUSE_S = 0.015
_LETTERS_PER_DELTA = 12

Step = tuple[Literal["words", "sound"], str | bytes]


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
    steps = list(_speech_steps(response, text, sound))
    late = [steps.pop()] if "late_audio" in response.stage.options.faults else []
    said, sent = "", b""
    bytes_per_s = _BYTES_PER_S * response.stage.options.audio_speed
    started = asyncio.get_running_loop().time()
    for number, (kind, piece) in enumerate(steps):
        due = started + len(sent) / bytes_per_s
        if await response.pause(due - asyncio.get_running_loop().time()):
            break
        if kind == "words":
            said += str(piece)
        else:
            sent += bytes(piece) if isinstance(piece, bytes) else b""
        await _emit_step(response, where, kind, piece)
        _keep_sound(response, where["item_id"], sent)
        if number == len(steps) // 2:
            await response.midway()
    await response.emit({"type": "response.output_audio.done", **where})
    for kind, piece in late:
        await _emit_step(response, where, kind, piece)
        _keep_sound(response, where["item_id"], sent + bytes(piece) if isinstance(piece, bytes) else sent)
    await response.emit({"type": "response.output_audio_transcript.done", **where, "transcript": said})
    response.answered += Tokens(text=text_tokens(said), audio=math.ceil(len(sent) / _BYTES_PER_S * 20))
    return said


async def _emit_step(response: Response, where: dict[str, Json], kind: str, piece: str | bytes) -> None:
    if isinstance(piece, bytes):
        delta = base64.b64encode(piece).decode()
        await response.emit({"type": "response.output_audio.delta", **where, "delta": delta})
    else:
        await response.emit({"type": "response.output_audio_transcript.delta", **where, "delta": piece})


def _keep_sound(response: Response, item_id: str, sent: bytes) -> None:
    if item_id in response.stage.conversation.audio:
        samples = np.frombuffer(sent[: len(sent) // 2 * 2], "<i2")
        response.stage.conversation.audio[item_id] = samples


def _speech_steps(response: Response, text: str, sound: Samples) -> Iterator[Step]:
    faults = response.stage.options.faults
    data = sound.astype("<i2").tobytes() + (b"\0" if "dangling_byte" in faults else b"")
    sizes = (1, 4_799, 3, 9_601) if "odd_audio" in faults else (_CHUNK_BYTES,)
    chunks = list(_cut(data, sizes))
    for words, chunk in itertools.zip_longest(_word_groups(text, len(chunks)), chunks):
        if words:
            yield "words", words
        yield "sound", chunk


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
