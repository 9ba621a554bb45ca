"""Trials that happen: claimed, recorded and ended by the services that workers use, without an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs_app.models import Run
from runs_app.realtime.record import Event
from runs_app.recorder.recording import Recorder
from runs_app.services.claims import Claim, claim_trial
from runs_app.services.results import finish_claimed


def begin(run: Run) -> Claim:
    claim = claim_trial(run_id=run.pk)
    assert claim is not None, "nothing is queued, or as many are under way as may be"
    return claim


def tell(claim: Claim, *events: Event) -> None:
    """The recorder stores the events and rings."""
    recorder = Recorder(claim, stop=lambda reason: None)
    recorder.start()
    for event in events:
        recorder.emit(event)
    assert recorder.drain(), "the recorder may not write"
    recorder.close()


def end(claim: Claim, outcome: str = "passed", **facts: Any) -> None:
    """facts: stage and reason, or columns of the trial such as semantic_quality."""
    assert finish_claimed(claim=claim, outcome=outcome, **facts), "the claim is old"


def play(run: Run, outcomes: Sequence[str], **facts: Any) -> None:
    """The next trials of the run in order, one after the other, each with its outcome."""
    for outcome in outcomes:
        end(begin(run), outcome, **facts)


def words(seq: int, text: str) -> Event:
    """A piece of what the agent says."""
    payload = {"delta": text}
    return Event(seq, 300.0 + 100 * seq, "agent", "received", "response.output_audio_transcript.delta", payload)


def queries_of(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)
