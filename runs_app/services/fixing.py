"""Fix it here: another prompt against a failed trial's scenario and a guard set, then kept as a version or thrown away.

Both prompts are talked through side by side with the same seeds, the failed trial's among them, so that what differs
is the prompt alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import Fix, Outcome, Run, RunConfiguration, Trial
from runs_app.services import intervals
from runs_app.services.runs import NotPossible, start_run
from runs_app.services.temporary import KEPT_FOR, throw_away
from scenarios_app.models import ConfigurationVersion, ScenarioVersion
from scenarios_app.services import save_configuration
from scenarios_app.services.temporary import delete_temporary, make_temporary_configuration
from scenarios_app.spec.errors import Problem, SpecError, refuse_if
from scenarios_app.spec.factors import prompt_in, with_prompt

USUAL_REPEATS = 5
MOST_REPEATS = 20
MOST_CONCURRENCY = 8


def start_fix(
    *,
    trial: Trial,
    prompt: str,
    guards: Sequence[ScenarioVersion],
    repeats: int = USUAL_REPEATS,
    user: User,
) -> Fix:
    """Begins the run: the trial's scenario so many times and each guard once, with the prompt as it is and as it would
    be. What this person tried on this trial before goes. Raises NotPossible and SpecError."""
    if trial.outcome != Outcome.FAILED:
        raise NotPossible(f"{trial} did not fail: there is nothing to fix")
    _check(trial, prompt, repeats)
    with transaction.atomic():
        content = with_prompt(trial.configuration_version.content, prompt)
        draft = make_temporary_configuration(content=content, user=user)
        run = _started(trial, draft, guards, repeats, user)
        fix = Fix.objects.create(run=run, trial=trial)
    for earlier in Run.everything.fixes_of(user).filter(fix__trial=trial, pk__lt=run.pk):
        throw_away(run=earlier)
    return fix


def _check(trial: Trial, prompt: str, repeats: int) -> None:
    problems = []
    if prompt == prompt_in(trial.configuration_version.content):
        problems.append(Problem("prompt", f"is what {trial.configuration_version} has already: change it first"))
    if not 1 <= repeats <= MOST_REPEATS:
        problems.append(Problem("repeats", f"must be from 1 to {MOST_REPEATS}, not {repeats}"))
    refuse_if(problems)


def _started(
    trial: Trial, draft: ConfigurationVersion, guards: Sequence[ScenarioVersion], repeats: int, user: User
) -> Run:
    scenarios = [trial.scenario_version, *guards]
    like = trial.run
    return start_run(
        name=f"Fix of {trial.scenario_version.scenario.key}",
        scenario_versions=scenarios,
        configuration_versions=[trial.configuration_version, draft],
        repeats=repeats,
        repeats_of={guard.scenario.key: 1 for guard in guards},
        concurrency=min(MOST_CONCURRENCY, like.concurrency),
        seed=like.seed,
        mode=like.mode,
        real_time=like.real_time,
        tool_faults=like.tool_faults,
        temporary_until=timezone.now() + KEPT_FOR,
        user=user,
    )


def keep_fix(*, fix: Fix, user: User, note: str = "", expected_number: int | None = None) -> ConfigurationVersion:
    """The prompt becomes the newest version of its configuration, and the run one that everybody sees and that counts.

    Raises NotPossible while trials are under way, ChangedMeanwhile when a newer version than the expected one is
    stored, and SpecError.
    """
    with transaction.atomic():
        run = Run.everything.select_for_update().filter(pk=fix.run_id).first()
        if run is None or (run.temporary_until and run.temporary_until <= timezone.now()):
            raise NotPossible("this prompt was thrown away meanwhile; try it again")
        if not run.is_over:
            raise NotPossible("the run is not over yet: wait for it, or throw it away")
        draft = draft_of(run)
        if draft is None:
            raise NotPossible("this prompt was kept already")
        base = fix.trial.configuration_version
        kept = _saved(base, draft, user, note, expected_number)
        run.configurations.filter(configuration_version=draft).update(configuration_version=kept)
        run.trials.filter(configuration_version=draft).update(configuration_version=kept)
        name = f"{run.name}: {base} and {kept}"[:200]
        Run.everything.filter(pk=run.pk).update(temporary_until=None, name=name)
        Fix.objects.filter(pk=fix.pk).update(kept_as=kept)
        delete_temporary(configurations=[draft.configuration_id])
        transaction.on_commit(lambda: intervals.ask_for_those_of(run))
    return kept


def _saved(
    base: ConfigurationVersion, draft: ConfigurationVersion, user: User, note: str, expected_number: int | None
) -> ConfigurationVersion:
    saved = save_configuration(
        configuration=base.configuration,
        content=draft.content,
        user=user,
        note=note,
        expected_number=expected_number,
    )
    if saved.version == base:
        raise SpecError([Problem("prompt", f"is what {base} has already")])
    return saved.version


def draft_of(run: Run) -> ConfigurationVersion | None:
    """The version that holds the new prompt; None once it was kept."""
    entries = RunConfiguration.objects.filter(run=run, configuration_version__configuration__temporary=True)
    entry = entries.select_related("configuration_version__configuration").first()
    return entry.configuration_version if entry else None
