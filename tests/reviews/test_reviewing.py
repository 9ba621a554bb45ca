"""Reviews beside the machine's verdict: what is kept, what they count as, and what is refused."""

from __future__ import annotations

import pytest

from runs_app.models import Review, ReviewAssignment, Trial
from runs_app.services import reviewing
from runs_app.services.reviewing import NotReviewable, assign_reviews, outcome_with, save_review
from runs_app.services.runs import retry_invalid
from scenarios_app.spec.errors import SpecError
from tests.pages.playing import begin, play
from tests.runs.builders import make_run
from tests.support import make_user

pytestmark = pytest.mark.django_db


def finished(outcome: str = "failed") -> Trial:
    run = make_run()
    play(run, [outcome], reason="booked for five")
    return run.trials.get()


@pytest.mark.parametrize(
    ("verdict", "fault", "counts_as"),
    [
        ("", "", ""),
        ("passed", "", "passed"),
        ("failed", "agent", "failed"),
        ("passed", "judge", "passed"),
        ("", "agent", "failed"),
        ("", "judge", "ungraded"),
        ("", "caller", "invalid"),
        ("failed", "caller", "invalid"),
        ("passed", "infrastructure", "invalid"),
    ],
)
def test_a_verdict_decides_unless_the_trial_says_nothing_about_the_agent(verdict, fault, counts_as) -> None:
    assert outcome_with(verdict, fault) == counts_as


def test_the_machines_verdict_is_kept_beside_the_persons_and_never_changed() -> None:
    trial, alice = finished("failed"), make_user("alice")
    review = save_review(trial=trial, user=alice, verdict="passed", scores={"overall": 0.75}, note=" fine ")
    trial.refresh_from_db()
    assert (trial.outcome, review.machine_outcome, review.outcome) == ("failed", "failed", "passed")
    assert (review.machine_reason, review.note, review.reviewer) == ("booked for five", "fine", alice)
    assert trial.gradings.get().outcome == "failed"


def test_one_key_sets_the_fault_and_leaves_the_rest_as_it_was() -> None:
    trial = finished()
    save_review(trial=trial, user=None, verdict="failed", note="too late")
    second = save_review(trial=trial, user=None, fault="caller")
    assert (second.verdict, second.note, second.fault, second.outcome) == ("failed", "too late", "caller", "invalid")
    assert [(one.number, one.current, one.fault) for one in trial.reviews.all()] == [
        (2, True, "caller"),
        (1, False, ""),
    ]


def test_saving_the_same_again_adds_nothing_to_the_history() -> None:
    trial = finished()
    first = save_review(trial=trial, user=None, verdict="failed")
    assert save_review(trial=trial, user=None, verdict="failed") == first
    taken_back = save_review(trial=trial, user=None, verdict="")
    assert (taken_back != first, taken_back.current) == (True, False)
    assert not trial.reviews.filter(current=True).exists()
    assert Review.objects.count() == 2


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, "verdict"),
        ({"verdict": "maybe"}, "verdict"),
        ({"fault": "moon"}, "fault"),
        ({"verdict": "passed", "fault": "agent"}, "fault"),
        ({"scores": {"overall": 0.3}}, "scores"),
        ({"scores": {"overall": True}}, "scores"),
        ({"note": "x" * 5001}, "note"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name_and_nothing_is_stored(given, path) -> None:
    trial = finished()
    with pytest.raises(SpecError) as refused:
        save_review(trial=trial, user=None, **given)
    assert [problem.path for problem in refused.value.problems] == [path]
    assert not Review.objects.exists()


def test_what_is_not_over_or_was_cancelled_cannot_be_reviewed() -> None:
    run = make_run()
    claim = begin(run)
    with pytest.raises(NotReviewable, match="still running"):
        save_review(trial=Trial.objects.get(pk=claim.trial_id), user=None, verdict="passed")
    with pytest.raises(NotReviewable, match="cancelled"):
        save_review(trial=finished("cancelled"), user=None, verdict="passed")


def test_a_review_of_a_conversation_that_is_held_again_no_longer_counts() -> None:
    trial = finished("invalid")
    save_review(trial=trial, user=None, fault="infrastructure")
    retry_invalid(run=trial.run)
    assert list(trial.reviews.values_list("current", "attempt")) == [(False, 1)]


def test_a_trial_is_assigned_to_one_person_at_a_time_and_taken_back() -> None:
    trial, alice, bob = finished(), make_user("alice"), make_user("bob")
    mine = Trial.objects.filter(pk=trial.pk)
    assert assign_reviews(trials=mine, person=alice, by=bob) == 1
    assert assign_reviews(trials=mine, person=bob, by=alice) == 1
    assert [one.person for one in ReviewAssignment.objects.all()] == [bob]
    assign_reviews(trials=mine, person=None, by=bob)
    assert not ReviewAssignment.objects.exists()


def test_marks_belong_to_the_conversation_in_which_they_were_set() -> None:
    run = make_run()
    trial = run.trials.get()
    with pytest.raises(NotReviewable):
        reviewing.add_mark(trial=trial, at_ms=10.0, user=None)
    begin(run)
    trial.refresh_from_db()
    mark = reviewing.add_mark(trial=trial, at_ms=1234.5, note=" odd \n pause ", user=make_user("alice"))
    assert (mark.attempt, mark.at_ms, mark.note) == (1, 1234.5, "odd pause")
    with pytest.raises(SpecError):
        reviewing.add_mark(trial=trial, at_ms=float("nan"), user=None)
    with pytest.raises(SpecError):
        reviewing.add_mark(trial=trial, at_ms=-1.0, user=None)
