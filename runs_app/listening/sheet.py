"""What the player shows of one trial: where its recording is, its lanes, and the same as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from runs_app import models
from runs_app.audio_http import lasting_url
from runs_app.listening.lanes import DOTS, Lanes, Mark, lanes_of
from runs_app.listening.window import Window, evidence_window
from runs_app.models import Grading, Trial
from runs_app.realtime.record import SAMPLES_PER_MS, Record
from runs_app.reporting.redaction import site_redactor
from runs_app.services.artifacts import Shape, wav_shape

DOTTED = tuple(DOTS)
MOST_DOTS = 600  # on the lane; the table of events has the rest


@dataclass(frozen=True)
class Row:
    """A line of the table that says what the waves and lanes show."""

    start_ms: float
    end_ms: float
    who: str
    text: str


@dataclass(frozen=True)
class Sheet:
    """`trial` is None where a listener must not know whose recording it is."""

    label: str
    lanes: Lanes
    rows: tuple[Row, ...] = ()
    wav_url: str = ""
    peaks_url: str = ""
    channels: int = 2
    trial: Trial | None = None
    hear: Window | None = None
    at_ms: float | None = None  # where a link points to
    notice: str = ""  # what of an export is redacted

    @property
    def anchors(self) -> list[float]:
        return self.lanes.turn_starts_ms


def sheet_of(trial: Trial, grading: Grading | None = None, *, event: int | None = None) -> Sheet | None:
    """Of the current grading unless another is given; one of an attempt before this recording tells nothing of it.

    `event`: the seq of one that the listener is sent to. None for a trial that left nothing.
    """
    shape = _shape(trial)
    if shape is None and not trial.record:
        return None
    shown = grading or trial.gradings.filter(current=True).first()
    shown = shown if shown and shown.attempt == trial.attempt else None
    checks: list[Any] = list(shown.checks.values("check_id", "status", "required", "evidence")) if shown else []
    record = Record.from_json(trial.record) if trial.record else None
    lanes = (_lanes(trial, record, shown, checks) if record else Lanes(0, 0)).with_marks(_people_s(trial))
    lanes = lanes.lasting(shape.duration_ms) if shape else lanes
    return Sheet(
        label=f"{trial.scenario_version.content['id']} · {trial.configuration_version} · repeat {trial.repeat}",
        lanes=lanes,
        rows=tuple(_rows(record, lanes)),
        wav_url=lasting_url(reverse("trial-audio", args=[trial.pk]), trial.wav) if shape else "",
        peaks_url=lasting_url(reverse("trial-peaks", args=[trial.pk]), trial.peaks) if shape and trial.peaks else "",
        channels=shape.channels if shape else 2,
        trial=trial,
        hear=evidence_window(record, checks) if record and shape else None,
        at_ms=_event_ms(trial, event),
        notice=site_redactor().notice,
    )


def _shape(trial: Trial) -> Shape | None:
    try:
        return wav_shape(trial.wav) if trial.wav else None
    except FileNotFoundError:
        return None


def _people_s(trial: Trial) -> list[Mark]:
    """What people marked while they listened."""
    marks = trial.marks.filter(attempt=trial.attempt).select_related("created_by")
    return [moment(mark) for mark in marks]


def moment(mark: models.Mark) -> Mark:
    by = mark.created_by.get_username() if mark.created_by else "somebody"
    return Mark("marks", mark.at_ms, mark.at_ms, mark.note or by, "made", number=mark.pk)


def _lanes(trial: Trial, record: Record, grading: Grading | None, checks: Sequence[Any]) -> Lanes:
    events = trial.events.filter(attempt=trial.attempt, type__in=DOTTED).values("seq", "t_ms", "type")
    return lanes_of(
        record,
        turns=grading.turns if grading else (),
        checks=checks,
        grades=list(grading.grades.values("dimension", "status", "evidence")) if grading else (),
        events=events[:MOST_DOTS],
    )


def _event_ms(trial: Trial, seq: int | None) -> float | None:
    if seq is None:
        return None
    found: float | None = trial.events.filter(attempt=trial.attempt, seq=seq).values_list("t_ms", flat=True).first()
    return found


def _rows(record: Record | None, lanes: Lanes) -> list[Row]:
    """Everything that was said and every mark, in the order in which it happened."""
    rows = [*map(_row, lanes.marks), *(said_rows(record) if record else ())]
    return sorted(rows, key=lambda row: (row.start_ms, row.end_ms))


def said_rows(record: Record) -> Iterable[Row]:
    for turn in record.turns:
        if turn.caller:
            yield Row(*_ms(turn.caller), "caller", turn.caller_text)
        if turn.agent:
            yield Row(_ms(turn.agent[0])[0], _ms(turn.agent[-1])[1], "agent", turn.agent_text)


def _row(mark: Mark) -> Row:
    return Row(mark.start_ms, mark.end_ms, mark.lane, mark.label)


def _ms(span: Any) -> tuple[float, float]:
    return span.start / SAMPLES_PER_MS, span.end / SAMPLES_PER_MS
