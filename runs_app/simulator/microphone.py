"""The input audio of one session: appended, cleared, committed."""

from __future__ import annotations

from runs_app.simulator.audio_buffer import AudioBuffer
from runs_app.simulator.desk import Desk
from runs_app.simulator.hearing import Hearing
from runs_app.simulator.items import Samples
from runs_app.simulator.wire import Json, Refusal, new_id


class Microphone:
    def __init__(self, desk: Desk, hearing: Hearing) -> None:
        self._desk, self._hearing = desk, hearing
        self._buffer = AudioBuffer()

    async def append(self, audio: str) -> None:
        if self._desk.audio_input["turn_detection"] is not None:
            message = (
                "This simulator does not detect turns by itself yet: "
                "set session.audio.input.turn_detection to null, commit the audio and ask for a response."
            )
            raise Refusal("invalid_value", message, param="session.audio.input.turn_detection")
        self._buffer.append(audio)

    async def commit(self) -> None:
        await self._commit(self._buffer.commit(), new_id("item"))

    async def clear(self) -> None:
        self._buffer.clear()
        await self._desk.emit({"type": "input_audio_buffer.cleared"})

    async def _commit(self, samples: Samples, item_id: str) -> None:
        item: dict[str, Json] = {"id": item_id, "object": "realtime.item", "type": "message", "role": "user"}
        item |= {"status": "completed", "content": [{"type": "input_audio", "transcript": None}]}
        before = self._desk.conversation.insert(item)
        committed = {"type": "input_audio_buffer.committed", "item_id": item_id, "previous_item_id": before}
        await self._desk.emit(committed)
        await self._desk.mirror(item, before)
        self._hearing.listen(item, samples)
