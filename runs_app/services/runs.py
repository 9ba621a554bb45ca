"""What people do with runs: start, cancel, retry what was invalid, grade again."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import Outcome, Review, Run, RunConfiguration, RunScenario, Trial, TrialStatus
from runs_app.plans import Plan
from runs_app.recorder import bell
from runs_app.services import queues
from runs_app.services.plans import check_plan, store_plan
from runs_app.services.results import cancel_queued, cancel_rest, close_run
from runs_app.services.snapshots import Snapshot, take_snapshot
from scenarios_app.models import ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.spec.errors import Problem, SpecError, refuse_if
from scenarios_app.spec.tool_faults import parse_faults

MOST_REPEATS = 1000
MOST_CONCURRENCY = 256
MOST_TRIALS = 100_000
SEED_LIMIT = 2**53  # a seed survives JSON and a browser's numbers


class AlreadyFinished(Exception):
    """There is nothing left to cancel. The message says what it came to."""


class NotPossible(Exception):
    """What was asked for makes no sense for this run or trial now; the message says why."""


def start_run(
    *,
    suite: Suite | None = None,
    scenario_versions: Sequence[ScenarioVersion] | None = None,
    configuration_versions: Sequence[ConfigurationVersion],
    repeats: int,
    concurrency: int,
    seed: int | None = None,
    mode: str = "",
    real_time: bool | None = None,
    refresh_audio: bool = False,
    tool_faults: Mapping[str, Any] | None = None,
    stop_after_invalid: int | None = None,
    name: str = "",
    plan: Plan | None = None,
    repeats_of: Mapping[str, int] | None = None,
    temporary_until: datetime | None = None,
    user: User | None = None,
) -> Run:
    """A run with all its trials queued; work starts on commit. Without scenario_versions the suite's newest are taken.
    `repeats_of`: by scenario id, of how many the `repeats` it needs only the first ones. `temporary_until`: only tried
    out until then, counted nowhere. Raises SpecError whose paths are the argument names, or the scenario's id or
    NAME@VERSION and the field in it."""
    run = Run(
        suite=suite,
        name=name.strip(),
        repeats=repeats,
        concurrency=concurrency,
        seed=secrets.randbelow(2**31) if seed is None else seed,
        mode=mode,
        real_time=real_time,
        refresh_audio=refresh_audio,
        tool_faults=dict(tool_faults or {}),
        stop_after_invalid=stop_after_invalid,
        temporary_until=temporary_until,
        created_by=user,
    )
    _check_numbers(run)
    check_plan(plan)
    return _launched(run, _snapshot(run, scenario_versions, configuration_versions), plan, repeats_of or {})


def _snapshot(
    run: Run, scenarios: Sequence[ScenarioVersion] | None, configurations: Sequence[ConfigurationVersion]
) -> Snapshot:
    faults = parse_faults(run.tool_faults)
    return take_snapshot(suite=run.suite, scenarios=scenarios, configurations=configurations, faults=faults)


def _launched(run: Run, snapshot: Snapshot, plan: Plan | None, repeats_of: Mapping[str, int]) -> Run:
    each = [repeats_of.get(chosen.version.scenario.key, run.repeats) for chosen in snapshot.scenarios]
    trials = sum(each) * len(snapshot.configurations)
    if trials > MOST_TRIALS:
        raise SpecError([Problem("repeats", f"{trials} trials; a run has at most {MOST_TRIALS}")])
    with transaction.atomic():
        run.save()
        _store(run, snapshot, each)
        store_plan(run, plan)
        lanes = min(run.concurrency, trials)
        transaction.on_commit(lambda: queues.send_lanes(run_id=run.pk, count=lanes))
    return run


def _check_numbers(run: Run) -> None:
    problems = []
    if not 1 <= run.repeats <= MOST_REPEATS:
        problems.append(Problem("repeats", f"must be from 1 to {MOST_REPEATS}, not {run.repeats}"))
    if not 1 <= run.concurrency <= MOST_CONCURRENCY:
        problems.append(Problem("concurrency", f"must be from 1 to {MOST_CONCURRENCY}, not {run.concurrency}"))
    if not 0 <= run.seed < SEED_LIMIT:
        problems.append(Problem("seed", f"must be from 0 to {SEED_LIMIT - 1}, not {run.seed}"))
    if run.mode not in ("", "text", "audio"):
        problems.append(Problem("mode", f"must be text or audio, not {run.mode!r}"))
    if run.stop_after_invalid is not None and run.stop_after_invalid < 1:
        problems.append(Problem("stop_after_invalid", f"must be 1 or more, not {run.stop_after_invalid}"))
    if len(run.name) > 200:
        problems.append(Problem("name", "is longer than 200 characters"))
    refuse_if(problems)


def _store(run: Run, snapshot: Snapshot, repeats: Sequence[int]) -> None:
    RunScenario.objects.bulk_create(
        RunScenario(run=run, scenario_version=chosen.version, application_version=chosen.application, position=position)
        for position, chosen in enumerate(snapshot.scenarios)
    )
    RunConfiguration.objects.bulk_create(
        RunConfiguration(
            run=run,
            configuration_version=chosen.version,
            application_version=chosen.application,
            simulated=chosen.simulated,
            position=position,
        )
        for position, chosen in enumerate(snapshot.configurations)
    )
    Trial.objects.bulk_create(_trials(run, snapshot, repeats), batch_size=2000)


def _trials(run: Run, snapshot: Snapshot, repeats: Sequence[int]) -> Iterable[Trial]:
    """Repeat by repeat, and the configurations of a pair side by side: what disturbs a while disturbs both."""
    position = 0
    for repeat in range(1, run.repeats + 1):
        for scenario in (one for one, most in zip(snapshot.scenarios, repeats, strict=True) if repeat <= most):
            seed = trial_seed(run_seed=run.seed, scenario_id=scenario.spec.id, repeat=repeat)
            for configuration in snapshot.configurations:
                yield Trial(
                    run=run,
                    scenario_version=scenario.version,
                    configuration_version=configuration.version,
                    repeat=repeat,
                    position=position,
                    seed=seed,
                )
                position += 1


def trial_seed(*, run_seed: int, scenario_id: str, repeat: int) -> int:
    """The same for every configuration, so that pairs share their luck and repeats differ. 48 bits: JSON-safe."""
    text = f"{run_seed}\n{scenario_id}\n{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def cancel_run(*, run: Run) -> None:
    """Queued trials end now, running ones in two seconds; recorded ones are still graded. Raises AlreadyFinished."""
    with transaction.atomic():
        run = Run.everything.select_for_update().get(pk=run.pk)
        if run.is_over:
            raise AlreadyFinished(f"{run} is already {run.status}")
        cancel_rest(run)
    close_run(run_id=run.pk)
    bell.ring(run.pk)


def cancel_trial(*, trial: Trial) -> None:
    """Raises AlreadyFinished once its conversation is over."""
    now = timezone.now()
    with transaction.atomic():
        trial = Trial.objects.select_for_update().get(pk=trial.pk)
        if trial.status == TrialStatus.QUEUED:
            cancel_queued(trial, now)
        elif trial.status == TrialStatus.RUNNING:
            Trial.objects.filter(pk=trial.pk, cancel_requested_at=None).update(cancel_requested_at=now)
        else:
            raise AlreadyFinished(f"the conversation of {trial} is already over")
    close_run(run_id=trial.run_id)
    bell.ring(trial.run_id)


def retry_invalid(*, run: Run) -> int:
    """Puts the invalid trials back into the queue and returns how many those were. Failed ones are never retried."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        if run.cancel_requested_at:
            raise NotPossible(f"{run} was cancelled; start a new run instead")
        again = list(run.trials.filter(status=TrialStatus.DONE, outcome=Outcome.INVALID).values_list("pk", flat=True))
        Trial.objects.filter(pk__in=again).update(**_AS_NEW)
        Review.objects.filter(trial__in=again, current=True).update(current=False)  # of a conversation that is gone
        if again:
            lanes = min(run.concurrency, len(again))
            transaction.on_commit(lambda: queues.send_lanes(run_id=run.pk, count=lanes))
    close_run(run_id=run.pk)
    bell.ring(run.pk)
    return len(again)


# what an attempt leaves on its trial; the attempt's own number stays, and so do its events, files and grading
_AS_NEW: dict[str, Any] = {
    "status": TrialStatus.QUEUED,
    "outcome": "",
    "stage": "",
    "reason": "",
    "expiries": 0,
    "grading_expiries": 0,
    "cancel_requested_at": None,
    "started_at": None,
    "recorded_at": None,
    "finished_at": None,
    "record": None,
    "wav": "",
    "peaks": "",
    "events_file": "",
    "semantic_quality": None,
    "tool_accuracy": None,
    "response_latency_ms": None,
    "metrics": {},
    "failure_kind": "",
}


# what a recorded trial waits for its verdict with
_TO_GRADE: dict[str, Any] = {
    "status": TrialStatus.RECORDED,
    "outcome": "",
    "stage": "",
    "reason": "",
    "finished_at": None,
    "grading_expiries": 0,
    "failure_kind": "",
}


def regrade_trial(*, trial: Trial) -> None:
    """Grades the stored conversation again, without another one. Raises NotPossible when nothing was recorded."""
    with transaction.atomic():
        trial = Trial.objects.select_for_update().get(pk=trial.pk)
        if trial.status != TrialStatus.DONE:
            raise NotPossible(f"{trial} is not done yet")
        if trial.record is None:
            raise NotPossible(f"{trial} has no recorded conversation to grade")
        if trial.outcome == Outcome.CANCELLED:
            raise NotPossible(f"{trial} was cancelled; what is left of its conversation is not graded")
        Trial.objects.filter(pk=trial.pk).update(**_TO_GRADE)
        transaction.on_commit(lambda: queues.send_grading(trial_id=trial.pk))
    close_run(run_id=trial.run_id)
    bell.ring(trial.run_id)


def regrade_run(*, run: Run) -> int:
    """Grades every stored conversation of the run again and returns how many those are. Raises NotPossible."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        if not run.is_over:
            raise NotPossible(f"{run} is not over yet")
        again = list(run.trials.gradable().values_list("pk", flat=True))
        if not again:
            raise NotPossible(f"{run} has no recorded conversation to grade")
        run.trials.gradable().update(**_TO_GRADE)
        transaction.on_commit(lambda: queues.send_gradings(trial_ids=again))
    close_run(run_id=run.pk)
    bell.ring(run.pk)
    return len(again)
