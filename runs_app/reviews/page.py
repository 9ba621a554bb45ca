"""What the pages show of reviews: the queue and its progress, the form beside a trial, and agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User

from runs_app.models import Fault, Grade, Mark, Outcome, Review, Trial, Verdict
from runs_app.querysets import TrialQuerySet
from runs_app.reviews.wanted import Wanted, beside, trials_of
from runs_app.services.reviewing import OVERALL, SCORES
from runs_app.stats.agreement import Agreement, agreement

VERDICT_KEYS = {"": "u", Verdict.PASSED: "p", Verdict.FAILED: "f"}
FAULT_KEYS = {
    "": "o",
    Fault.AGENT: "a",
    Fault.CALLER: "c",
    Fault.JUDGE: "j",
    Fault.INFRASTRUCTURE: "i",
}


@dataclass(frozen=True)
class Progress:
    reviewed: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.reviewed


@dataclass(frozen=True)
class Draft:
    """What a form holds of a review. `problems` say why it was refused."""

    verdict: str = ""
    fault: str = ""
    note: str = ""
    scores: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreRow:
    """One dimension: what the machine gave and what a person gives. `choices` are (key, score, chosen)."""

    dimension: str
    machine: float | None
    choices: tuple[tuple[int, float, bool], ...]

    @property
    def scored(self) -> bool:
        return any(chosen for _, _, chosen in self.choices)


def people() -> list[User]:
    return list(User.objects.filter(is_active=True).order_by("username"))


def progress_of(wanted: Wanted, viewer: User) -> Progress:
    """How much of what the filter names has a review; whether it has is no part of the filter then."""
    total = trials_of(replace(wanted, reviewed="any"), viewer).count()
    left = trials_of(replace(wanted, reviewed="no"), viewer).count()
    return Progress(total - left, total)


def listed(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Rows of trial, review (the current one, or None) and person (who is asked to review it)."""
    current = Review.objects.filter(current=True, trial__in=[trial.pk for trial in trials]).select_related("reviewer")
    reviews = {review.trial_id: review for review in current}
    return [
        {"trial": trial, "review": reviews.get(trial.pk), "person": getattr(assigned, "person", None)}
        for trial in trials
        for assigned in [getattr(trial, "review_assignment", None)]
    ]


def agreement_of(trials: TrialQuerySet) -> Agreement:
    """Of the machine's verdicts with people's, over the reviewed trials that have both."""
    graded = (Outcome.PASSED, Outcome.FAILED)
    both = Review.objects.filter(current=True, trial__in=trials.order_by().values("pk"))
    both = both.filter(outcome__in=graded, trial__outcome__in=graded)
    return agreement(both.values_list("trial__outcome", "outcome"))


def panel(
    trial: Trial, wanted: Wanted, viewer: User, grades: Sequence[Grade], draft: Draft | None = None
) -> dict[str, Any]:
    """What stands in the review tab of a trial's page. `draft`: what was refused, to be mended there."""
    history = list(trial.reviews.select_related("reviewer"))
    current = next((review for review in history if review.current), None)
    shown = draft or (Draft(current.verdict, current.fault, current.note, current.scores) if current else Draft())
    assigned = getattr(trial, "review_assignment", None)
    return {
        "reviewable": trial.is_done and trial.outcome != Outcome.CANCELLED,
        "review": current,
        "reviews": history,
        "draft": shown,
        "verdicts": [(value, key, value == shown.verdict) for value, key in VERDICT_KEYS.items()],
        "faults": [(value, key, value == shown.fault) for value, key in FAULT_KEYS.items()],
        "scores": score_rows(grades, shown.scores),
        "assigned_to": assigned.person if assigned else None,
        "people": people(),
        "moments": list(Mark.objects.filter(trial=trial, attempt=trial.attempt).select_related("created_by")),
        "progress": progress_of(wanted, viewer) if wanted.queue else None,
    }


def score_rows(grades: Sequence[Grade], given: Mapping[str, Any]) -> list[ScoreRow]:
    """The trial as a whole, then every dimension that the judge was asked about or a person scored before."""
    machine = {grade.dimension: grade.score for grade in grades if grade.status != "not_applicable"}
    names = list(dict.fromkeys([OVERALL, *machine, *given]))
    return [ScoreRow(name, machine.get(name), _choices(given.get(name))) for name in names]


def _choices(given: float | None) -> tuple[tuple[int, float, bool], ...]:
    return tuple((place + 1, score, given == score) for place, score in enumerate(SCORES))


def neighbours(trial: Trial, wanted: Wanted, viewer: User) -> dict[str, int | None]:
    """Previous and next within what the address names; of the trial's own run where it names nothing."""
    within = wanted if wanted.query else Wanted(run=trial.run_id)
    trials = trials_of(within, viewer)
    return {"previous": beside(trials, trial, "previous"), "next": beside(trials, trial, "next")}
