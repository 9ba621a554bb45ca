"""A scenario that fails with a prompt, among others that pass: what a fix begins from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runs_app.models import Run, Trial
from runs_app.services.claims import claim_trial
from runs_app.services.results import finish_claimed
from scenarios_app.spec.factors import prompt_in
from tests.runs.builders import make_configuration, make_run

OLD, NEW = "Answer the phone.", "Answer the phone. Read the date back."


def play(run: Run, failing: Collection[tuple[str, str]] = ()) -> Run:
    """Every trial of the run; those fail whose (scenario, prompt) is in `failing`."""
    while claim := claim_trial(run_id=run.pk):
        trial = Trial.objects.with_versions().get(pk=claim.trial_id)
        place = (trial.scenario_version.scenario.key, prompt_in(trial.configuration_version.content))
        finish_claimed(claim=claim, outcome="failed" if place in failing else "passed", reason="As told.")
    return Run.everything.get(pk=run.pk)


def failed_trial(count: int = 4, **more: Any) -> Trial:
    """Of a run in which the first of so many scenarios fails."""
    run = make_run(count, configurations=[make_configuration(instructions=OLD, **more)], repeats=2)
    play(run, failing={("case_1", OLD)})
    return run.trials.with_versions().filter(outcome="failed")[0]
