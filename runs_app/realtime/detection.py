"""Turn detection by the server: what it tells of the caller's speech, and which response answers the whole of it.

A pause within the words can look like their end. The server then begins an answer to half a sentence, hears the rest,
cancels (or has said it already) and answers again: one turn, split, and not two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runs_app.realtime.dialects.base import CallerCommitted, ResponseEnded, SpeechStarted, SpeechStopped
from runs_app.realtime.journal import Journal
from runs_app.realtime.turns import TurnDraft

TURN_DETECTED = "turn_detected"


@dataclass(frozen=True)
class CallerSaid:
    """Not of the server: the caller's last voiced sample went out."""


def on_committed(journal: Journal, event: CallerCommitted, at_s: float) -> CallerCommitted:
    if journal.turn is not None:
        journal.turn.caller_items.append(event.item_id)
        if journal.plan.turn_detection:
            journal.turn.hear_end(journal.timeline.t_ms(at_s), told=False)
    return event


def on_speech_started(journal: Journal, event: SpeechStarted, at_s: float) -> SpeechStarted:
    """The caller is heard. A server whose detection interrupts falls silent, and so does what it sent before."""
    detection = journal.plan.turn_detection
    if detection is None or journal.turn is None:
        return event
    if journal.turn.hear_speech():
        journal.warn("turn_split", "the server took a pause of the caller for the end of the turn")
    something_to_stop = journal.active or journal.is_playing(at_s)
    if journal.plan.real_time and detection.get("interrupt_response", True) and something_to_stop:
        journal.stop_playback(at_s)
    return event


def on_speech_stopped(journal: Journal, event: SpeechStopped, at_s: float) -> SpeechStopped:
    if journal.plan.turn_detection and journal.turn is not None:
        journal.turn.hear_end(journal.timeline.t_ms(at_s), told=True)
    return event


Verdict = Literal["answer", "perhaps", "again", "foreign"]


def verdict(turn: TurnDraft, owner: TurnDraft | None, ended: ResponseEnded) -> Verdict:
    """What a response that ended is to a caller's turn.

    "perhaps": it began before the caller had said everything, and counts unless another one follows. "again": cut off
    because the caller went on, so another one follows. "foreign": it belongs to another turn.
    """
    if owner is not turn:
        return "foreign"
    if ended.status == "failed" or turn.interrupted:
        return "answer"
    if ended.status == "cancelled" and ended.reason == TURN_DETECTED:
        return "again"
    began_s = turn.began_s.get(ended.response_id)
    early = turn.said_s is None or (began_s is not None and began_s < turn.said_s)
    return "perhaps" if early else "answer"
