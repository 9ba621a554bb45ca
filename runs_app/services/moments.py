"""A draft of a scenario, begun at a moment of a trial."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from runs_app.models import Trial
from runs_app.moments import content_from
from runs_app.realtime.record import Record
from runs_app.services.material import material_of
from runs_app.services.replaying import state_at
from scenarios_app.models import ScenarioDraft
from scenarios_app.services import begin_draft
from scenarios_app.services.scenarios import free_key


class NothingRecorded(Exception):
    """The trial left no conversation that could be gone on with."""


@dataclass(frozen=True)
class Begun:
    draft: ScenarioDraft
    state_known: bool
    has_words: bool  # whether the caller said anything after the moment


def begin_scenario(*, trial: Trial, t_ms: float, person: User) -> Begun:
    """Raises NothingRecorded, and SpecError when what the trial used is no longer what the contract says."""
    record = Record.from_json(trial.record) if trial.record else None
    if record is None or not record.turns:
        raise NothingRecorded("Nothing was said in this trial, so there is no moment to begin from.")
    then = state_at(trial=trial, material=material_of(trial), record=record, t_ms=t_ms)
    # what a try plays has a key of its own that says nothing to anybody
    key = free_key(trial.scenario_version.content["id"])
    content = content_from(trial.scenario_version.content, record, t_ms, key=key, state=then.state)
    content["source"] = {"trial": str(trial.pk)}
    note = f"From trial {trial.pk} at {t_ms / 1000:.1f} s"
    draft = begin_draft(person=person, content=content, note=note)
    return Begun(draft, then.known, bool(content["input"]["text"]))
