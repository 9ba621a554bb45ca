"""What each event of a Live server does to the journal. Nothing here waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs_app.realtime import faults
from runs_app.realtime.dialects.base import CallSeen, Heard, Place, ResponseEnded, Words
from runs_app.realtime.faults import BrokenOff
from runs_app.realtime.journal import Journal
from runs_app.realtime.live.events import (
    BackendBusy,
    BackendCall,
    BackendEnded,
    BackendStarted,
    BackendWords,
    Delegated,
    LiveSound,
    LiveUsage,
    SessionClosed,
    Transcript,
    lacks_blank,
)
from runs_app.realtime.live.speech import on_sound
from runs_app.realtime.live.state import GROUP_GAP_MS, CaptionGroup, Content, Work
from runs_app.realtime.turns import TurnDraft

FURTHEST_MS = 60_000.0  # a time that lies further from its arrival is of another clock


def _t_ms(journal: Journal, at_s: float) -> float:
    return journal.timeline.t_ms(at_s) if journal.timeline.zero_s is not None else 0.0


def _on_transcript(journal: Journal, event: Transcript, at_s: float) -> None:
    now_ms = _t_ms(journal, at_s)
    start_ms, end_ms = _moments(journal, event, now_ms)
    if journal.turn is None:
        journal.warn("deltas_before_first_turn")
        return
    journal.live.news_ms = now_ms
    if journal.live.assistant is not None:
        journal.live.assistant.hear(event)
    if event.side == "caller":
        _heard_of(journal, end_ms).add_heard(Heard(None, event.text, final=False))
        return
    if journal.live.closing_ms is not None and start_ms >= journal.live.closing_ms:
        journal.warn("late_deltas")
        return
    group = _group(journal, start_ms, end_ms, now_ms)
    text = event.text if _joins(group, event.text) else f" {event.text}"
    group.text += text
    # The agent knew the words when it told them, and also when it had said them before.
    group.turn.add_words(Words(Place(output_index=group.index), "transcript", text), min(now_ms, start_ms))


def _moments(journal: Journal, event: Transcript, now_ms: float) -> tuple[float, float]:
    """When it was said, on the timeline; its arrival where the server tells nothing that can be."""
    if event.start_ms is None or event.end_ms is None or abs(event.start_ms - now_ms) > FURTHEST_MS:
        return now_ms, now_ms
    return event.start_ms + journal.live.skipped_ms, event.end_ms + journal.live.skipped_ms


def _heard_of(journal: Journal, end_ms: float) -> TurnDraft:
    """The caller's turn that had begun when this was said."""
    begun = (turn for turn in reversed(journal.turns) if turn.began_ms <= end_ms)
    return next(begun, journal.turns[0])


def _group(journal: Journal, start_ms: float, end_ms: float, now_ms: float) -> CaptionGroup:
    live = journal.live
    last = live.groups[-1] if live.groups else None
    if last is None or start_ms - last.end_ms > GROUP_GAP_MS:
        assert journal.turn is not None
        last = CaptionGroup(len(live.groups), journal.turn, start_ms, end_ms, start_ms, now_ms)
        live.groups.append(last)
    last.end_ms, last.last_start_ms, last.arrived_ms = max(last.end_ms, end_ms), start_ms, now_ms
    return last


def _joins(group: CaptionGroup, more: str) -> bool:
    """False where a sentence ended, or the agent had been silent, and the next words begin without a blank."""
    if not group.text:
        return not group.turn.captions or more[:1].isspace()
    return not lacks_blank(group.text, more)


def _on_delegated(journal: Journal, event: Delegated, at_s: float) -> None:
    live, now_ms = journal.live, _t_ms(journal, at_s)
    turn = journal.turn.index if journal.turn else 0
    work = Work(event.delegation_id, event.target, turn, now_ms, event.response_id)
    live.works.append(work)
    live.news_ms = live.backend_ms = now_ms
    journal.log.note(
        at_s, "delegation.started", source="agent", turn=turn, delegation_id=event.delegation_id, target=event.target
    )
    if event.target == "client" and live.assistant is not None:
        live.handed.put_nowait(work)
    elif event.target != "responses":
        journal.warn("delegation_unanswered", f"the agent delegated to {event.target}, and nobody answers there")


def _work(journal: Journal, delegation_id: str | None, at_s: float) -> Work:
    """The delegation that the backend tells of; a server that announced none has one all the same."""
    live = journal.live
    live.news_ms = live.backend_ms = _t_ms(journal, at_s)
    work = live.work_of(delegation_id)
    if work is None:
        _on_delegated(journal, Delegated(delegation_id, "responses", None), at_s)
        work = live.works[-1]
    return work


def _on_backend_started(journal: Journal, event: BackendStarted, at_s: float) -> None:
    work = _work(journal, event.delegation_id, at_s)
    work.response_id = event.response_id or work.response_id
    work.running, work.called, work.goes_on, work.words, work.ended_ms = True, False, False, None, None


def _on_backend_words(journal: Journal, event: BackendWords, at_s: float) -> None:
    work = _work(journal, event.delegation_id, at_s)
    if event.whole:
        work.texts.append(event.text)
    if work.words is None:
        work.words = Content(_t_ms(journal, at_s), len(journal.live.groups))


def _on_backend_call(journal: Journal, event: BackendCall, at_s: float) -> None:
    work = _work(journal, event.delegation_id, at_s)
    work.called = True
    # A response that has called may have ended before its item was told: then the call keeps it going.
    work.goes_on = work.goes_on or not work.running
    call = CallSeen(
        work.response_id,
        event.output_index,
        event.item_id,
        event.call_id,
        event.name,
        event.arguments,
        event.status,
    )
    if not journal.calls.see(call, _t_ms(journal, at_s)):
        journal.warn("repeated_call_id", event.call_id or "")


def _on_backend_ended(journal: Journal, event: BackendEnded, at_s: float) -> BrokenOff | None:
    work, now_ms = _work(journal, event.delegation_id, at_s), _t_ms(journal, at_s)
    journal.add_usage(event.usage)
    work.running = False
    if event.status == "failed":
        end_work(journal, work, "failed", at_s)
        response_id = event.response_id or work.response_id
        return faults.response_failed(
            ResponseEnded(response_id, "failed", event.reason, event.error_code, event.error_message, None)
        )
    if work.called:
        work.goes_on = True
        return None
    # A response with a call in it answers nothing; this one does, or it has nothing to say.
    journal.live.content = work.words or Content(now_ms, len(journal.live.groups))
    work.reason = event.reason if event.status == "incomplete" else None
    end_work(journal, work, event.status, at_s)
    return None


def end_work(journal: Journal, work: Work, status: str, at_s: float) -> None:
    """The delegated task is over. `status`: completed, incomplete or failed."""
    work.running = work.goes_on = False
    work.status, work.ended_ms = status, _t_ms(journal, at_s)
    journal.log.note(
        at_s,
        "delegation.ended",
        source="agent",
        turn=work.turn,
        delegation_id=work.id,
        status=status,
        rounds=work.rounds,
    )


def _on_backend_busy(journal: Journal, event: BackendBusy, at_s: float) -> None:
    _work(journal, event.delegation_id, at_s)


def _on_usage(journal: Journal, event: LiveUsage, at_s: float) -> None:
    journal.add_seconds(event.seconds)


def _on_closed(journal: Journal, event: SessionClosed, at_s: float) -> BrokenOff | None:
    live = journal.live
    live.closed = event
    journal.add_seconds(event.seconds)
    return None if live.closing_ms is not None else faults.session_closed(event.reason)


LIVE_HANDLERS: dict[type, Callable[[Journal, Any, float], BrokenOff | None]] = {
    LiveSound: on_sound,
    Transcript: _on_transcript,
    Delegated: _on_delegated,
    BackendStarted: _on_backend_started,
    BackendWords: _on_backend_words,
    BackendCall: _on_backend_call,
    BackendEnded: _on_backend_ended,
    BackendBusy: _on_backend_busy,
    LiveUsage: _on_usage,
    SessionClosed: _on_closed,
}
