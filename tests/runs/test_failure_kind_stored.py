"""The kind of a failure is stored with the trial when it is graded, forgotten with its verdict, and made up for."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from runs_app.models import Trial
from runs_app.services.runs import regrade_trial
from tests.grading import builders as evidence
from tests.pages.trials import SOUND, record_trial
from tests.runs.builders import make_run, scenario

pytestmark = pytest.mark.django_db


def graded() -> Trial:
    """The scenario wants the state unchanged; the agent changed it."""
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    record = evidence.audio_record(called, audio_samples=len(SOUND), final_state={"reservation_created": True})
    return record_trial(make_run([scenario("case_1")]), record, SOUND)


def test_grading_stores_the_kind_and_grading_again_forgets_it_first() -> None:
    trial = graded()
    assert trial.outcome == "failed"
    assert trial.failure_kind.startswith("application_state::")
    assert list(Trial.objects.failed(trial.failure_kind)) == [trial]
    regrade_trial(trial=trial)
    trial.refresh_from_db()
    assert trial.failure_kind == ""


def test_failures_from_before_get_the_kind_that_grading_would_have_stored() -> None:
    trial = graded()
    Trial.objects.update(failure_kind="")
    import_module("runs_app.migrations.0007_kinds_of_earlier_failures").kinds_of_earlier(apps, None)
    assert Trial.objects.get().failure_kind == trial.failure_kind
