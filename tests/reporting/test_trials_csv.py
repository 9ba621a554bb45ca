"""A run as CSV: one row per trial, numbers as numbers, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from runs_app.grading.metrics import METRICS
from runs_app.models import Run, Trial
from runs_app.reporting.results import trial_rows
from runs_app.reporting.trials_csv import COLUMNS, trials_csv
from tests.grading import builders as evidence
from tests.pages.comparing import Result, finished_run, key, versions
from tests.pages.playing import queries_of
from tests.pages.trials import record_trial
from tests.runs.builders import make_configuration, make_run, scenario

pytestmark = pytest.mark.django_db


def rows_of(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(trials_csv(run))))


def test_each_trial_is_a_row_with_every_metric() -> None:
    metrics = {"semantic_quality": 0.75, "response_latency_ms": 812.5}
    run = finished_run(lambda trial: Result(metrics=metrics), scenarios=2, configurations=versions(2), repeats=2)
    rows = rows_of(run)
    assert len(rows) == 8
    assert list(rows[0]) == [*COLUMNS, *METRICS]
    first = rows[0]
    assert (first["scenario"], first["configuration"], first["repeat"]) == ("case_1", "Front desk@1", "1")
    assert (first["semantic_quality"], first["response_latency_ms"]) == ("0.75", "812.5")
    assert first["tool_accuracy"] == ""  # not measured is empty, never 0
    assert first["simulated"] == "no"


def test_a_failed_trial_names_its_checks() -> None:
    trial = record_trial(make_run(), evidence.record(evidence.call()))
    (row,) = rows_of(trial.run)
    assert row["outcome"] == "failed"
    assert "application_state" in row["failed_checks"].split()
    assert row["reason"] == trial.reason


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=cmd|"/c calc"!A1'])
def test_text_that_a_spreadsheet_would_run_is_quoted_and_numbers_are_not(text: str) -> None:
    run = finished_run(
        lambda trial: Result(metrics={"latency_difference_ms": -3.5}), scenarios=1, configurations=versions(1)
    )
    Trial.objects.filter(run=run).update(reason=text)
    (row,) = rows_of(run)
    assert row["reason"] == f"'{text}"
    assert row["latency_difference_ms"] == "-3.5"


def test_the_page_serves_it_as_a_download_and_more_trials_cost_no_more_queries(signed_in: Client) -> None:
    small = finished_run(lambda trial: Result(), scenarios=1, configurations=versions(1))
    large = finished_run(lambda trial: Result(), scenarios=9, configurations=versions(1))
    answer = signed_in.get(f"/runs/{small.pk}/trials.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="run-{small.pk}-trials.csv"'
    for path in ("trials.csv", "junit.xml", "results.json"):
        few, many = (queries_of(signed_in, f"/runs/{run.pk}/{path}") for run in (small, large))
        assert few == many, path


@pytest.mark.parametrize(
    ("mode", "more", "limit_ms"),
    [
        ("audio", {"timeouts": {"turn": 12}}, 12_000.0),
        ("audio", {"timeouts": {"turn": "120s"}}, 120_000.0),
        ("text", {}, None),
    ],
)
def test_a_row_for_statistics_carries_the_limit_that_a_time_out_reached(mode: str, more: Any, limit_ms: Any) -> None:
    run = make_run(1, configurations=[make_configuration(mode=mode, **more)])
    (row,) = trial_rows(list(run.trials.with_versions()))
    assert row.timeout_ms == limit_ms


def test_what_scenario_and_run_say_about_the_mode_counts_for_the_limit() -> None:
    spoken = [scenario("spoken", mode="audio"), scenario("written")]
    run = make_run(spoken, configurations=[make_configuration(mode="text")])
    limits = {key(trial): row.timeout_ms for trial, row in _with_rows(run)}
    assert limits == {"spoken": 60_000.0, "written": None}
    run = make_run(spoken, configurations=[make_configuration(mode="text")], mode="text")
    assert {row.timeout_ms for _, row in _with_rows(run)} == {None}


def _with_rows(run: Run) -> list[tuple[Trial, Any]]:
    trials = list(run.trials.with_versions())
    return list(zip(trials, trial_rows(trials), strict=True))
