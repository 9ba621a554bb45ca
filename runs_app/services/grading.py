"""One grading from its claim to the outcome, from stored evidence alone."""

from __future__ import annotations

import logging
from concurrent.futures import Future, wait
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs_app import loop
from runs_app.grading.failure_kinds import Score, Verdict, failure_signature
from runs_app.grading.grade import Evidence, GradingResult, grade
from runs_app.models import Check, Grade, Grading, Outcome, Trial, TrialStatus
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import Record
from runs_app.recorder import bell
from runs_app.services import judging
from runs_app.services.artifacts import read_audio
from runs_app.services.claims import GradingClaim, LeaseLost, held_grading, renew_grading
from runs_app.services.judging import JudgeOutOfReach, JudgeSettings
from runs_app.services.material import Material, material_of
from runs_app.services.results import add_grading, close_run, end_trial, short_reason, storable

log = logging.getLogger(__name__)

Judge = JudgeSettings | JudgeOutOfReach | None


def grade_claimed(claim: GradingClaim) -> None:
    """Grades the claimed trial and stores the outcome. Raises DatabaseError alone, when not even that is possible."""
    try:
        trial = Trial.objects.with_versions().get(pk=claim.trial_id)
        material = material_of(trial)
        judge = judging.judge_settings(trial, material.configuration)
        work = loop.gradings.submit(_grade(evidence_of(trial, material), judge))
        store_grading(claim=claim, result=_result_of(work, claim))
    except LeaseLost as error:
        log.warning("%s", error)
    except Exception as error:  # one of the three places: around one trial
        log.exception("the trial could not be graded by a fault of ours")
        _finish_broken(claim, f"{type(error).__name__}: {error}")


def evidence_of(trial: Trial, material: Material) -> Evidence:
    return Evidence(
        scenario=material.scenario,
        record=Record.from_json(trial.record or {}),
        audio=_audio_of(trial),
        facts=material.application.facts if material.application else {},
        done_tool=material.configuration.done_tool,
    )


def _audio_of(trial: Trial) -> Int16 | None:
    try:
        return read_audio(trial.wav)
    except FileNotFoundError:
        log.warning("the recording %s is gone: what needs it is not measured", trial.wav)
        return None


async def _grade(evidence: Evidence, judge: Judge) -> GradingResult:
    async with judging.opened(judge) as client:
        return await grade(evidence, judge=client)


def _result_of(work: Future[GradingResult], claim: GradingClaim) -> GradingResult:
    """Waits, and keeps the lease meanwhile. Raises LeaseLost, or what the grading raised."""
    while not wait([work], timeout=settings.LEASE_SECONDS / 3).done:
        try:
            renew_grading(claim=claim)
        except LeaseLost:
            work.cancel()
            raise
    return work.result()


def store_grading(*, claim: GradingClaim, result: GradingResult) -> Grading:
    """The trial is done with this outcome. Raises LeaseLost when the claim is old."""
    with transaction.atomic():
        trial = held_grading(claim).select_for_update().first()
        if trial is None:
            raise LeaseLost(f"grading {claim.grading_attempt} of trial {claim.trial_id} came too late")
        outcome = result.outcome
        grading = add_grading(
            trial,
            outcome=outcome.outcome,
            stage=outcome.stage,
            reason=short_reason(outcome.reason),
            rubric_version=result.rubric_version,
            judge_model=result.judge_model,
            metrics=storable(result.metrics),
            turns=storable(list(result.turns)),
            notes=storable(list(result.notes)),
        )
        _store_verdicts(grading, result)
        _finish(trial, grading, storable(kind_of(result)))
    close_run(run_id=claim.run_id)
    return grading


def kind_of(result: GradingResult) -> str:
    """Key of the failure's kind; empty when it did not fail."""
    if result.outcome.outcome != Outcome.FAILED:
        return ""
    checks = [Verdict(check.id, check.status, check.required, check.evidence) for check in result.checks]
    grades = [Score(grade.dimension, grade.status, grade.score) for grade in result.grades]
    return failure_signature(result.outcome.stage, checks, grades).key


def _store_verdicts(grading: Grading, result: GradingResult) -> None:
    Check.objects.bulk_create(
        Check(
            grading=grading,
            position=position,
            check_id=check.id,
            status=check.status,
            required=check.required,
            reason=storable(check.reason),
            evidence=storable(check.evidence),
        )
        for position, check in enumerate(result.checks)
    )
    Grade.objects.bulk_create(
        Grade(grading=grading, position=position, **_grade_fields(asdict(item)))
        for position, item in enumerate(result.grades)
    )


_GRADE_FIELDS = {field.name for field in Grade._meta.get_fields()} - {"id", "grading", "position"}


def _grade_fields(known: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in storable(known).items() if name in _GRADE_FIELDS}


def _finish(trial: Trial, grading: Grading, failure_kind: str) -> None:
    """The numbers of the current grading, on the trial for lists and comparisons."""
    metrics = grading.metrics
    Trial.objects.filter(pk=trial.pk).update(
        status=TrialStatus.DONE,
        outcome=grading.outcome,
        stage=grading.stage,
        reason=grading.reason,
        finished_at=timezone.now(),
        grading_lease_expires_at=None,
        semantic_quality=metrics.get("semantic_quality"),
        tool_accuracy=metrics.get("tool_accuracy"),
        response_latency_ms=metrics.get("response_latency_ms"),
        metrics=metrics,
        failure_kind=failure_kind,
    )
    transaction.on_commit(lambda: bell.ring(trial.run_id))


def _finish_broken(claim: GradingClaim, reason: str) -> None:
    with transaction.atomic():
        trial = held_grading(claim).select_for_update().first()
        if trial is None:
            return
        end_trial(trial, outcome=Outcome.INVALID, stage="internal", reason=f"grading failed: {reason}")
    close_run(run_id=claim.run_id)
