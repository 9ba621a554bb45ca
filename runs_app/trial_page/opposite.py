"""The trial to hold this one against: the same scenario in the suite's baseline, else in another configuration."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, IntegerField, Value, When

from runs_app.models import Baseline, Outcome, Trial, TrialStatus
from runs_app.querysets import TrialQuerySet


@dataclass(frozen=True)
class Opposite:
    trial: Trial
    is_baseline: bool

    @property
    def label(self) -> str:
        return (
            f"baseline {self.trial.configuration_version}"
            if self.is_baseline
            else str(self.trial.configuration_version)
        )


def opposite_of(trial: Trial) -> Opposite | None:
    """A finished one, the same repeat where there is one."""
    found = _in_baseline(trial)
    if found is not None:
        return Opposite(found, True)
    other = _in_run(trial)
    return Opposite(other, False) if other is not None else None


def _in_baseline(trial: Trial) -> Trial | None:
    baseline = Baseline.objects.of(trial.run.suite) if trial.run.suite_id and trial.run.suite else None
    if baseline is None or baseline.configuration_version_id == trial.configuration_version_id:
        return None
    same = _alike(trial).filter(configuration_version=baseline.configuration_version_id)
    same = same.filter(scenario_version__scenario=trial.scenario_version.scenario_id)
    promoted_by = Case(When(run=baseline.run_id, then=Value(0)), default=Value(1), output_field=IntegerField())
    return same.order_by(promoted_by, _apart(trial), "-run_id", "repeat").first()


def _in_run(trial: Trial) -> Trial | None:
    """The first other configuration of the run that has it, in the order of its columns."""
    columns = list(trial.run.configurations.order_by("position").values_list("configuration_version_id", flat=True))
    same = _alike(trial).filter(run=trial.run_id, scenario_version=trial.scenario_version_id)
    others = same.exclude(configuration_version=trial.configuration_version_id).order_by(_apart(trial), "repeat")
    for version in columns:
        found: Trial | None = others.filter(configuration_version=version).first()
        if found is not None:
            return found
    return None


def _alike(trial: Trial) -> TrialQuerySet:
    done = (
        Trial.objects.counted().filter(status=TrialStatus.DONE).exclude(outcome=Outcome.CANCELLED).exclude(pk=trial.pk)
    )
    return done.with_versions().defer("record", "metrics")


def _apart(trial: Trial) -> Case:
    """The same repeat first."""
    return Case(When(repeat=trial.repeat, then=Value(0)), default=Value(1), output_field=IntegerField())
