"""What each received frame does to the journal. Nothing here waits: sockets and clocks are others' matter.

`hear` gives back the few events that the driving side acts upon; all else is done when it returns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runs_app.realtime import detection, faults
from runs_app.realtime.detection import CallerSaid
from runs_app.realtime.dialects.base import (
    ArgumentsPiece,
    CallerCommitted,
    CallSeen,
    Fault,
    Heard,
    Incoming,
    NoMeaning,
    Place,
    ResponseEnded,
    ResponseStarted,
    SessionSeen,
    Sound,
    SpeechStarted,
    SpeechStopped,
    Truncated,
    Unknown,
    Unreadable,
    Words,
)
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.formats import Formats, disagreements
from runs_app.realtime.frames import BadFrame, without_audio
from runs_app.realtime.journal import Journal
from runs_app.realtime.live.hearing import LIVE_HANDLERS
from runs_app.realtime.live.speech import is_kept_back
from runs_app.realtime.record import RATE_HZ
from runs_app.realtime.turns import TurnDraft

logger = logging.getLogger(__name__)

Signal = (
    SessionSeen
    | ResponseStarted
    | ResponseEnded
    | SpeechStarted
    | SpeechStopped
    | CallerCommitted
    | Truncated
    | CallerSaid
    | Fault
    | BrokenOff
)


def hear(journal: Journal, raw: str | bytes, at_s: float) -> Signal | None:
    """Record the frame, then understand it. `at_s` is when it arrived, on the journal's clock."""
    journal.messages_received += 1
    try:
        frame = journal.reader.read(raw)
    except BadFrame as exc:
        logger.warning("frame of %d characters cannot be read: %s", len(raw), exc)
        bad = {"reason": str(exc), "start": exc.shown}
        journal.log.add(at_s, "agent", "received", "malformed", bad)
        journal.warn("malformed_frame", str(exc))
        return None
    if is_kept_back(journal, frame, at_s):
        return _apply(journal, journal.plan.dialect.read(frame.body), at_s)
    journal.log.add(at_s, "agent", "received", frame.type, frame.payload)
    if journal.reader.is_repeat(frame, raw):
        journal.warn("repeated_event", frame.type)
        return None
    return _apply(journal, journal.plan.dialect.read(frame.body), at_s)


def _apply(journal: Journal, event: Incoming, at_s: float) -> Signal | None:
    signal: Signal | None = HANDLERS[type(event)](journal, event, at_s)
    return signal


def _t_ms(journal: Journal, at_s: float) -> float:
    """Times of what comes before the first turn are not kept anywhere: there is no timeline yet."""
    return journal.timeline.t_ms(at_s) if journal.timeline.zero_s is not None else 0.0


def _response_id(journal: Journal, told: str | None) -> str | None:
    """Servers leave ids out here and there: then the one response under way is meant."""
    if told is None:
        named = journal.active - {None}
        return next(iter(named)) if len(named) == 1 else None
    return told


def _named(journal: Journal, place: Place) -> Place:
    return replace(place, response_id=_response_id(journal, place.response_id))


def _turn_of(journal: Journal, place: Place) -> TurnDraft | None:
    """The turn that output belongs to; None (and a warning) for output that nobody asked for or that is over."""
    over = place.response_id is not None and place.response_id in journal.ended
    if over or place.response_id in journal.hushed:
        journal.warn("late_deltas")
        return None
    if journal.turn is None:
        journal.warn("deltas_before_first_turn")
        return None
    journal.active.add(place.response_id)
    return journal.owner_of(place.response_id)


def _on_session(journal: Journal, event: SessionSeen, at_s: float) -> Signal | None:
    journal.session = without_audio({"session": event.session})["session"]
    journal.looks_like = event.looks_like or journal.looks_like
    ours = journal.plan.dialect.name
    if event.looks_like and event.looks_like != ours:
        shape = f"the session has the shape of the {event.looks_like} dialect, and this configuration speaks {ours}"
        journal.warn("dialect_mismatch", f"{shape}: set dialect: {event.looks_like}")
    told = journal.plan.dialect.formats(event.session)
    journal.told_formats = Formats(told.input or journal.told_formats.input, told.output or journal.told_formats.output)
    if not event.updated:
        return None
    journal.session_acknowledged = True
    return _check_formats(journal) or event


def _check_formats(journal: Journal) -> BrokenOff | None:
    """Audio in another form than asked for is told, and read all the same; audio in an unknown form is the end."""
    if journal.plan.mode == "text":
        return None
    for form in (journal.caller_format, journal.agent_format):
        if not form.readable:
            return faults.unreadable_audio(str(form))
    for problem in disagreements(journal.asked_formats, journal.told_formats):
        journal.warn("audio_format", problem)
    return None


def _on_started(journal: Journal, event: ResponseStarted, at_s: float) -> Signal:
    journal.active.add(event.response_id)
    journal.owner_of(event.response_id)
    return event


def _on_words(journal: Journal, event: Words, at_s: float) -> None:
    # A whole part may well come after its response ended, and says nothing new then.
    if event.whole and event.place.response_id in journal.ended | journal.hushed:
        return
    event = replace(event, place=_named(journal, event.place))
    if turn := _turn_of(journal, event.place):
        turn.add_words(event, _t_ms(journal, at_s))


def _on_sound(journal: Journal, event: Sound, at_s: float) -> Signal | None:
    place = _named(journal, event.place)
    turn = _turn_of(journal, place)
    if turn is None:
        return None
    if journal.plan.mode == "text":
        journal.warn("audio_in_text_mode")
        return None
    unchecked = not journal.session_acknowledged and "audio_format" not in journal.warnings
    if unchecked and (unreadable := _check_formats(journal)):
        return unreadable
    samples, held = journal.sound.decode(place, event.data, journal.agent_format)
    span = journal.timeline.place_agent(at_s - held / RATE_HZ, samples)
    turn.add_sound(place, span, _t_ms(journal, at_s))
    return None


def _on_call(journal: Journal, event: CallSeen, at_s: float) -> None:
    if event.response_id is not None and event.response_id not in journal.ended:
        journal.active.add(event.response_id)
    if not journal.calls.see(event, _t_ms(journal, at_s)):
        journal.warn("repeated_call_id", event.call_id or "")


def _on_arguments(journal: Journal, event: ArgumentsPiece, at_s: float) -> None:
    journal.calls.add_piece(event, _t_ms(journal, at_s))


def _on_ended(journal: Journal, event: ResponseEnded, at_s: float) -> Signal | None:
    event = replace(event, response_id=_response_id(journal, event.response_id))
    if event.response_id is not None and event.response_id in journal.ended:
        journal.warn("repeated_response_done")
        return None
    for rest in journal.reader.unfinished():
        _apply(journal, journal.plan.dialect.read(rest), at_s)
    _finish_sound(journal, event.response_id, at_s)
    journal.add_usage(event.usage)
    _take_told(journal, event, _t_ms(journal, at_s))
    journal.active -= {event.response_id, None}
    journal.hushed.discard(None)
    if event.response_id is not None:
        journal.ended.add(event.response_id)
    return event


def _finish_sound(journal: Journal, response_id: str | None, at_s: float) -> None:
    """The last milliseconds of a resampled sound belong right behind what came before them."""
    tails, dangling = journal.sound.finish(response_id)
    if dangling:
        journal.warn("dangling_audio_byte", count=dangling)
    for place, tail in tails.items() if response_id not in journal.hushed else ():
        if turn := journal.owner_of(place.response_id):
            turn.add_sound(place, journal.timeline.follow_agent(tail), _t_ms(journal, at_s))


def _take_told(journal: Journal, event: ResponseEnded, t_ms: float) -> None:
    """What response.done repeats of its output: all of it, for servers that streamed nothing."""
    words = []
    for told in event.told:
        if isinstance(told, CallSeen):
            journal.calls.see(told, t_ms)
        else:
            words.append(replace(told, place=replace(told.place, response_id=event.response_id)))
    if turn := journal.owner_of(event.response_id):
        if event.response_id not in journal.hushed:
            turn.add_told(words, t_ms)
        turn.done_ms = t_ms


def _pass_on(journal: Journal, event: Truncated, at_s: float) -> Signal:
    return event


def _on_heard(journal: Journal, event: Heard, at_s: float) -> None:
    if event.final and event.text is None:
        journal.warn("transcription_failed")
    owner = next((turn for turn in journal.turns if event.item_id in turn.caller_items), journal.turn)
    if owner is not None:
        owner.add_heard(event)


def _on_fault(journal: Journal, event: Fault, at_s: float) -> Signal | None:
    if faults.is_benign(event) or event.event_id in journal.housekeeping:
        journal.warn(f"benign_error:{event.code or 'no_code'}", event.message)
        return None
    if broken := faults.fatal(event):
        return broken
    if journal.turns and not any(turn.open for turn in journal.turns):
        journal.warn("late_error", event.message)  # of a turn that was answered, so it says nothing of the next one
        return None
    return event


def _on_unknown(journal: Journal, event: Unknown, at_s: float) -> None:
    first = event.type not in journal.unknown_events
    journal.unknown_events[event.type] += 1
    if first:
        journal.log.note(at_s, "warning", name="unknown_event", detail=event.type)


def _on_unreadable(journal: Journal, event: Unreadable, at_s: float) -> None:
    journal.warn("unreadable_event", f"{event.type}: {event.reason}")


def _on_nothing(journal: Journal, event: NoMeaning, at_s: float) -> None:
    return


HANDLERS: dict[type, Callable[[Journal, Any, float], Signal | None]] = {
    SessionSeen: _on_session,
    ResponseStarted: _on_started,
    Words: _on_words,
    Sound: _on_sound,
    CallSeen: _on_call,
    ArgumentsPiece: _on_arguments,
    ResponseEnded: _on_ended,
    CallerCommitted: detection.on_committed,
    SpeechStarted: detection.on_speech_started,
    SpeechStopped: detection.on_speech_stopped,
    Truncated: _pass_on,
    Heard: _on_heard,
    Fault: _on_fault,
    Unknown: _on_unknown,
    Unreadable: _on_unreadable,
    NoMeaning: _on_nothing,
    **LIVE_HANDLERS,
}
