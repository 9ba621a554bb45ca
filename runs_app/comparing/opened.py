"""An open row: a trial of A and one of B on one axis of turns, with what each heard, did, said and was given for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from runs_app.audio_http import lasting_url
from runs_app.comparing.choice import BadChoice, Choice
from runs_app.comparing.divergence import (
    CallPair,
    Divergence,
    argument_rows,
    call_difference,
    calls_of,
    first_divergence,
    paired_calls,
    turn_start_ms,
)
from runs_app.comparing.heads import Shown, shown_trials
from runs_app.comparing.loading import Column, load_head
from runs_app.comparing.page import pair_of
from runs_app.comparing.partings import trials_to_hold
from runs_app.models import Grading, Trial
from runs_app.realtime.record import SAMPLES_PER_MS, Record, ToolCall, Turn
from runs_app.trial_page.state import StateRow
from scenarios_app.diffing import Piece, diff_texts


@dataclass(frozen=True)
class Side:
    """One configuration in the open row: the trial on show, and those that could be instead."""

    column: Column
    trials: tuple[Shown, ...]
    shown: Shown | None
    peaks_url: str = ""


@dataclass(frozen=True)
class Calls:
    a: ToolCall | None
    b: ToolCall | None
    rows: tuple[StateRow, ...]  # by argument: `before` is A's, `after` B's
    difference: str

    @property
    def name(self) -> str:
        call = self.a or self.b
        return call.name if call else ""


@dataclass(frozen=True)
class TurnSide:
    """`from_ms` to `to_ms` of its own recording; None where the conversation never came to this turn."""

    heard: str | None
    words: tuple[Piece, ...]
    status: str
    latency_ms: float | None
    from_ms: float
    to_ms: float


@dataclass(frozen=True)
class TurnRow:
    index: int
    caller_text: str
    a: TurnSide | None
    b: TurnSide | None
    calls: tuple[Calls, ...]

    @property
    def sides(self) -> tuple[TurnSide | None, TurnSide | None]:
        return self.a, self.b


@dataclass(frozen=True)
class Judged:
    """A dimension or a check on both sides. `differs`: not the same status, or another score."""

    name: str
    a_status: str
    b_status: str
    a_score: float | None
    b_score: float | None
    a_text: str
    b_text: str

    @property
    def differs(self) -> bool:
        return (self.a_status, self.a_score) != (self.b_status, self.b_score)


@dataclass(frozen=True)
class Opened:
    """`why` says what is missing when nothing can be laid side by side."""

    scenario_id: str
    sides: tuple[Side, ...]
    divergence: Divergence | None = None
    turns: tuple[TurnRow, ...] = ()
    grades: tuple[Judged, ...] = ()
    checks: tuple[Judged, ...] = ()
    why: str = ""


def opened_row(choice: Choice) -> Opened:
    """Of choice.opened, for the pair of the address. Raises BadChoice."""
    loaded = load_head(choice)
    pair = pair_of(choice, loaded.columns) or loaded.columns[:1]
    if not loaded.is_over:
        raise BadChoice("open: the run is not over yet, so that nothing is held side by side")
    trials = shown_trials(loaded.runs, pair, [choice.opened])
    own = [tuple(trials.get((choice.opened, column.key), ())) for column in pair]
    if not any(own):
        raise BadChoice(f"open: no trial of {choice.opened[:120]!r} in the chosen runs")
    return _opened(choice, pair, own)


def _opened(choice: Choice, pair: Sequence[Column], own: Sequence[tuple[Shown, ...]]) -> Opened:
    chosen = _chosen(choice, own)
    stored = {trial.pk: trial for trial in _stored(one.pk for one in chosen if one)}
    sides = tuple(
        Side(column, trials, shown, _peaks(stored.get(shown.pk)) if shown else "")
        for column, trials, shown in zip(pair, own, chosen, strict=True)
    )
    both = [stored.get(shown.pk) if shown else None for shown in chosen]
    if len(both) < 2:
        return Opened(choice.opened, sides, why="There is one configuration alone: add another one to compare.")
    missing = [side.column.letter for side, trial in zip(sides, both, strict=True) if not (trial and trial.record)]
    if missing:
        return Opened(choice.opened, sides, why=f"{' and '.join(missing)} left no conversation of this scenario.")
    return _side_by_side(choice.opened, sides, [trial for trial in both if trial])


def _chosen(choice: Choice, own: Sequence[tuple[Shown, ...]]) -> list[Shown | None]:
    """Those that the address names, else the two that say most."""
    default: Sequence[Shown | None] = [trials[0] if trials else None for trials in own]
    if len(own) == 2:
        default = trials_to_hold(*own) or default
    named = [next((trial for trial in trials if trial.pk in choice.trials), None) for trials in own]
    return [wanted or fallback for wanted, fallback in zip(named, default, strict=True)]


def _stored(pks: Iterable[int]) -> list[Trial]:
    return list(Trial.objects.filter(pk__in=list(pks)).prefetch_related("gradings__checks", "gradings__grades"))


def _peaks(trial: Trial | None) -> str:
    return lasting_url(reverse("trial-peaks", args=[trial.pk]), trial.peaks) if trial and trial.peaks else ""


def _side_by_side(scenario: str, sides: tuple[Side, ...], trials: Sequence[Trial]) -> Opened:
    a, b = (Record.from_json(trial.record or {}) for trial in trials)
    gradings = [next((one for one in trial.gradings.all() if one.current), None) for trial in trials]
    letters = sides[0].column.letter, sides[1].column.letter
    latencies = [_latencies(grading) for grading in gradings]
    return Opened(
        scenario_id=scenario,
        sides=sides,
        divergence=first_divergence(a, b, letters),
        turns=tuple(_turn(a, b, index, latencies, letters) for index in range(max(len(a.turns), len(b.turns)))),
        grades=tuple(_grades(*gradings)),
        checks=tuple(one for one in _checks(*gradings) if one.differs),
    )


def _latencies(grading: Grading | None) -> dict[int, float | None]:
    return {row.get("index"): row.get("response_latency_ms") for row in grading.turns} if grading else {}


def _turn(
    a: Record, b: Record, index: int, latencies: Sequence[dict[int, float | None]], letters: tuple[str, str]
) -> TurnRow:
    turns = [record.turns[index] if index < len(record.turns) else None for record in (a, b)]
    words = _words(*(turn.agent_text if turn else "" for turn in turns))
    sides = [
        _turn_side(record, turn, pieces, own.get(index)) if turn else None
        for record, turn, pieces, own in zip((a, b), turns, words, latencies, strict=True)
    ]
    text = next((turn.caller_text for turn in turns if turn), "")
    pairs = paired_calls(calls_of(a, index), calls_of(b, index))
    return TurnRow(index, text, sides[0], sides[1], tuple(_calls(pair, letters) for pair in pairs))


def _calls(pair: CallPair, letters: tuple[str, str]) -> Calls:
    return Calls(*pair, tuple(argument_rows(*pair)), call_difference(pair, letters))


def _turn_side(record: Record, turn: Turn, words: tuple[Piece, ...], latency_ms: float | None) -> TurnSide:
    following = turn.index + 1
    end = record.audio_samples / SAMPLES_PER_MS
    if following < len(record.turns):
        end = turn_start_ms(record.turns[following])
    start = max(0.0, turn_start_ms(turn))
    heard = turn.heard_text if turn.heard_text != turn.caller_text else None
    status = "" if turn.status == "completed" else turn.status_reason or turn.status
    return TurnSide(heard, words, status, latency_ms, start, max(start, end))


def _words(a: str, b: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces, those marked that the other lacks."""
    rows = diff_texts(" ".join(a.split()), " ".join(b.split())).rows
    return tuple(piece for row in rows for piece in row.old), tuple(piece for row in rows for piece in row.new)


def _grades(a: Grading | None, b: Grading | None) -> Iterable[Judged]:
    of_a, of_b = ({grade.dimension: grade for grade in one.grades.all()} if one else {} for one in (a, b))
    for name in dict.fromkeys([*of_a, *of_b]):
        sides = of_a.get(name), of_b.get(name)
        if any(side and side.status != "not_applicable" for side in sides):
            yield _judged(name, sides, "rationale")


def _checks(a: Grading | None, b: Grading | None) -> Iterable[Judged]:
    of_a, of_b = ({check.check_id: check for check in one.checks.all()} if one else {} for one in (a, b))
    for name in dict.fromkeys([*of_a, *of_b]):
        yield _judged(name, (of_a.get(name), of_b.get(name)), "reason")


def _judged(name: str, sides: tuple[Any, Any], text: str) -> Judged:
    (a_status, a_score, a_text), (b_status, b_score, b_text) = (_said(side, text) for side in sides)
    return Judged(name, a_status, b_status, a_score, b_score, a_text, b_text)


def _said(side: Any, text: str) -> tuple[str, float | None, str]:
    if side is None:
        return "", None, ""
    words = getattr(side, text) or getattr(side, "judge_error", "")
    return side.status.replace("_", " "), getattr(side, "score", None), words
