"""The caller's side of a turn: said in real time, at once, or typed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from runs_app.realtime.detection import CallerSaid
from runs_app.realtime.formats import AudioFormat, WireSpeech, wire_speech
from runs_app.realtime.line import Line
from runs_app.realtime.microphone import Microphone
from runs_app.realtime.pacing import Cadence, Lag, pacing_of
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS, Span
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.turns import TurnDraft


class Utterance(NamedTuple):
    """A turn ready to be said: its audio, the same in the coding of the wire, and the sample where the voice ends."""

    text: str
    audio: Int16
    wire: WireSpeech
    voice_end: int


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


async def prepare(line: Line, text: str, audio: Int16) -> Utterance:
    """Coding a long utterance takes milliseconds, and the loop serves others; so does whoever is to speak now."""
    return await asyncio.to_thread(_utterance, text, audio, line.journal.caller_format)


def _utterance(text: str, audio: Int16, form: AudioFormat) -> Utterance:
    ends = [span.end for span in voiced(audio)]
    return Utterance(text, audio, wire_speech(audio, form), ends[-1] if ends else audio.size)


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
            _mind_the_gap(line, speech)
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


def _mind_the_gap(line: Line, speech: Speech) -> None:
    """How late the chunk is that goes out now; what it left of silence stays."""
    now_s = line.journal.clock.now_s()
    speech.lags.append(Lag(speech.cadence.lag_ms(now_s), line.journal.timeline.t_ms(now_s)))
    gap = speech.cadence.gap_samples(now_s)
    speech.gaps += gap > 0
    speech.gap_samples += gap
    speech.cadence.advance(gap)


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
    )


def _note_sent(line: Line, turn: TurnDraft, at_s: float) -> None:
    line.journal.log.note(at_s, "turn.sent", source="caller", turn=turn.index)
