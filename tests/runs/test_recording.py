"""The recorder: what is stored, when it stops, and what an old attempt may not do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone

from runs_app.models import Event as EventRow
from runs_app.models import Trial, TrialStatus
from runs_app.realtime.record import Event
from runs_app.recorder import bell
from runs_app.recorder.recording import Recorder, kept
from runs_app.services.claims import Claim, claim_trial
from tests.runs.builders import make_run
from tests.services import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def event(seq: int, **payload) -> Event:
    return Event(seq=seq, t_ms=seq * 10.0, source="agent", direction="received", type="response.x", payload=payload)


@contextmanager
def recording(claim: Claim) -> Iterator[tuple[Recorder, list[str]]]:
    reasons: list[str] = []
    recorder = Recorder(claim, stop=reasons.append)
    recorder.start()
    try:
        yield recorder, reasons
    finally:
        recorder.close()


@pytest.fixture
def claim() -> Claim:
    run = make_run()
    found = claim_trial(run_id=run.pk)
    assert found
    return found


def test_events_are_stored_in_order_and_as_lines(claim):
    with recording(claim) as (recorder, reasons):
        for seq in range(50):
            recorder.emit(event(seq, text=f"word {seq}"))
        assert recorder.drain() is True
        stored = list(EventRow.objects.values_list("seq", "attempt", "payload"))
        assert stored == [(seq, 1, {"text": f"word {seq}"}) for seq in range(50)]
        assert [json.loads(line)["seq"] for line in recorder.lines] == list(range(50))
    assert reasons == []


def test_emitting_from_many_threads_loses_nothing(claim):
    with recording(claim) as (recorder, _):
        threads = [
            threading.Thread(target=lambda n=n: [recorder.emit(event(n * 100 + i)) for i in range(100)])
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recorder.drain()
    assert EventRow.objects.count() == 800


def test_the_lease_is_renewed_while_nothing_happens(claim, settings):
    settings.LEASE_SECONDS = 3
    before = Trial.objects.get().lease_expires_at
    with recording(claim):
        eventually(lambda: Trial.objects.get().lease_expires_at != before)
        first = Trial.objects.get().lease_expires_at
        eventually(lambda: Trial.objects.get().lease_expires_at > first)


def test_a_person_who_cancels_stops_the_conversation_once(claim):
    with recording(claim) as (recorder, reasons):
        Trial.objects.update(cancel_requested_at=timezone.now())
        eventually(lambda: reasons)
        recorder.emit(event(1))
        assert recorder.drain() is True  # what was heard so far is kept
    assert reasons == ["cancelled"]
    assert EventRow.objects.count() == 1


def test_an_attempt_that_lost_its_lease_stores_nothing_more(claim):
    with recording(claim) as (recorder, reasons):
        recorder.emit(event(1))
        assert recorder.drain()
        Trial.objects.update(status=TrialStatus.QUEUED, lease_expires_at=None)
        newer = claim_trial(run_id=claim.run_id)
        recorder.emit(event(2))
        assert recorder.drain() is False
    assert reasons[0] == "lost"
    assert list(EventRow.objects.values_list("attempt", "seq")) == [(1, 1)]
    with recording(newer) as (second, _):
        second.emit(event(1))
        assert second.drain()
    assert list(EventRow.objects.values_list("attempt", "seq")) == [(1, 1), (2, 1)]


def test_a_lease_that_ran_out_is_lost_even_if_nobody_took_the_trial(claim):
    Trial.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    with recording(claim) as (recorder, reasons):
        assert recorder.drain() is False
    assert reasons[0] == "lost"


def test_a_timeline_that_cannot_be_stored_is_our_own_fault(claim):
    with recording(claim) as (recorder, reasons):
        recorder.emit(event(1))
        recorder.emit(event(1))  # one seq twice: the database refuses
        assert recorder.drain() is False
        assert recorder.broken
    assert reasons[0] == "broken"


class Unreadable(dict):
    def items(self):
        raise RuntimeError("cannot be read")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failing_recorder_keeps_nobody_waiting(claim):
    with recording(claim) as (recorder, reasons):
        recorder.emit(event(1, text=Unreadable()))
        eventually(lambda: reasons)
        assert reasons == ["broken"]
        assert recorder.drain() is False


def test_what_every_database_can_store_is_kept_of_anything():
    nested: dict = {}
    for _ in range(300):
        nested = {"deeper": nested}
    strange = Event(
        seq=1, t_ms=float("nan"), source="agent", direction="received", type="t" * 200, payload={"n": float("inf")}
    )
    assert kept(strange)["t_ms"] == 0.0
    assert kept(strange)["payload"] == {"n": None}
    assert len(kept(strange)["type"]) == 100
    assert kept(event(1, text="a\x00b\ud800"))["payload"] == {"text": "a\ufffdb\ufffd"}
    assert "nested deeper" in kept(event(1, nested=nested))["payload"]["not_kept"]


def test_no_secret_reaches_the_timeline(claim, settings, monkeypatch):
    settings.SOUNDCHECK_SECRETS = "SHOP_KEY=https://shop.example"
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret")
    with recording(claim) as (recorder, _):
        recorder.emit(event(1, text="Bearer sk-very-secret", **{"sk-very-secret": 1}))
        recorder.drain()
        assert "sk-very-secret" not in "".join(recorder.lines)
    assert "sk-very-secret" not in str(list(EventRow.objects.values_list("payload", flat=True)))


def test_every_batch_of_events_rings_once(claim, monkeypatch):
    rings: list[int] = []
    monkeypatch.setattr(bell, "ring", rings.append)
    with recording(claim) as (recorder, _):
        for seq in range(20):
            recorder.emit(event(seq))
        recorder.drain()
        recorder.drain()
    assert rings == [claim.run_id] * len(rings)
    assert 1 <= len(rings) <= 3
