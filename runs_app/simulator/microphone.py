"""The input audio of one session: appended, cleared, committed by the client or by turn detection."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.simulator.answering import Answering, TurnTruth
from runs_app.simulator.audio_buffer import SAMPLES_PER_MS, AudioBuffer, too_small
from runs_app.simulator.desk import Desk
from runs_app.simulator.formats import Samples
from runs_app.simulator.hearing import Hearing, Span
from runs_app.simulator.turn_detector import Mark, TurnDetector
from runs_app.simulator.wire import Json, new_id

_SEMANTIC_PADDING_MS = 300
_KEPT_WHILE_SILENT = 6_000 * SAMPLES_PER_MS  # more than the longest prefix_padding_ms


@dataclass(frozen=True)
class _Speech:
    """Speech that has begun and not ended. `start` is where its audio begins, prefix padding included."""

    item_id: str
    start: int


class Microphone:
    """Times on the wire are milliseconds of all audio appended so far: that is the session's only clock."""

    def __init__(self, desk: Desk, hearing: Hearing, answering: Answering) -> None:
        self._desk, self._hearing, self._answering = desk, hearing, answering
        self._buffer = AudioBuffer()
        self._detector: TurnDetector | None = None
        self._settings: dict[str, Json] = {}
        self._speech: _Speech | None = None
        self._taken_to = 0  # on the clock: what lies before belongs to an item

    async def append(self, audio: str) -> None:
        form, detector = self._desk.input_format, self._current_detector()
        samples = self._buffer.append(audio, form)
        self._desk.clock_ms = self._buffer.clock / SAMPLES_PER_MS
        if detector is None:
            return
        for mark in detector.feed(samples, form.rate_hz):
            await self._react(mark, detector)
        if self._speech is None:
            self._buffer.drop_before(self._buffer.clock - _KEPT_WHILE_SILENT)
            await self._mind_the_silence()

    async def commit(self) -> None:
        """What the client itself commits: everything, or under turn detection the speech that is under way."""
        detector = self._current_detector()
        if detector is None:
            samples = self._buffer.commit()
            self._taken_to = self._buffer.clock
            await self._add_item(new_id("item"), samples, None)
            return
        if self._speech is None:
            raise too_small(0.0)
        detector.stop()
        await self._take(self._speech, self._buffer.clock)

    async def clear(self) -> None:
        self._buffer.clear()
        self._speech = None
        if self._detector is not None:
            self._detector.stop()
        await self._desk.emit({"type": "input_audio_buffer.cleared"})

    def _current_detector(self) -> TurnDetector | None:
        """The detector that the session's settings ask for; what it knows stays when only its numbers change."""
        settings = self._desk.audio_input["turn_detection"]
        if settings is None:
            self._detector = self._speech = None
        elif self._detector is None:
            self._detector = TurnDetector(settings, self._buffer.clock)
        elif settings is not self._settings:
            self._detector.configure(settings)
        self._settings = settings
        return self._detector

    async def _react(self, mark: Mark, detector: TurnDetector) -> None:
        if mark.kind == "started":
            await self._begin(mark.place)
        elif self._speech is None:
            return
        elif mark.kind == "stopped":
            await self._end(self._speech, mark)
        elif await self._hearing.sounds_complete(self._buffer.copy(self._speech.start, mark.place)):
            detector.stop()
            await self._end(self._speech, mark)

    async def _begin(self, place: int) -> None:
        padding = self._settings.get("prefix_padding_ms", _SEMANTIC_PADDING_MS) * SAMPLES_PER_MS
        start = max(place - padding, self._taken_to, self._buffer.start)
        self._speech = _Speech(new_id("item"), start)
        self._desk.silent_since_ms = None
        event = {"type": "input_audio_buffer.speech_started", "item_id": self._speech.item_id}
        await self._desk.emit(event | {"audio_start_ms": start // SAMPLES_PER_MS})
        if self._settings["interrupt_response"]:
            self._answering.interrupt()

    async def _end(self, speech: _Speech, mark: Mark) -> None:
        event = {"type": "input_audio_buffer.speech_stopped", "item_id": speech.item_id}
        await self._desk.emit(event | {"audio_end_ms": mark.place // SAMPLES_PER_MS})
        await self._take(speech, mark.place)
        if self._settings["create_response"]:
            await self._answering.answer_turn(TurnTruth(mark.speech_end / SAMPLES_PER_MS, mark.place / SAMPLES_PER_MS))

    async def _take(self, speech: _Speech, end: int) -> None:
        self._speech, self._taken_to = None, end
        self._desk.silent_since_ms = None
        samples = self._buffer.take(speech.start, end)
        await self._add_item(speech.item_id, samples, Span(speech.start, end))

    async def _add_item(self, item_id: str, samples: Samples, span: Span | None, *, silent: bool = False) -> None:
        item: dict[str, Json] = {"id": item_id, "object": "realtime.item", "type": "message", "role": "user"}
        item |= {"status": "completed", "content": [{"type": "input_audio", "transcript": None}]}
        before = self._desk.conversation.insert(item)
        committed = {"type": "input_audio_buffer.committed", "item_id": item_id, "previous_item_id": before}
        await self._desk.emit(committed)
        await self._desk.mirror(item, before)
        if silent:
            self._hearing.know_silence(item, samples)
        else:
            self._hearing.listen(item, samples, span)

    async def _mind_the_silence(self) -> None:
        """idle_timeout_ms: a caller who says nothing after the agent has finished is asked again."""
        patience_ms, since_ms = self._settings.get("idle_timeout_ms"), self._desk.silent_since_ms
        if patience_ms is None or since_ms is None or self._desk.clock_ms - since_ms < patience_ms:
            return
        self._desk.silent_since_ms = None
        place, item_id = self._buffer.clock, new_id("item")
        event = {"type": "input_audio_buffer.timeout_triggered", "item_id": item_id}
        await self._desk.emit(event | {"audio_start_ms": int(since_ms), "audio_end_ms": int(self._desk.clock_ms)})
        samples = self._buffer.take(int(since_ms) * SAMPLES_PER_MS, place)
        self._taken_to = place
        await self._add_item(item_id, samples, None, silent=True)
        await self._answering.answer_turn(TurnTruth(since_ms, self._desk.clock_ms))
