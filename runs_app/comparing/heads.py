"""What the page says of the trials in the rows on show: read for those alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from runs_app.comparing.loading import Column
from runs_app.models import Run, Trial, TrialStatus
from runs_app.stats.rows import MEASURED


@dataclass(frozen=True)
class Shown:
    """One trial of a row. `metrics` are those that comparisons read; null is not measured."""

    pk: int
    run: int
    repeat: int
    outcome: str
    stage: str
    reason: str
    has_audio: bool
    metrics: dict[str, float | None]
    tool_calls: float | None
    tool_calls_expected: float | None

    @property
    def graded(self) -> bool:
        return self.outcome in ("passed", "failed")


Places = dict[tuple[str, str], list[Shown]]  # (scenario id, configuration key) -> its trials, repeat by repeat


def shown_trials(runs: Iterable[Run], columns: Iterable[Column], scenario_ids: Collection[str]) -> Places:
    found: Places = {}
    for values in _trials(runs, columns, scenario_ids):
        place = values["key"], str(values["configuration_version_id"])
        found.setdefault(place, []).append(_shown(values))
    return found


def _trials(runs: Iterable[Run], columns: Iterable[Column], scenario_ids: Collection[str]) -> Iterable[dict[str, Any]]:
    wanted = Trial.objects.filter(
        run__in=[run.pk for run in runs],
        configuration_version__in=[column.version.pk for column in columns],
        scenario_version__scenario__key__in=scenario_ids,
    )
    return wanted.order_by("repeat", "run_id").values(
        *("pk", "run_id", "configuration_version_id", "repeat", "status", "outcome", "stage", "reason", "wav"),
        *MEASURED,
        key=F("scenario_version__scenario__key"),
        calls=F("metrics__tool_calls"),
        calls_expected=F("metrics__tool_calls_expected"),
    )


def _shown(values: dict[str, Any]) -> Shown:
    return Shown(
        pk=values["pk"],
        run=values["run_id"],
        repeat=values["repeat"],
        outcome=values["outcome"] if values["status"] == TrialStatus.DONE else "",
        stage=values["stage"],
        reason=values["reason"],
        has_audio=bool(values["wav"]),
        metrics={name: values[name] for name in MEASURED},
        tool_calls=values["calls"],
        tool_calls_expected=values["calls_expected"],
    )
