"""One trial from its claim to its recording: the whole road of an attempt, in the Celery thread that holds it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from runs_app import loop
from runs_app.models import Outcome, Trial
from runs_app.realtime.journal import Journal
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import Event
from runs_app.realtime.session import Conversation, converse
from runs_app.recorder import listen_in
from runs_app.recorder.recording import Recorder, StopReason
from runs_app.services import artifacts, claims, planning
from runs_app.services.casting import Cast, on_stage
from runs_app.services.claims import Claim
from runs_app.services.refusal import CannotPlan
from runs_app.services.results import finish_claimed, finish_recording

log = logging.getLogger(__name__)
T = TypeVar("T")


class Stopped(Exception):
    """The attempt was stopped before there was a conversation."""


class Attempt:
    """A claim under way, and the one event that stops it, whatever the reason."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.stopped = asyncio.Event()
        self.reason: StopReason | None = None

    def stop(self, reason: StopReason) -> None:
        """From any thread. The first reason counts, except that a lost lease overrules: nothing may be written then."""
        if self.reason is None or reason in ("lost", "broken"):
            self.reason = reason
        loop.conversations.call_soon(self.stopped.set)

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to. Raises Stopped as soon as the attempt is stopped."""
        task, stop = asyncio.ensure_future(work), asyncio.ensure_future(self.stopped.wait())
        try:
            await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Stopped
            return task.result()
        finally:
            stop.cancel()
            task.cancel()


_under_way: set[Attempt] = set()
_lock = threading.Lock()
leaving = threading.Event()  # set once, when this worker was told to go


def leave() -> None:
    """Stops every conversation of this process; their trials go back to the queue. For a worker that shuts down."""
    leaving.set()
    with _lock:
        attempts = list(_under_way)
    for attempt in attempts:
        attempt.stop("released")


def hold_conversation(claim: Claim) -> None:
    """Plays the claimed trial and stores what came of it. Raises DatabaseError alone, when not even that can be stored;
    the lease then runs out and the sweeper takes over."""
    attempt = Attempt(claim)
    recorder = Recorder(claim, stop=attempt.stop)
    with _lock:
        _under_way.add(attempt)
    if leaving.is_set():
        attempt.stop("released")
    recorder.start()
    try:
        _play(attempt, recorder)
    except Exception as error:  # one of the three places: around one trial
        log.exception("the trial broke off by a fault of ours")
        recorder.close()
        _finish_invalid(claim, "internal", f"{type(error).__name__}: {error}")
    finally:
        with _lock:
            _under_way.discard(attempt)
        recorder.close()


def _play(attempt: Attempt, recorder: Recorder) -> None:
    try:
        conversation = _converse(attempt, recorder)
    except CannotPlan as problem:
        recorder.close()
        _finish_invalid(attempt.claim, problem.stage, problem.reason)
    except Stopped:
        recorder.close()
        _finish_stopped(attempt)
    else:
        _finish(attempt, recorder, conversation)


def _converse(attempt: Attempt, recorder: Recorder) -> Conversation:
    trial = Trial.objects.with_versions().get(pk=attempt.claim.trial_id)
    prepared = planning.prepare(trial)
    audio = loop.conversations.submit(attempt.unless_stopped(planning.caller_speech(prepared))).result()
    plan = planning.complete(prepared, audio)
    with listen_in.offered(attempt.claim.trial_id) as on_air:
        work = _held(prepared.cast, plan, emit=recorder.emit, stop=attempt.stopped, on_air=on_air)
        return loop.conversations.submit(work).result()


async def _held(
    cast: Cast | None,
    plan: Plan,
    *,
    emit: Callable[[Event], None],
    stop: asyncio.Event,
    on_air: Callable[[Journal], None],
) -> Conversation:
    async with on_stage(cast) as part:
        return await converse(replace(plan, part=part), emit=emit, stop=stop, on_air=on_air)


def _finish(attempt: Attempt, recorder: Recorder, conversation: Conversation) -> None:
    cut_short = conversation.record.ending.kind == "cancelled"
    if not recorder.drain() or (cut_short and attempt.reason != "cancelled"):
        recorder.close()
        _finish_stopped(attempt)
        return
    files = artifacts.write_files(claim=attempt.claim, audio=conversation.audio, lines=recorder.lines)
    recorder.close()  # only now: it held the lease while the files were written, and what is finished has none
    if not finish_recording(claim=attempt.claim, record=conversation.record, files=files):
        log.warning("attempt %s came too late; another one has the trial", attempt.claim.attempt)


def _finish_stopped(attempt: Attempt) -> None:
    match attempt.reason:
        case "cancelled":
            finish_claimed(claim=attempt.claim, outcome=Outcome.CANCELLED, reason="cancelled before the call began")
        case "released":
            if not claims.release_trial(claim=attempt.claim):
                finish_claimed(claim=attempt.claim, outcome=Outcome.CANCELLED, reason="cancelled by a person")
        case "broken":
            _finish_invalid(attempt.claim, "internal", "the timeline could not be stored; the log says why")
        case _:
            log.warning("attempt %s lost its lease and leaves the trial to another", attempt.claim.attempt)


def _finish_invalid(claim: Claim, stage: str, reason: str) -> None:
    finish_claimed(claim=claim, outcome=Outcome.INVALID, stage=stage, reason=reason)
