"""What people said of trials, as exports have it: beside the machine's verdict, never in its place."""

from __future__ import annotations

from typing import Any

from runs_app.models import Review, Run, Trial
from runs_app.reviews.rates import review_of

Json = Any


def current_reviews(run: Run) -> dict[int, Review]:
    """By trial, those that count."""
    found = Review.objects.filter(trial__run=run, current=True).select_related("reviewer")
    return {review.trial_id: review for review in found}


def review_row(review: Review) -> dict[str, Json]:
    return {
        "number": review.number,
        "current": review.current,
        "attempt": review.attempt,
        "verdict": review.verdict or None,
        "fault": review.fault or None,
        "scores": review.scores,
        "note": review.note,
        "outcome_with_review": review.outcome or review.machine_outcome,
        "machine_outcome": review.machine_outcome,
        "machine_reason": review.machine_reason,
        "reviewer": review.reviewer.get_username() if review.reviewer else None,
        "reviewed_at": review.created_at.isoformat(),
    }


def outcome_with_review(trial: Trial, review: Review | None) -> str:
    return (review.outcome if review else "") or trial.outcome


def rates_with_reviews(run: Run) -> dict[str, dict[str, Json]]:
    """By configuration NAME@VERSION; empty while nobody has reviewed a trial of the run."""
    found = review_of(run)
    return {
        rate.label: {
            "value": rate.with_review.value,
            "n": rate.with_review.n,
            "of": rate.with_review.of,
            "reviewed": rate.reviewed,
            "overturned": rate.overturned,
        }
        for rate in (found.rates if found else ())
    }
