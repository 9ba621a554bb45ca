"""What the spoken items of one session say: listened to once, told to the clerk and, if wanted, to the client.

Turn detection may cut one utterance in two, wherever its speaker breathes. The parts that no reply came between are
one utterance: they are heard together, with the silence that lay between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from runs_app.simulator.desk import Desk
from runs_app.simulator.ear import Ear, Heard
from runs_app.simulator.formats import Samples
from runs_app.simulator.partial import is_unfinished, is_whole, words_between
from runs_app.simulator.wire import Json

_KIND = "conversation.item.input_audio_transcription"


class Span(NamedTuple):
    """Where on the session's clock (samples at 24 kHz) an item's audio lies."""

    start: int
    end: int


@dataclass(frozen=True)
class Understood:
    """What was said, by item id (None: not understood). `merged` items are told with a later one; `unfinished`: the
    last words ask for more to come."""

    texts: dict[str, str | None]
    merged: frozenset[str] = frozenset()
    unfinished: bool = False


class Hearing:
    """`quiet` is set while no response is under way: late transcripts wait for it."""

    def __init__(self, desk: Desk, ear: Ear) -> None:
        self.quiet = asyncio.Event()
        self.quiet.set()
        self._desk, self._ear = desk, ear
        self._heard: dict[str, asyncio.Future[Heard]] = {}
        self._spans: dict[str, Span] = {}

    def listen(self, item: dict[str, Json], samples: Samples, span: Span | None = None) -> None:
        """Hear `item` in the background, and tell its transcript where the session wants that.

        `span`: where turn detection found it; an item without one is whole in itself.
        """
        self._desk.conversation.audio[item["id"]] = samples
        self._heard[item["id"]] = asyncio.get_running_loop().create_future()
        if span is not None:
            self._spans[item["id"]] = span
        self._desk.start(self._hear(item, samples))

    def know_silence(self, item: dict[str, Json], samples: Samples) -> None:
        """`item` is the silence of a caller who was asked something: there is nothing to hear in it."""
        self._desk.conversation.audio[item["id"]] = samples
        self._heard[item["id"]] = asyncio.get_running_loop().create_future()
        self._heard[item["id"]].set_result(Heard("", 0.0, 0.0))

    async def sounds_complete(self, samples: Samples) -> bool:
        """Whether `samples` end where a known sentence ends: what semantic turn detection asks for."""
        return is_whole(await self._ear.listen(samples))

    async def understand(self, items: list[dict[str, Json]]) -> Understood:
        """What the spoken ones of `items` say."""
        known = [item["id"] for item in items if item["id"] in self._heard]
        # who is interrupted while it waits takes nothing from those who ask later
        heard = {item_id: await asyncio.shield(self._heard[item_id]) for item_id in known}
        texts = {item_id: self._words(item_id, one) for item_id, one in heard.items()}
        merged: set[str] = set()
        unfinished = False
        for group in self._utterances(items):
            together = await self._together(group) if len(group) > 1 else heard[group[0]]
            unfinished = is_unfinished(together)
            if len(group) > 1:
                texts[group[-1]] = joined_words(together, [heard[item_id] for item_id in group])
                merged |= {*group[:-1]}
        return Understood(texts, frozenset(merged), unfinished and _ends_with_caller(items))

    def _utterances(self, items: Iterable[dict[str, Json]]) -> list[list[str]]:
        """Item ids that turn detection found, in groups that nothing was said or done between."""
        groups: list[list[str]] = []
        open_group = False
        for item in items:
            if item["id"] in self._spans:
                if not open_group:
                    groups.append([])
                groups[-1].append(item["id"])
                open_group = True
            elif not self._is_silent_reply(item):
                open_group = False
        return groups

    def _is_silent_reply(self, item: dict[str, Json]) -> bool:
        """A reply that was interrupted before its first word. One cut later may have lost its words, not its sound."""
        sound = self._desk.conversation.audio.get(item["id"], ())
        if item.get("role") != "assistant" or len(sound):
            return False
        return not any(part.get("text") or part.get("transcript") for part in item["content"])

    async def _together(self, group: list[str]) -> Heard:
        audio: list[Samples] = []
        for number, item_id in enumerate(group):
            gap = self._spans[item_id].start - self._spans[group[number - 1]].end if number else 0
            audio += [np.zeros(max(gap, 0), np.int16), self._desk.conversation.audio[item_id]]
        return await self._ear.listen(np.concatenate(audio))

    def _words(self, item_id: str, heard: Heard) -> str | None:
        """All of the sentence where somebody committed it; what was really there where turn detection cut it out."""
        if heard.text is None or item_id not in self._spans:
            return heard.text
        return words_between(heard.text, heard.begin, heard.end)

    async def _hear(self, item: dict[str, Json], samples: Samples) -> None:
        heard = await self._ear.listen(samples)
        self._heard[item["id"]].set_result(heard)
        if self._desk.audio_input["transcription"] is not None:
            await self._transcribe(item, samples, self._words(item["id"], heard))

    async def _transcribe(self, item: dict[str, Json], samples: Samples, text: str | None) -> None:
        item["content"][0]["transcript"] = text
        if "late_transcript" in self._desk.options.faults:
            await asyncio.sleep(0.05)  # until the response has begun
            await self.quiet.wait()
        place = {"item_id": item["id"], "content_index": 0}
        if text is None:
            error = {"type": "transcription_error", "code": "audio_unintelligible", "param": None}
            error["message"] = "The audio could not be understood."
            await self._desk.emit({"type": f"{_KIND}.failed", **place, "error": error})
            return
        await self._desk.emit({"type": f"{_KIND}.delta", **place, "delta": text})
        usage = {"type": "duration", "seconds": round(len(samples) / 24_000, 3)}
        await self._desk.emit({"type": f"{_KIND}.completed", **place, "transcript": text, "usage": usage})


def joined_words(together: Heard, parts: list[Heard]) -> str | None:
    """The words of an utterance that was cut in parts."""
    if is_whole(together):
        return together.text
    known = [part for part in parts if part.text is not None]
    said: list[tuple[str, float, float]] = []
    for part in known:
        text = part.text or ""
        if said and said[-1][0] == text and part.begin >= said[-1][1]:
            said[-1] = (text, said[-1][1], max(said[-1][2], part.end))
        else:
            said.append((text, part.begin, part.end))
    return " ".join(words_between(*one) for one in said) or None


def _ends_with_caller(items: list[dict[str, Json]]) -> bool:
    return bool(items) and items[-1].get("role") == "user"
