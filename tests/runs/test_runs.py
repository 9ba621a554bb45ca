"""Starting, cancelling, retrying and grading again, without any worker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from runs_app.models import Outcome, Run, RunStatus, Trial, TrialStatus
from runs_app.services import results
from runs_app.services.claims import claim_trial
from runs_app.services.runs import (
    AlreadyFinished,
    NotPossible,
    cancel_run,
    cancel_trial,
    regrade_trial,
    retry_invalid,
    start_run,
    trial_seed,
)
from scenarios_app.spec.errors import SpecError
from tests.runs.builders import make_configuration, make_run, make_suite, scenario

pytestmark = pytest.mark.django_db(transaction=True)


def finish(trial: Trial, outcome: str, **more) -> None:
    with results.transaction.atomic():
        results.end_trial(trial, outcome=outcome, **more)
    results.close_run(run_id=trial.run_id)


def test_a_run_has_a_trial_for_each_scenario_configuration_and_repeat():
    configurations = [make_configuration("A"), make_configuration("B")]
    run = make_run(2, configurations=configurations, repeats=3)
    assert run.trials.count() == 2 * 2 * 3
    assert run.status == RunStatus.QUEUED
    order = list(
        run.trials.values_list(
            "repeat", "scenario_version__scenario__key", "configuration_version__configuration__name"
        )[:5]
    )
    assert order == [(1, "case_1", "A"), (1, "case_1", "B"), (1, "case_2", "A"), (1, "case_2", "B"), (2, "case_1", "A")]


def test_configurations_share_their_luck_and_repeats_differ():
    run = make_run(1, configurations=[make_configuration("A"), make_configuration("B")], repeats=2, seed=7)
    seeds = {repeat: set() for repeat in (1, 2)}
    for trial in run.trials.all():
        seeds[trial.repeat].add(trial.seed)
    assert [len(found) for found in seeds.values()] == [1, 1]
    assert seeds[1] != seeds[2]


def test_a_trial_seed_is_the_same_on_every_machine_and_fits_into_json():
    assert trial_seed(run_seed=7, scenario_id="book_table", repeat=1) == 159012172998557
    assert trial_seed(run_seed=8, scenario_id="book_table", repeat=1) != 159012172998557
    assert trial_seed(run_seed=7, scenario_id="book_table", repeat=1) < 2**53


def test_without_a_seed_two_runs_differ():
    assert make_run(seed=None).seed != make_run(seed=None).seed


def test_a_run_keeps_the_versions_it_started_with():
    run = make_run([scenario("case_1")])
    before = run.scenarios.get().scenario_version
    make_suite([scenario("case_1", title="Another title")], name="later")
    before.scenario.refresh_from_db()
    assert before.scenario.latest != before
    assert run.scenarios.get().scenario_version == before
    assert run.trials.get().scenario_version == before


def test_the_application_is_fixed_for_configuration_and_scenario():
    run = make_run([scenario("own", application={"initial_state": {}, "ref": {"name": "Trattoria"}}), scenario("its")])
    assert str(run.configurations.get().application_version) == "Trattoria@1"
    assert [str(entry.application_version) for entry in run.scenarios.all()] == ["Trattoria@1", "None"]


def test_an_archived_scenario_is_not_run():
    suite = make_suite(2)
    gone = suite.scenarios.get(key="case_1")
    gone.archived_at = timezone.now()
    gone.save()
    run = start_run(suite=suite, configuration_versions=[make_configuration()], repeats=1, concurrency=1)
    assert run.trials.get().scenario_version.scenario.key == "case_2"


def test_a_simulated_agent_judge_or_voice_is_marked():
    plain = make_configuration("A")
    judged = make_configuration("B", judge={"endpoint": "simulator", "model": "sim-judge"})
    run = make_run(1, configurations=[plain, judged])
    assert list(run.configurations.values_list("simulated", flat=True)) == [False, True]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"repeats": 0}, "repeats: must be from 1 to"),
        ({"concurrency": 0}, "concurrency: must be from 1 to"),
        ({"concurrency": 257}, "concurrency: must be from 1 to 256, not 257"),
        ({"seed": -1}, "seed: must be from 0 to"),
        ({"mode": "video"}, "mode: must be text or audio, not 'video'"),
        ({"name": "x" * 201}, "name: is longer"),
    ],
)
def test_a_number_or_word_that_makes_no_sense_is_named(changes, said):
    with pytest.raises(SpecError, match=said):
        make_run(**changes)
    assert not Run.objects.exists()


def test_an_empty_suite_or_no_configuration_is_refused():
    suite = make_suite(1)
    suite.entries.all().delete()
    with pytest.raises(SpecError) as refused:
        start_run(suite=suite, configuration_versions=[], repeats=1, concurrency=1)
    assert "scenarios: suite demo has no scenarios that can be run" in str(refused.value)
    assert "configurations: no configuration is chosen" in str(refused.value)


def test_the_same_configuration_twice_is_refused():
    version = make_configuration()
    with pytest.raises(SpecError, match="Front desk@1 is chosen twice"):
        make_run(configurations=[version, version])


def test_what_no_engine_serves_yet_is_refused_by_name():
    live = make_configuration("Live", protocol="live", mode="audio", endpoint="wss://agent.example/v1/live")
    with pytest.raises(SpecError, match=r"Live@1: backend.mode"):
        make_run([scenario("one")], configurations=[live])
    assert not Run.objects.exists()


def test_an_application_that_is_not_stored_is_refused_by_name():
    lost = make_configuration("Lost", application={"name": "Nowhere"})
    with pytest.raises(SpecError, match=r"Lost@1: application.*Nowhere"):
        make_run(configurations=[lost])


def test_a_tool_that_the_scenarios_application_declares_too_is_refused():
    tools = [{"type": "function", "name": "create_reservation", "parameters": {"type": "object", "properties": {}}}]
    version = make_configuration("Tools", application=None, session_update={"tools": tools})
    own = scenario("own", application={"initial_state": {}, "ref": {"name": "Trattoria"}})
    assert make_run(1, configurations=[version]).trials.count() == 1
    with pytest.raises(SpecError, match="create_reservation"):
        make_run([own], configurations=[version])


def test_cancelling_ends_queued_trials_and_asks_running_ones():
    run = make_run(3)
    claim = claim_trial(run_id=run.pk)
    cancel_run(run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    assert run.cancel_requested_at is not None
    states = list(run.trials.values_list("status", "outcome"))
    assert states == [(TrialStatus.RUNNING, ""), (TrialStatus.DONE, "cancelled"), (TrialStatus.DONE, "cancelled")]
    results.finish_claimed(claim=claim, outcome=Outcome.CANCELLED, reason="stopped")
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED
    assert run.finished_at is not None


def test_one_trial_can_be_cancelled_and_the_run_goes_on():
    run = make_run(2)
    first, second = run.trials.all()
    cancel_trial(trial=first)
    with pytest.raises(AlreadyFinished):
        cancel_trial(trial=first)
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED
    finish(second, Outcome.PASSED)
    run.refresh_from_db()
    assert run.status == RunStatus.DONE


def test_only_invalid_trials_are_retried_and_their_attempts_are_kept():
    run = make_run(3, concurrency=3)
    claims = [claim_trial(run_id=run.pk) for _ in range(3)]
    for claim, outcome in zip(claims, ("passed", "failed", "invalid"), strict=True):
        results.finish_claimed(claim=claim, outcome=outcome, stage="connect" if outcome == "invalid" else "")
    run.refresh_from_db()
    assert run.status == RunStatus.DONE
    assert retry_invalid(run=run) == 1
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    again = run.trials.get(status=TrialStatus.QUEUED)
    assert (again.outcome, again.stage, again.attempt) == ("", "", 1)
    second = claim_trial(run_id=run.pk)
    assert second.attempt == 2
    results.finish_claimed(claim=second, outcome=Outcome.PASSED)
    again.refresh_from_db()
    assert list(again.gradings.values_list("attempt", "outcome", "current")) == [
        (2, "passed", True),
        (1, "invalid", False),
    ]
    run.refresh_from_db()
    assert run.status == RunStatus.DONE


def test_a_cancelled_run_is_not_retried():
    run = make_run(1)
    cancel_run(run=run)
    with pytest.raises(NotPossible, match="was cancelled"):
        retry_invalid(run=run)


def test_a_trial_without_a_recording_cannot_be_graded_again():
    run = make_run(1)
    trial = run.trials.get()
    with pytest.raises(NotPossible, match="not done yet"):
        regrade_trial(trial=trial)
    finish(trial, Outcome.INVALID, stage="speech")
    with pytest.raises(NotPossible, match="no recorded conversation"):
        regrade_trial(trial=trial)


def test_a_reason_is_one_clean_line_without_secrets(settings, monkeypatch):
    settings.SOUNDCHECK_SECRETS = "SHOP_KEY=https://shop.example"
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret")
    run = make_run(1)
    finish(run.trials.get(), Outcome.INVALID, stage="connect", reason="refused\nkey sk-very-secret\ud800" + "x" * 2000)
    reason = run.trials.get().reason
    assert reason.startswith("refused key [secret SHOP_KEY]\ufffdxxx")
    assert len(reason) == 1000


def test_what_an_old_attempt_came_to_is_refused():
    run = make_run(1)
    old = claim_trial(run_id=run.pk)
    Trial.objects.update(status=TrialStatus.QUEUED, lease_expires_at=None)
    new = claim_trial(run_id=run.pk)
    assert results.finish_claimed(claim=old, outcome=Outcome.FAILED) is False
    assert results.finish_claimed(claim=new, outcome=Outcome.PASSED) is True
    assert run.trials.get().outcome == "passed"
    assert results.finish_claimed(claim=new, outcome=Outcome.FAILED) is False
    assert run.trials.get().gradings.count() == 1


def test_closing_a_run_twice_changes_nothing():
    run = make_run(1)
    finish(run.trials.get(), Outcome.PASSED)
    run.refresh_from_db()
    first = run.finished_at
    results.close_run(run_id=run.pk)
    run.refresh_from_db()
    assert run.finished_at == first
    assert first - timezone.now() < timedelta(seconds=1)
