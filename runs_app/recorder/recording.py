"""Writes one trial's timeline while it happens, from a plain thread: the conversation's loop never waits for it.

Every 200 ms, in one transaction: the lease is renewed (which refuses an old attempt), the flag of a person who wants
to stop is read, and the events of that time are stored. Then one ring. Events are cleaned and secrets removed here,
once, for the database and the file alike.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Literal

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from evalsite import logs
from runs_app.models import Event as EventRow
from runs_app.realtime.record import Event, Json
from runs_app.recorder import bell
from runs_app.services import secrets
from runs_app.services.claims import Claim, LeaseLost, renew_lease
from scenarios_app.spec import jsontext

EVERY_S = 0.2
MOST_TYPE_CHARACTERS = 100  # as the column has it

# a person stopped it; another may have the trial; its timeline cannot be kept; this worker goes away
StopReason = Literal["cancelled", "lost", "broken", "released"]

log = logging.getLogger(__name__)


def kept(event: Event) -> dict[str, Json]:
    """The event as it is stored: clean text, numbers that JSON has, no secret, no bottomless nesting."""
    payload = jsontext.finite(jsontext.clean(event.payload))
    problems = jsontext.problems_in(payload)
    return {
        "seq": event.seq,
        "t_ms": jsontext.finite(event.t_ms) or 0.0,
        "source": event.source,
        "direction": event.direction,
        "type": secrets.redact(jsontext.clean_text(event.type))[:MOST_TYPE_CHARACTERS],
        "payload": {"not_kept": str(problems[0])} if problems else secrets.redact(payload),
    }


class Recorder:
    """`emit` takes events from any thread; `stop` is called once, from the recorder's thread, with the reason.

    Use: start, (emit ...), drain, close. After drain every event emitted before it is stored and in `lines`. Close it
    before the trial is finished, as a finished trial has no lease to renew.
    """

    def __init__(self, claim: Claim, *, stop: Callable[[StopReason], None]) -> None:
        self.claim = claim
        self.lines: list[str] = []  # the whole timeline as JSON, one event a line
        self.lost = False  # this attempt may write nothing more
        self.broken = False  # and the reason is ours
        self._stop = stop
        self._stopped = False
        self._queue: queue.SimpleQueue[Event | threading.Event] = queue.SimpleQueue()
        self._rows: list[EventRow] = []  # cleaned, not stored yet
        self._drained: list[threading.Event] = []
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._renewed_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"recorder of trial {claim.trial_id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def emit(self, event: Event) -> None:
        self._queue.put(event)

    def drain(self) -> bool:
        """Waits until all events so far are stored. False when this attempt may not write any more."""
        stored = threading.Event()
        self._queue.put(stored)
        self._wake.set()
        while not stored.wait(EVERY_S):
            if not self._thread.is_alive():
                return False
        return not self.lost

    def close(self) -> None:
        """Drains and ends; the lease is not renewed any more. Safe to call again."""
        if not self._closing.is_set():
            self.drain()
            self._closing.set()
            self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        with logs.ids(run=self.claim.run_id, trial=self.claim.trial_id, attempt=self.claim.attempt):
            try:
                while not self._closing.is_set():
                    self._tick()
                    self._wake.wait(EVERY_S)
                    self._wake.clear()
            finally:
                if not self._closing.is_set():
                    self._lose("broken")  # by an exception: nobody may wait for a recorder that is gone
                connection.close()

    def _tick(self) -> None:
        self._take_from_queue()
        if self.lost:
            self._lose("broken" if self.broken else "lost")
            return
        try:
            self._store()
        except LeaseLost as error:
            log.warning("stopped writing: %s", error)
            self._lose("lost")
        except (OperationalError, InterfaceError) as error:
            self._wait_for_database(error)
        except DatabaseError:
            log.exception("the timeline cannot be stored")
            self._lose("broken")
        else:
            self._tell_drained()

    def _take_from_queue(self) -> None:
        while True:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return
            if isinstance(item, threading.Event):
                self._drained.append(item)
            else:
                self._add(item)

    def _add(self, event: Event) -> None:
        known = kept(event)
        self.lines.append(jsontext.dumps(known))
        self._rows.append(EventRow(trial_id=self.claim.trial_id, attempt=self.claim.attempt, **known))

    def _store(self) -> None:
        with transaction.atomic():
            go_on = renew_lease(claim=self.claim)
            EventRow.objects.bulk_create(self._rows)
        self._renewed_s = time.monotonic()
        if self._rows:
            self._rows = []
            bell.ring(self.claim.run_id)
        if not go_on:
            self._ask_to_stop("cancelled")

    def _wait_for_database(self, error: Exception) -> None:
        """Events are kept for the next tick, but not for longer than the lease: then another may have the trial."""
        connection.close()
        waited_s = time.monotonic() - self._renewed_s
        log.warning("the database does not answer for %.1f s: %s", waited_s, error)
        if waited_s + EVERY_S >= settings.LEASE_SECONDS:
            self._lose("lost")

    def _lose(self, reason: Literal["lost", "broken"]) -> None:
        self.lost = True
        self.broken = reason == "broken"
        self._rows = []
        self._tell_drained()
        self._ask_to_stop(reason)

    def _tell_drained(self) -> None:
        for waiting in self._drained:
            waiting.set()
        self._drained = []

    def _ask_to_stop(self, reason: StopReason) -> None:
        if not self._stopped:
            self._stopped = True
            self._stop(reason)
