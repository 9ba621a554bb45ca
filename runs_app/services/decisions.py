"""What a team decides on a comparison: kept as it was seen, with who decided, for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from runs_app.models import Decision, Run
from runs_app.services.baselines import promote_baseline
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.spec.errors import Problem, refuse_if
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.jsontext import clean, finite

Json = Any

MOST_NOTE = 10_000


def frozen_document(document: dict[str, Json]) -> dict[str, Json]:
    """Strict JSON, as it is stored; its hash is content_hash of it."""
    found: dict[str, Json] = clean(finite(document))
    return found


def suite_of(runs: Sequence[Run]) -> Suite | None:
    """The one suite that all of these runs are of; runs of no suite, such as extra repeats, have no say."""
    suites = {run.suite for run in runs if run.suite is not None}
    return suites.pop() if len(suites) == 1 else None


def record_decision(
    *,
    document: dict[str, Json],
    query: str,
    runs: Sequence[Run],
    baseline_version: ConfigurationVersion,
    candidate_version: ConfigurationVersion,
    choice: str,
    note: str,
    hypothesis: str = "",
    promote: bool = False,
    user: User,
) -> Decision:
    """Freezes `document`. With `promote` what was chosen becomes the suite's baseline. Raises SpecError."""
    note, suite = note.strip(), suite_of(runs)
    _check(choice, note, promote, suite)
    document = frozen_document(document)
    with transaction.atomic():
        decision = Decision.objects.create(
            suite=suite,
            baseline_version=baseline_version,
            candidate_version=candidate_version,
            choice=choice,
            hypothesis=hypothesis[:500],
            note=note,
            document=document,
            document_hash=content_hash(document),
            query=query,
            decided_by=user,
            reviewer=user.get_username(),
        )
        decision.runs.set(runs)
        if promote and suite is not None:
            chosen = candidate_version if choice == Decision.Choice.ADOPT else baseline_version
            promote_baseline(
                suite=suite, configuration_version=chosen, run=_run_with(chosen, runs), decision=decision, user=user
            )
    return decision


def _run_with(version: ConfigurationVersion, runs: Sequence[Run]) -> Run | None:
    """The newest of these runs of a suite that has it."""
    of_suite = [run.pk for run in runs if run.suite_id is not None]
    return Run.objects.filter(pk__in=of_suite, configurations__configuration_version=version).first()


def _check(choice: str, note: str, promote: bool, suite: Suite | None) -> None:
    problems = []
    if choice not in Decision.Choice.values:
        problems.append(Problem("choice", "say what is decided"))
    if not note:
        problems.append(Problem("note", "write down why: whoever reads this later was not there"))
    if len(note) > MOST_NOTE:
        problems.append(Problem("note", f"is longer than {MOST_NOTE} characters"))
    if promote and suite is None:
        problems.append(Problem("promote", "these runs are not of one suite: there is no baseline to set"))
    if promote and choice == Decision.Choice.POSTPONE:
        problems.append(Problem("promote", "nothing is decided yet: the baseline stays"))
    refuse_if(problems)
