"""What the spoken items of one session say: listened to once, told to the clerk and, if wanted, to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from runs_app.simulator.desk import Desk
from runs_app.simulator.ear import Ear
from runs_app.simulator.items import Samples
from runs_app.simulator.wire import Json

_KIND = "conversation.item.input_audio_transcription"


class Hearing:
    """`quiet` is set while no response is under way: late transcripts wait for it."""

    def __init__(self, desk: Desk, ear: Ear) -> None:
        self.quiet = asyncio.Event()
        self.quiet.set()
        self._desk, self._ear = desk, ear
        self._heard: dict[str, asyncio.Future[str | None]] = {}

    def listen(self, item: dict[str, Json], samples: Samples) -> None:
        """Hear `item` in the background, and tell its transcript where the session wants that."""
        self._desk.conversation.audio[item["id"]] = samples
        self._heard[item["id"]] = asyncio.get_running_loop().create_future()
        self._desk.start(self._hear(item, samples))

    async def texts(self, items: Iterable[dict[str, Json]]) -> dict[str, str | None]:
        """By item id what was heard of the spoken ones; None: not understood."""
        return {item["id"]: await self._heard[item["id"]] for item in items if item["id"] in self._heard}

    async def _hear(self, item: dict[str, Json], samples: Samples) -> None:
        heard = await self._ear.listen(samples)
        self._heard[item["id"]].set_result(heard.text)
        if self._desk.audio_input["transcription"] is not None:
            await self._transcribe(item, samples, heard.text)

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
