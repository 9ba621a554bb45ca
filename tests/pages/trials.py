"""Trials in every state that a page may meet, made by the services that real trials go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs_app.models import Run, Trial
from runs_app.realtime.record import Ending, Record
from runs_app.services import artifacts, claims, grading, results
from tests.grading import builders as evidence
from tests.runs.builders import make_run

SOUND = evidence.recording([(0, 1_000)], [(1_800, 3_000)], 3_400)


def record_trial(
    run: Run, record: Record, audio: Any = None, *, grade: bool = True, lines: Sequence[str] = ('{"seq": 0}',)
) -> Trial:
    """The next trial of the run, recorded and (unless told otherwise) graded."""
    claim = claims.claim_trial(run_id=run.pk)
    assert claim is not None
    files = artifacts.write_files(claim=claim, audio=audio, lines=lines)
    assert results.finish_recording(claim=claim, record=record, files=files)
    if grade and record.ending.kind != "cancelled":
        work = claims.claim_grading(trial_id=claim.trial_id)
        assert work is not None
        grading.grade_claimed(work)
    return Trial.objects.get(pk=claim.trial_id)


def spoken_trial(**more: Any) -> Trial:
    """A call of a tool between the caller's words and the agent's, all heard."""
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    record = evidence.audio_record(called, audio_samples=len(SOUND))
    return record_trial(make_run(**more), record, SOUND)


def broken_trial(stage: str = "connect", message: str = "nobody listens at the endpoint") -> Trial:
    ending = Ending("invalid", stage=stage, message=message)
    return record_trial(make_run(), evidence.audio_record(turns=(), ending=ending))
