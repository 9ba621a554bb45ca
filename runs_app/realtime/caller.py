"""The caller's side of a turn: said in real time, at once, or typed; then the agent is asked to answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runs_app.realtime.line import Line
from runs_app.realtime.pacing import Cadence, Lag, pacing_of
from runs_app.realtime.pcm import Int16, pcm16_ms, to_bytes
from runs_app.realtime.plan import PlannedTurn
from runs_app.realtime.record import SAMPLES_PER_MS, Span
from runs_app.realtime.turns import TurnDraft


@dataclass
class Spoken:
    """What became of one turn's audio."""

    start: int
    chunks: int = 0
    bytes: int = 0
    lags: list[Lag] = field(default_factory=list)
    gaps: int = 0


async def say(line: Line, planned: PlannedTurn) -> TurnDraft:
    """The whole turn but for the request to answer. `sent_ms` is the commit (text: the item)."""
    if planned.audio is None:
        return await _type(line, planned.text)
    return await _speak(line, planned.text, planned.audio)


async def _type(line: Line, text: str) -> TurnDraft:
    journal = line.journal
    now_s = journal.clock.now_s()
    journal.timeline.begin(now_s)
    journal.log.flush()
    turn = journal.begin_turn(text, now_s)
    _mark_sent(line, turn, now_s)
    await line.send(journal.plan.dialect.message("user", text))
    return turn


async def _speak(line: Line, text: str, audio: Int16) -> TurnDraft:
    journal = line.journal
    clock, timeline = journal.clock, journal.timeline
    await line.wait_until(timeline.played_out_s(clock.now_s()))
    start_s = clock.now_s()
    spoken = Spoken(timeline.start_turn(start_s))
    journal.log.flush()
    turn = journal.begin_turn(text, start_s)
    try:
        await _stream(line, audio, Cadence(start_s), spoken)
    finally:
        turn.caller = Span(spoken.start, timeline.caller.end)
        _note_spoken(line, turn, spoken)
    said_s = clock.now_s()
    timeline.end_turn_of_caller(said_s)
    _mark_sent(line, turn, said_s)
    await line.send(journal.plan.dialect.commit())
    return turn


async def _stream(line: Line, audio: Int16, cadence: Cadence, spoken: Spoken) -> None:
    """Every chunk when it is due; in the end until the last one has been said. Not in real time: at once."""
    journal = line.journal
    real_time = journal.plan.real_time
    for chunk in _chunks(audio, journal.plan.chunk_ms):
        # Also not in real time: a sleep that is over lets the loop serve others.
        await journal.clock.sleep_until(cadence.due_s if real_time else cadence.start_s)
        now_s = journal.clock.now_s()
        if real_time:
            spoken.lags.append(Lag(cadence.lag_ms(now_s), journal.timeline.t_ms(now_s)))
            gap = cadence.gap_samples(now_s)
            spoken.gaps += gap > 0
            cadence.advance(gap)
        journal.timeline.place_caller(spoken.start + cadence.due_sample, chunk)
        cadence.advance(chunk.size)
        data = to_bytes(chunk)
        spoken.chunks += 1
        spoken.bytes += len(data)
        await line.send_audio(journal.plan.dialect.append(data))
    if real_time:
        await line.wait_until(cadence.due_s)


def _chunks(audio: Int16, chunk_ms: int) -> Iterator[Int16]:
    size = chunk_ms * SAMPLES_PER_MS
    return (audio[start : start + size] for start in range(0, audio.size, size))


def _note_spoken(line: Line, turn: TurnDraft, spoken: Spoken) -> None:
    journal = line.journal
    journal.lags.extend(spoken.lags)
    journal.chunks += spoken.chunks
    pacing = pacing_of(spoken.lags, spoken.chunks)
    journal.log.note(
        journal.clock.now_s(),
        "caller.audio",
        source="caller",
        turn=turn.index,
        chunks=spoken.chunks,
        bytes=spoken.bytes,
        duration_ms=pcm16_ms(spoken.bytes),
        gaps=spoken.gaps,
        lag_p99_ms=pacing.lag_p99_ms,
        lag_max_ms=pacing.lag_max_ms,
    )


def _mark_sent(line: Line, turn: TurnDraft, at_s: float) -> None:
    turn.sent_ms = line.journal.timeline.t_ms(at_s)
    line.journal.log.note(at_s, "turn.sent", source="caller", turn=turn.index)
