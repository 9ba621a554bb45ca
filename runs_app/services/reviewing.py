"""What people find in trials: reviews, who is to make them, and marked moments.

A review never touches the trial's own outcome. What the trial counts as *with* reviews is `outcome_with` of it:

| verdict | fault | counts as |
|---|---|---|
| passed, failed | none, agent, judge | the verdict |
| any | caller, infrastructure | invalid: it says nothing about the agent |
| none | agent | failed |
| none | judge | ungraded, until a person gives a verdict |
| none | none | as the machine said |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import Fault, Mark, Outcome, Review, ReviewAssignment, Trial, Verdict
from runs_app.querysets import TrialQuerySet
from runs_app.services.results import storable
from scenarios_app.spec.errors import Problem, refuse_if

SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
OVERALL: Final = "overall"  # the dimension that every trial has
MOST_NOTE_CHARACTERS: Final = 5000
MOST_DIMENSIONS: Final = 50
LONGEST_MARK_NOTE: Final = 200
NOT_THE_AGENTS: Final = (Fault.CALLER, Fault.INFRASTRUCTURE)


class NotReviewable(Exception):
    """The trial cannot be reviewed now; the message says why."""


def outcome_with(verdict: str, fault: str) -> str:
    """What a trial counts as once somebody reviewed it so; empty: as the machine said."""
    if fault in NOT_THE_AGENTS:
        return str(Outcome.INVALID)
    if verdict:
        return verdict
    return {Fault.AGENT: str(Outcome.FAILED), Fault.JUDGE: str(Outcome.UNGRADED)}.get(Fault(fault), "") if fault else ""


def save_review(
    *,
    trial: Trial,
    user: User | None,
    verdict: str | None = None,
    fault: str | None = None,
    scores: Mapping[str, float] | None = None,
    note: str | None = None,
) -> Review:
    """A new review, which is the one that counts from now on; those before it stay.

    What is None stays as the review before had it, so that one key can set the fault alone; an empty text takes it
    back. Once all is taken back nothing counts any more. Saving what is saved already changes nothing. Raises
    NotReviewable, and SpecError whose paths are the argument names.
    """
    with transaction.atomic():
        trial = Trial.objects.select_for_update().get(pk=trial.pk)
        _refuse_unfinished(trial)
        before = trial.reviews.filter(current=True).first()
        found = _merged(before, {"verdict": verdict, "fault": fault, "scores": scores, "note": note})
        said = any(found.values())
        if before is None and not said:
            refuse_if([Problem("verdict", "say something of it: a verdict, a fault, a score or a note")])
        refuse_if(_problems(found))
        if before is not None and all(getattr(before, name) == value for name, value in found.items()):
            return before
        trial.reviews.filter(current=True).update(current=False)
        return Review.objects.create(
            trial=trial,
            attempt=trial.attempt,
            number=trial.reviews.count() + 1,
            current=said,
            outcome=outcome_with(found["verdict"], found["fault"]),
            machine_outcome=trial.outcome,
            machine_reason=trial.reason,
            reviewer=user,
            **found,
        )


def _refuse_unfinished(trial: Trial) -> None:
    if not trial.is_done:
        raise NotReviewable(f"{trial} is still {trial.status}; it can be reviewed when it is over")
    if trial.outcome == Outcome.CANCELLED:
        raise NotReviewable(f"{trial} was cancelled; there is no verdict to review")


def _merged(before: Review | None, given: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"verdict": "", "fault": "", "scores": {}, "note": ""}
    if before is not None:
        kept = {name: getattr(before, name) for name in kept}
    found = {name: kept[name] if value is None else value for name, value in given.items()}
    found["note"] = storable(str(found["note"]).strip())
    found["scores"] = storable(dict(sorted(found["scores"].items())))
    return found


def _problems(found: Mapping[str, Any]) -> list[Problem]:
    problems = []
    if found["verdict"] not in ("", *Verdict.values):
        problems.append(Problem("verdict", f"must be passed, failed or empty, not {found['verdict']!r}"))
    if found["fault"] not in ("", *Fault.values):
        problems.append(Problem("fault", f"must be one of {', '.join(Fault.values)}, or empty, not {found['fault']!r}"))
    if found["verdict"] == Verdict.PASSED and found["fault"] == Fault.AGENT:
        problems.append(Problem("fault", "a trial that passed is no fault of the agent; take back one of the two"))
    if len(found["note"]) > MOST_NOTE_CHARACTERS:
        problems.append(
            Problem("note", f"has {len(found['note'])} characters; at most {MOST_NOTE_CHARACTERS} are kept")
        )
    if len(found["scores"]) > MOST_DIMENSIONS:
        problems.append(
            Problem("scores", f"names {len(found['scores'])} dimensions; at most {MOST_DIMENSIONS} are kept")
        )
    return problems + [
        Problem("scores", f"{dimension}: must be one of 0, 0.25, 0.5, 0.75 and 1, not {score!r}")
        for dimension, score in found["scores"].items()
        if isinstance(score, bool) or score not in SCORES
    ]


def assign_reviews(*, trials: TrialQuerySet, person: User | None, by: User | None) -> int:
    """Gives the trials to a person, away from whoever had them; None takes them back. Returns how many those are."""
    wanted = trials.exclude(outcome=Outcome.CANCELLED).order_by()
    with transaction.atomic():
        numbers = list(wanted.values_list("pk", flat=True))
        if person is None:
            ReviewAssignment.objects.filter(trial__in=wanted.values("pk")).delete()
            return len(numbers)
        now = timezone.now()
        ReviewAssignment.objects.bulk_create(
            [ReviewAssignment(trial_id=pk, person=person, assigned_by=by, created_at=now) for pk in numbers],
            batch_size=200,
            update_conflicts=True,
            unique_fields=["trial"],
            update_fields=["person", "assigned_by", "created_at"],
        )
    return len(numbers)


def add_mark(*, trial: Trial, at_ms: float, note: str = "", user: User | None) -> Mark:
    """A moment of the conversation, under way or over. Raises SpecError, and NotReviewable before it began."""
    if trial.started_at is None:
        raise NotReviewable(f"{trial} has not begun; there is no moment to mark")
    text = storable(" ".join(note.split()))
    problems = []
    if not (math.isfinite(at_ms) and 0 <= at_ms <= 86_400_000):
        problems.append(Problem("at_ms", "must be a moment of the call, in milliseconds from its first sample"))
    if len(text) > LONGEST_MARK_NOTE:
        problems.append(Problem("note", f"has {len(text)} characters; at most {LONGEST_MARK_NOTE} are kept"))
    refuse_if(problems)
    return Mark.objects.create(trial=trial, attempt=trial.attempt, at_ms=at_ms, note=text, created_by=user)


def remove_mark(*, mark: Mark) -> None:
    mark.delete()
