"""The agent's audio on the playout clock. Between its words a server sends zeros, or nothing at all: both are silence.

A stream without end never lets a listener catch up: what one late delta delayed would stay delayed. So silence is
shortened where the agent lags behind its own arrival, and a latency stays what it is.
"""

from __future__ import annotations

import numpy as np

from runs_app.realtime.dialects.base import Place
from runs_app.realtime.frames import Frame
from runs_app.realtime.journal import Journal
from runs_app.realtime.live.events import LiveSound
from runs_app.realtime.live.state import STRETCH_GAP_MS, Stretch
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS, Span
from runs_app.realtime.speech_edges import SPEECH_RMS, voiced

PLACE = Place()
ZEROS = ("A=", "/=")  # what silence looks like in base64: PCM16, µ-law
PAUSE_SAMPLES = 500 * SAMPLES_PER_MS  # as long a silence within speech is part of it
BREATH_SAMPLES = 200 * SAMPLES_PER_MS  # a longer one may be shortened


def is_kept_back(journal: Journal, frame: Frame, at_s: float) -> bool:
    """Whether a frame holds nothing but silence: those are told together, as soon as something else is heard."""
    delta = frame.body.get("delta")
    if frame.type != "session.output_audio.delta" or not isinstance(delta, str):
        return False
    live = journal.live
    if any(not delta.strip(silence) for silence in ZEROS):
        form = journal.agent_format
        live.zeros += 1
        live.zeros_ms += len(delta.rstrip("=")) * 3 // 4 / form.sample_bytes * 1000 / form.rate_hz
        return True
    tell_silence(journal, at_s)
    return False


def tell_silence(journal: Journal, at_s: float) -> None:
    live = journal.live
    if live.zeros:
        journal.log.note(at_s, "agent.silence", source="agent", deltas=live.zeros, duration_ms=round(live.zeros_ms, 3))
    live.zeros, live.zeros_ms = 0, 0.0


def on_sound(journal: Journal, event: LiveSound, at_s: float) -> None:
    if journal.turn is None:
        journal.warn("deltas_before_first_turn")
        return
    if journal.live.closing_ms is not None:
        journal.warn("late_deltas")
        return
    samples, held = journal.sound.decode(PLACE, event.data, journal.agent_format)
    if not samples.size:
        return
    paced = at_s - journal.live.arrived_s >= samples.size / RATE_HZ / 2
    journal.live.arrived_s = at_s
    at_s -= held / RATE_HZ
    spoken = voiced(samples) if int(np.abs(samples.astype(np.int32)).max()) >= SPEECH_RMS else []
    if spoken:
        _place_speech(journal, samples, spoken, at_s, paced=paced)
    else:
        _place_silence(journal, samples, at_s, paced=paced)


def end_sound(journal: Journal) -> None:
    """The stream is over: half a sample of it is nothing that could be heard."""
    if dangling := journal.sound.finish(None).dangling:
        journal.warn("dangling_audio_byte", count=dangling)


def _place_speech(journal: Journal, samples: Int16, spoken: list[Span], at_s: float, *, paced: bool) -> None:
    """Sound that came in one burst with silence before it is heard after that silence."""
    live = journal.live
    waits_s = 0.0 if paced else max(0, live.hushed_to - journal.timeline.sample_at(at_s)) / RATE_HZ
    live.hushed_to = 0
    span = journal.timeline.place_agent(at_s + waits_s, samples)
    heard = [Span(span.start + part.start, span.start + part.end) for part in spoken]
    stretches = [_stretch(journal, part) for part in heard]
    turn, now_ms = stretches[0].turn, journal.timeline.t_ms(at_s)
    for part in (*(live.quiet if live.quiet_samples <= PAUSE_SAMPLES else ()), span):
        turn.add_sound(PLACE, part, now_ms)
    turn.began_s.setdefault(None, at_s)
    live.quiet, live.quiet_samples, live.news_ms = [], 0, now_ms


def _stretch(journal: Journal, heard: Span) -> Stretch:
    """The stretch that goes on, or a new one of the turn that is being held."""
    live, start_ms, end_ms = journal.live, heard.start / SAMPLES_PER_MS, heard.end / SAMPLES_PER_MS
    last = live.stretches[-1] if live.stretches else None
    if last is not None and start_ms - last.end_ms <= STRETCH_GAP_MS:
        last.end_ms = end_ms
        return last
    assert journal.turn is not None
    live.stretches.append(Stretch(journal.turn, start_ms, end_ms))
    return live.stretches[-1]


def _place_silence(journal: Journal, samples: Int16, at_s: float, *, paced: bool) -> None:
    """`paced`: it did not come at once with what came before. Who sends a burst means its pauses."""
    live, timeline = journal.live, journal.timeline
    behind = timeline.agent.end - timeline.sample_at(at_s)
    live.quiet_samples += samples.size
    if paced and behind > 0 and live.quiet_samples > BREATH_SAMPLES:
        samples = samples[min(behind, samples.size) :]
    if not samples.size or (behind <= 0 and not samples.any()):
        live.hushed_to = max(live.hushed_to, timeline.sample_at(at_s)) + samples.size
        return  # where nothing lies, silence is heard
    live.quiet.append(timeline.place_agent(at_s, samples))
    if live.quiet_samples > PAUSE_SAMPLES:
        live.quiet = []
