"""A run with and without reviews, and the page of its two clocks."""

from __future__ import annotations

import html
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from runs_app.clocks import MOST_BINS, bins, clocks_of
from runs_app.models import Trial
from runs_app.reviews.rates import review_of
from runs_app.services.reviewing import save_review
from tests.pages.playing import begin, end, play
from tests.runs.builders import make_run

db = pytest.mark.django_db


@db
def test_rates_with_reviews_follow_the_people_and_leave_the_machines_alone(alice: User) -> None:
    """Machine: 2 of 4. A fail overturned, a fail that is the caller's, a pass that is none, a pass left alone."""
    run = make_run(4)
    play(run, ["failed", "failed", "passed", "passed"])
    assert review_of(run) is None
    overturned, callers, none, _ = run.trials.order_by("position")
    save_review(trial=overturned, user=alice, verdict="passed", fault="judge")
    save_review(trial=callers, user=alice, fault="caller")
    save_review(trial=none, user=alice, verdict="failed")
    found = review_of(run)
    assert found is not None
    (rate,) = found.rates
    assert (rate.machine.passed, rate.machine.n, rate.machine.of) == (2, 4, 4)
    assert (rate.with_review.passed, rate.with_review.n) == (2, 3)
    assert rate.with_review.excluded == {"invalid": 1}
    assert (rate.reviewed, rate.overturned, rate.moved) == (3, 3, {"caller": 1})
    assert (found.agreement.n, found.agreement.agreed) == (2, 0)


@db
def test_a_fault_of_the_judge_without_a_verdict_leaves_the_trial_without_one(alice: User) -> None:
    run = make_run(2)
    play(run, ["failed", "passed"])
    save_review(trial=run.trials.order_by("position")[0], user=alice, fault="judge")
    found = review_of(run)
    assert found is not None
    rate = found.rates[0].with_review
    assert (rate.passed, rate.n, rate.excluded) == (1, 1, {"ungraded": 1})


@db
def test_the_runs_page_shows_both_rates_once_somebody_reviewed(alice: User, signed_in: Client) -> None:
    run = make_run(2)
    play(run, ["failed", "passed"])
    assert "With reviews" not in signed_in.get(run.get_absolute_url()).content.decode()
    save_review(trial=run.trials.order_by("position")[0], user=alice, verdict="passed")
    page = html.unescape(signed_in.get(run.get_absolute_url()).content.decode())
    assert "With reviews" in page
    assert "1 count otherwise than the machine said" in page
    assert f'href="/review/?run={run.pk}&reviewed=disagree"' in page


def measured_run(values: list[float | None]) -> list[Trial]:
    run = make_run(len(values))
    for value in values:
        metrics = {"latency_difference_ms": value, "response_latency_ms": 900.0, "event_latency_ms": 800.0}
        end(begin(run), "passed", metrics=metrics)
    return list(run.trials.order_by("position"))


@db
def test_clocks_are_counted_summed_up_and_the_suspicious_named(signed_in: Client) -> None:
    trials = measured_run([10.0, 12.0, 230.0, -250.0, None])
    found = clocks_of(trials[0].run)
    (summary,) = found.summaries
    assert (summary.n, summary.of, summary.mean) == (4, 5, 0.5)
    assert [trial.pk for trial in found.trials] == [trials[3].pk, trials[2].pk]
    assert sum(one.counts[0] for one in found.bins) == 4
    page = signed_in.get(f"/runs/{trials[0].run_id}/clocks/").content.decode()
    figure = json.loads(page.split('id="figures" type="application/json">')[1].split("</script>")[0])[0]["figure"]
    bars = figure["data"][0]
    assert sum(bars["y"]) == 4
    rows = page.split("The same numbers as a table")[1].split("</table>")[0]
    assert [f'<td class="num">{count}</td>' in rows for count in bars["y"]] == [True] * len(bars["y"])


@db
def test_a_run_without_two_clocks_says_why(signed_in: Client) -> None:
    run = make_run(1)
    assert "as the run goes on" in signed_in.get(f"/runs/{run.pk}/clocks/").content.decode()
    play(run, ["passed"])
    assert "text mode has no recording" in signed_in.get(f"/runs/{run.pk}/clocks/").content.decode()
    assert signed_in.get("/runs/999999/clocks/").status_code == 404


values = st.lists(st.floats(-60_000, 60_000, allow_nan=False), max_size=40)


@given(first=values, second=values)
def test_every_difference_lies_in_exactly_one_bin(first: list[float], second: list[float]) -> None:
    found = bins([first, second])
    assert len(found) <= MOST_BINS
    for place, column in enumerate((first, second)):
        for one in found:
            inside = sum(one.low_ms <= value < one.high_ms for value in column)
            assert one.counts[place] == inside
        assert sum(one.counts[place] for one in found) == len(column)
