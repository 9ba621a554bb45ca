"""Intervals of percentiles and pass^k: made once, kept by their content, laid into comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from runs_app.comparing import intervals as laying
from runs_app.comparing.choice import Choice
from runs_app.comparing.conditions import comparison_of
from runs_app.comparing.loading import load
from runs_app.models import StoredIntervals
from runs_app.models.decisions import RunPlan
from runs_app.services.intervals import make_intervals
from runs_app.services.runs import regrade_run
from runs_app.stats.estimate import BEING_COMPUTED
from tests.pages.comparing import Result, finished_run, key, same, side

pytestmark = pytest.mark.django_db


def timed(trial: Any) -> Result:
    place = int(key(trial).rsplit("_", 1)[1])
    spread = 10.0 * place + 7 * trial.repeat + 20 * side(trial) * (place % 3)
    return Result("passed" if place % 4 else "failed", metrics={"response_latency_ms": 400 + spread})


def test_what_a_task_made_is_laid_in_and_is_what_the_page_would_have_made(monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished_run(timed, scenarios=30, repeats=2)
    loaded = load(Choice(runs=(run.pk,)))
    bare = comparison_of(loaded)
    made_here = laying.with_intervals(bare, loaded)
    assert not made_here.pairs[0].tails.waits
    assert made_here.pairs[0].tails.p50.low is not None
    assert not StoredIntervals.objects.exists()
    monkeypatch.setattr(laying, "QUICK_TRIALS", 0)  # as if it were large
    waiting = laying.with_intervals(bare, loaded)
    assert waiting.pairs[0].tails.p50.why == BEING_COMPUTED
    assert waiting.pairs[0].tails.p50.value == made_here.pairs[0].tails.p50.value
    assert make_intervals(run_ids=[run.pk], version_ids=[]) == 3  # two configurations, one pair
    assert make_intervals(run_ids=[run.pk], version_ids=[]) == 0
    stored = laying.with_intervals(bare, loaded)
    assert stored.pairs[0].tails == made_here.pairs[0].tails
    assert stored.configurations[0].tails == made_here.configurations[0].tails


def test_a_run_that_is_gone_has_none_to_make() -> None:
    assert make_intervals(run_ids=[999], version_ids=[]) == 0


def test_the_plan_of_the_run_names_what_decides_and_what_does_not_matter() -> None:
    run = finished_run(timed, scenarios=30, repeats=2)
    RunPlan.objects.create(run=run, primaries=["response_latency_ms"], margins={"response_latency_ms": 500})
    metrics = comparison_of(load(Choice(runs=(run.pk,)))).pairs[0].metrics
    assert [name for name, one in metrics.items() if one.primary] == ["response_latency_ms"]
    equivalence = metrics["response_latency_ms"].equivalence
    assert equivalence is not None
    assert equivalence.holds
    assert metrics["response_latency_ms"].verdict.small


def test_a_simulator_says_nothing_about_a_real_agent() -> None:
    run = finished_run(same(semantic_quality=0.5))
    entry = run.configurations.first()
    entry.simulated = True
    entry.save()
    metrics = comparison_of(load(Choice(runs=(run.pk,)))).pairs[0].metrics
    assert {one.verdict.word for one in metrics.values()} == {"Not comparable"}
    assert "simulator" in metrics["pass_rate"].verdict.reason


def test_a_run_that_is_graded_again_is_read_again() -> None:
    run = finished_run(timed, scenarios=3)
    before = load(Choice(runs=(run.pk,)))
    assert load(Choice(runs=(run.pk,))).trials is before.trials
    run.trials.update(record={})
    regrade_run(run=run)
    assert load(Choice(runs=(run.pk,))).trials is not before.trials
