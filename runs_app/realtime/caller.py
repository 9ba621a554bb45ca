"""The caller's side of a turn: said in real time, at once, or typed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runs_app.realtime.detection import CallerSaid
from runs_app.realtime.formats import AudioFormat, WireSpeech, wire_speech
from runs_app.realtime.line import Line
from runs_app.realtime.microphone import Microphone
from runs_app.realtime.pacing import Cadence, Lag, pacing_of
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS, CallerLine, Json, Span
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.turns import TurnDraft


class Utterance(NamedTuple):
    """A turn ready to be said: its audio, the same in the coding of the wire, and the sample where the voice ends."""

    text: str
    audio: Int16
    wire: WireSpeech
    voice_end: int
    line: CallerLine | None = None
    recording: str | None = None


@dataclass
class Speech:
    """An utterance on its way. `start` is a sample of the recording."""

    turn: TurnDraft
    said: Utterance
    cadence: Cadence
    start: int
    chunks: int = 0
    bytes: int = 0
    lags: list[Lag] = field(default_factory=list)
    gaps: int = 0
    gap_samples: int = 0
    shifts: list[tuple[int, int]] = field(default_factory=list)  # from this sample of the words on, so much later


async def type_turn(line: Line, text: str) -> TurnDraft:
    """A whole turn in text mode. `sent_ms` is the sending of the item."""
    journal = line.journal
    now_s = journal.clock.now_s()
    journal.timeline.begin(now_s)
    journal.log.flush()
    turn = journal.begin_turn(text, now_s)
    turn.sent_ms = journal.timeline.t_ms(now_s)
    _note_sent(line, turn, now_s)
    await line.send(journal.plan.dialect.message("user", text))
    return turn


async def prepare(line: Line, planned: PlannedTurn) -> Utterance:
    """Coding a long utterance takes milliseconds, and the loop serves others; so does whoever is to speak now."""
    return await asyncio.to_thread(_utterance, planned, line.journal.caller_format)


def _utterance(planned: PlannedTurn, form: AudioFormat) -> Utterance:
    assert planned.audio is not None
    spans = planned.line.voice if planned.line else voiced(planned.audio)
    voice_end = spans[-1].end if spans else planned.audio.size
    wire = wire_speech(planned.audio, form)
    return Utterance(planned.text, planned.audio, wire, voice_end, planned.line, planned.recording)


async def begin(line: Line, microphone: Microphone, said: Utterance, *, over: bool) -> Speech:
    """Take the microphone; nothing is said yet. `over`: while the agent still speaks."""
    journal = line.journal
    start_s = await microphone.take()
    start = journal.timeline.start_turn(start_s, over=over)
    journal.log.flush()
    turn = journal.begin_turn(said.text, journal.clock.now_s())
    return Speech(turn, said, Cadence(start_s), start)


async def speak(line: Line, microphone: Microphone, speech: Speech) -> None:
    """Say it all. `sent_ms` is the commit, or where the server ends the turn the last voiced sample."""
    journal = line.journal
    try:
        await _stream(line, speech)
    finally:
        speech.turn.caller = Span(speech.start, journal.timeline.caller.end)
        speech.turn.line = _line_as_sent(speech, speech.turn.caller)
        _note_spoken(line, speech)
    if journal.plan.turn_detection is not None:
        microphone.stay_open(speech.cadence.due_s)
        return
    if journal.plan.real_time:
        await line.wait_until(speech.cadence.due_s)
    said_s = journal.clock.now_s()
    journal.timeline.end_turn_of_caller(said_s)
    speech.turn.sent_ms = journal.timeline.t_ms(said_s)
    _note_sent(line, speech.turn, said_s)
    await line.send(journal.plan.dialect.commit())


async def _stream(line: Line, speech: Speech) -> None:
    """Every chunk when it is due. Not in real time: at once, but for the silence that a server has to detect."""
    journal = line.journal
    detected, real_time = journal.plan.turn_detection is not None, journal.plan.real_time
    for first, last in _chunks(speech, journal.plan.chunk_ms, apart=detected and not real_time):
        paced = real_time or (detected and first >= speech.said.voice_end)
        # Also not in real time: a sleep that is over lets the loop serve others.
        await journal.clock.sleep_until(speech.cadence.due_s if paced else speech.cadence.start_s)
        if real_time:
            _mind_the_gap(line, speech, first)
        journal.timeline.place_caller(speech.start + speech.gap_samples + first, speech.said.audio[first:last])
        if paced:
            speech.cadence.advance(last - first)
        data = speech.said.wire.piece(first, last)
        speech.chunks += 1
        speech.bytes += len(data)
        await line.send_truncations()
        await line.send_audio(journal.plan.dialect.append(data))
        if detected and first < speech.said.voice_end <= last:
            _note_voice_end(line, speech)


def _chunks(speech: Speech, chunk_ms: int, *, apart: bool) -> Iterator[tuple[int, int]]:
    """Samples [first, last) of each chunk. `apart`: what follows the voice is in no chunk with it."""
    size, first = chunk_ms * SAMPLES_PER_MS, 0
    while first < speech.said.audio.size:
        last = min(first + size, speech.said.audio.size)
        if apart and first < speech.said.voice_end < last:
            last = speech.said.voice_end
        yield first, last
        first = last


def _mind_the_gap(line: Line, speech: Speech, first: int) -> None:
    """How late the chunk is that begins with this sample and goes out now; what it left of silence stays."""
    now_s = line.journal.clock.now_s()
    speech.lags.append(Lag(speech.cadence.lag_ms(now_s), line.journal.timeline.t_ms(now_s)))
    gap = speech.cadence.gap_samples(now_s)
    speech.gaps += gap > 0
    speech.gap_samples += gap
    line.journal.live.skipped_ms += gap / SAMPLES_PER_MS
    speech.cadence.advance(gap)
    if gap:
        speech.shifts.append((first, speech.gap_samples))


def _line_as_sent(speech: Speech, sent: Span) -> CallerLine | None:
    """The line's condition with the voice where it lies in the recording, as far as it was said."""
    line = speech.said.line
    if line is None:
        return None
    placed = [Span(_placed(speech, span.start), _placed(speech, span.end - 1) + 1) for span in line.voice]
    return replace(line, voice=tuple(Span(s.start, min(s.end, sent.end)) for s in placed if s.start < sent.end))


def _placed(speech: Speech, sample: int) -> int:
    late = max((shift for first, shift in speech.shifts if first <= sample), default=0)
    return speech.start + late + sample


def _note_voice_end(line: Line, speech: Speech) -> None:
    """Whoever waits for the answer may count from here: nothing is committed."""
    journal, turn = line.journal, speech.turn
    now_s = journal.clock.now_s()
    if not journal.plan.real_time:
        speech.cadence = Cadence(now_s)
    at = speech.start + speech.gap_samples + speech.said.voice_end
    journal.timeline.end_turn_of_caller(now_s, at)
    turn.said_s, turn.sent_ms = now_s, round(at / SAMPLES_PER_MS, 3)
    _note_sent(line, turn, now_s)
    line.signals.put_nowait(CallerSaid())
    line.news.set()


def _note_spoken(line: Line, speech: Speech) -> None:
    journal = line.journal
    journal.lags.extend(speech.lags)
    journal.chunks += speech.chunks
    pacing = pacing_of(speech.lags, speech.chunks)
    journal.log.note(
        journal.clock.now_s(),
        "caller.audio",
        source="caller",
        turn=speech.turn.index,
        chunks=speech.chunks,
        bytes=speech.bytes,
        duration_ms=round(speech.said.audio.size / SAMPLES_PER_MS, 3),
        gaps=speech.gaps,
        lag_p99_ms=pacing.lag_p99_ms,
        lag_max_ms=pacing.lag_max_ms,
        **_line_told(speech.said),
    )


def _line_told(said: Utterance) -> dict[str, Json]:
    recorded = {} if said.recording is None else {"recording": said.recording}
    if said.line is None:
        return recorded
    made = {"condition": said.line.condition, "seed": said.line.seed} if said.line.condition else {}
    return {**recorded, **made, "levels": said.line.levels}


def _note_sent(line: Line, turn: TurnDraft, at_s: float) -> None:
    line.journal.log.note(at_s, "turn.sent", source="caller", turn=turn.index)
