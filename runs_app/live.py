"""The live panel of a run as plain data: what the page renders when it is loaded and the consumer when it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from runs_app.event_lines import Line, line_of
from runs_app.models import Outcome, Run, RunConfiguration, Trial, TrialStatus
from scenarios_app.services.factors import factors_of
from scenarios_app.spec.factors import Label

TAIL = 200  # events shown at once; earlier ones are loaded on demand

# how a trial that is not done looks: waiting, talking, or waiting for its verdict
_STATES = {
    TrialStatus.QUEUED: "queued",
    TrialStatus.RUNNING: "running",
    TrialStatus.RECORDED: "grading",
    TrialStatus.GRADING: "grading",
}


@dataclass(frozen=True)
class Dot:
    """One trial in the matrix. state: queued, running, grading, or the outcome."""

    pk: int
    repeat: int
    state: str
    stage: str


@dataclass(frozen=True)
class Head:
    """Of a column: the configuration and what it tests, with what differs from the first column marked."""

    label: str
    factors: tuple[Label, ...]


@dataclass(frozen=True)
class Row:
    scenario: str
    title: str
    cells: tuple[tuple[Dot, ...], ...]  # one for each configuration, repeats in order


def panel(run: Run, trial: Trial | None = None) -> dict[str, Any]:
    """Everything the live partials need: `board` and `stream` in one."""
    return {**board(run), **stream(trial or chosen_trial(run))}


def board(run: Run) -> dict[str, Any]:
    """Counts and matrix. Keys: run, counts, per_minute, minutes_left, columns, rows."""
    states = list(run.trials.states())
    counts = _counts(states)
    return {"run": run, "counts": counts, **_pace(run, counts), **_matrix(run, states)}


def stream(trial: Trial | None) -> dict[str, Any]:
    """The chosen trial and its last events. Keys: trial, lines, has_earlier, last_seq (-1 when there is none yet)."""
    if trial is None:
        return {"trial": None, "lines": [], "has_earlier": False, "last_seq": -1}
    lines = [line_of(event) for event in trial.events.tail(trial.attempt, TAIL)]
    return {
        "trial": trial,
        "lines": lines,
        "has_earlier": bool(lines) and lines[0].seq > first_seq(trial),
        "last_seq": lines[-1].seq if lines else -1,
    }


def later_lines(trial: Trial, seq: int) -> list[Line]:
    """The events after this one, at most one more than a whole tail holds."""
    return [line_of(event) for event in trial.events.after(trial.attempt, seq)[: TAIL + 1]]


def earlier_lines(trial: Trial, seq: int) -> list[Line]:
    """The TAIL events before this one."""
    before = trial.events.filter(seq__lt=seq)
    return [line_of(event) for event in before.tail(trial.attempt, TAIL)]


def first_seq(trial: Trial) -> int:
    first = trial.events.filter(attempt=trial.attempt).order_by("seq").values_list("seq", flat=True).first()
    return 0 if first is None else first


def chosen_trial(run: Run, wanted: int | None = None, shown: int | None = None) -> Trial | None:
    """The trial that was asked for. Else the one on show while it lasts, then a running one, then the last begun."""
    trials = run.trials.with_versions()
    if wanted is not None:
        return trials.filter(pk=wanted).first()
    kept = None if shown is None else trials.filter(pk=shown).first()
    if kept is not None and not kept.is_done:
        return kept
    running = trials.filter(status=TrialStatus.RUNNING).order_by("-started_at", "pk").first()
    return running or kept or trials.exclude(started_at=None).order_by("-started_at", "pk").first() or trials.first()


def _counts(states: Sequence[dict[str, Any]]) -> dict[str, int]:
    found = Counter(_state_of(state) for state in states)
    names = ("queued", "running", "grading", *Outcome.values)
    done = sum(found[outcome] for outcome in Outcome.values)
    return {"total": len(states), "done": done, **{name: found[name] for name in names}}


def _state_of(state: dict[str, Any]) -> str:
    return state["outcome"] if state["status"] == TrialStatus.DONE else _STATES[state["status"]]


def _pace(run: Run, counts: dict[str, int], now: datetime | None = None) -> dict[str, float | None]:
    """Trials per minute since the start, and how long the rest takes at that pace. None until one is done."""
    if run.started_at is None or run.is_over or not counts["done"]:
        return {"per_minute": None, "minutes_left": None}
    minutes = ((now or timezone.now()) - run.started_at).total_seconds() / 60
    per_minute = counts["done"] / max(minutes, 1 / 60)
    return {"per_minute": per_minute, "minutes_left": (counts["total"] - counts["done"]) / per_minute}


def _matrix(run: Run, states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    columns = list(run.configurations.select_related("configuration_version__configuration", "application_version"))
    scenarios = run.scenarios.select_related("scenario_version__scenario")
    cells: dict[tuple[int, int], list[Dot]] = {}
    for state in states:
        place = (state["scenario_version_id"], state["configuration_version_id"])
        dot = Dot(state["pk"], state["repeat"], _state_of(state), state["stage"])
        cells.setdefault(place, []).append(dot)
    rows = [
        Row(
            scenario=entry.scenario_version.scenario.key,
            title=entry.scenario_version.title,
            cells=tuple(
                tuple(cells.get((entry.scenario_version_id, column.configuration_version_id), ())) for column in columns
            ),
        )
        for entry in scenarios
    ]
    return {"columns": _heads(columns), "rows": rows}


def _heads(columns: Sequence[RunConfiguration]) -> list[Head]:
    versions = [column.configuration_version for column in columns]
    tools = {column.configuration_version_id: column.application_version for column in columns}
    known = factors_of(versions, applications=tools)
    return [Head(str(version), known[version.pk].labels(known[versions[0].pk])) for version in versions]
