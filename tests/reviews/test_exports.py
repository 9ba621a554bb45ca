"""Reviews in JSON and CSV: beside the machine's verdict, and as careful with formulas and secrets as the rest."""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runs_app.models import Run
from runs_app.reporting.results import run_results
from runs_app.reporting.trial_files import trial_document
from runs_app.reporting.trials_csv import trials_csv
from runs_app.services.reviewing import save_review
from tests.pages.playing import play
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewed(alice: User) -> Run:
    run = make_run(3)
    play(run, ["failed", "failed", "passed"])
    first, second, _ = run.trials.order_by("position")
    save_review(trial=first, user=alice, verdict="failed", note="=HYPERLINK(1)")
    save_review(trial=first, user=alice, verdict="passed", fault="judge", scores={"overall": 0.75})
    save_review(trial=second, user=alice, fault="caller")
    return run


def test_the_results_of_a_run_tell_both_outcomes_and_both_rates(reviewed: Run) -> None:
    document = run_results(reviewed)
    results = document["results"]
    assert [(one["outcome"], one["outcome_with_review"]) for one in results] == [
        ("failed", "passed"),
        ("failed", "invalid"),
        ("passed", "passed"),
    ]
    assert results[0]["review"]["scores"] == {"overall": 0.75}
    assert results[0]["review"]["machine_outcome"] == "failed"
    assert results[2]["review"] is None
    metrics = document["configurations"][0]["metrics"]
    assert (metrics["pass_rate"]["value"], metrics["pass_rate"]["n"]) == (pytest.approx(1 / 3), 3)
    assert metrics["pass_rate_with_reviews"] == {"value": 1.0, "n": 2, "of": 3, "reviewed": 2, "overturned": 2}


def test_the_json_of_a_trial_has_every_review_in_order(reviewed: Run, signed_in: Client) -> None:
    trial = reviewed.trials.order_by("position")[0]
    reviews = trial_document(trial)["reviews"]
    assert [(one["number"], one["current"], one["verdict"]) for one in reviews] == [
        (2, True, "passed"),
        (1, False, "failed"),
    ]
    assert reviews[0]["reviewer"] == "alice"


def test_a_row_of_the_csv_has_the_review_and_no_formula(reviewed: Run) -> None:
    first, second, third = csv.DictReader(io.StringIO(trials_csv(reviewed)))
    assert (first["outcome"], first["outcome_with_review"], first["review_fault"]) == ("failed", "passed", "judge")
    assert first["review_scores"] == "overall=0.75"
    assert first["review_note"] == "'=HYPERLINK(1)"
    assert (second["outcome_with_review"], second["reviewed_by"]) == ("invalid", "alice")
    assert (third["outcome_with_review"], third["review_verdict"], third["reviewed_at"]) == ("passed", "", "")


def test_what_is_redacted_elsewhere_is_redacted_in_notes(reviewed: Run, settings, alice: User) -> None:
    settings.REDACT_FIELDS = ["reservation_created", "note"]
    trial = reviewed.trials.order_by("position")[0]
    assert trial_document(trial)["reviews"][0]["note"] == "[redacted]"
