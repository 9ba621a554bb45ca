"""Everything that the page of a trial shows, gathered from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max

from runs_app.grading.heard import compared_words
from runs_app.grading.metrics import CLOCKS_DIFFER_MS
from runs_app.listening.sheet import sheet_of
from runs_app.listening.window import evidence_span
from runs_app.models import Event, Grading, Trial
from runs_app.realtime.record import Record
from runs_app.reporting import trial_files
from runs_app.reporting.redaction import site_redactor
from runs_app.trial_page.caller_line import caller_lines
from runs_app.trial_page.calls import sides
from runs_app.trial_page.opposite import opposite_of
from runs_app.trial_page.persona import persona_card
from runs_app.trial_page.state import state_rows
from runs_app.trial_page.transcript import Line, transcript
from runs_app.trial_page.verdicts import grouped
from runs_app.trial_page.waterfall import TOLD, waterfall
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.scenario import parse_scenario

FIRST_EVENTS = 500
TOO_SOON = "spoke_too_soon"


@dataclass(frozen=True)
class Shown:
    """What the address chose: a grading, an event, an attempt. `attempt` is the trial's own unless an older is asked
    for, whose events alone are kept."""

    gradings: Sequence[Grading]
    grading: Grading | None
    event: int | None
    attempt: int


def shown_now(found: Trial) -> Shown:
    """What is current: where an address chooses nothing."""
    gradings = list(found.gradings.prefetch_related("checks", "grades"))
    current = next((grading for grading in gradings if grading.current), None)
    return Shown(gradings=gradings, grading=current, event=None, attempt=found.attempt)


def context_of(found: Trial, shown: Shown) -> dict[str, Any]:
    record = Record.from_json(found.record) if found.record else None
    grading = shown.grading
    timed = _of_this_conversation(found, grading)
    checks = [_check(check, timed is not None) for check in grading.checks.all()] if grading else []
    page: dict[str, Any] = {
        "trial": found,
        "record": record,
        "scenario": found.scenario_version.content,
        "grading": grading,
        "gradings": shown.gradings,
        "attempts": _attempts(found, shown.gradings),
        "attempt": shown.attempt,
        "checks": checks,
        "check_groups": grouped(checks),
        "grades": list(grading.grades.all()) if grading else [],
        "metrics": grading.metrics if grading else {},
        "too_soon": next((c for c in checks if c["check_id"] == TOO_SOON and c["status"] == "failed"), None),
        "clocks_differ": abs((grading and grading.metrics.get("latency_difference_ms")) or 0) > CLOCKS_DIFFER_MS,
        "simulated": trial_files.is_simulated(found),
        "export_notice": site_redactor().notice,
        "events": list(found.events.filter(attempt=shown.attempt)[: FIRST_EVENTS + 1]),
        "most_events": FIRST_EVENTS,
        "opposite": opposite_of(found),
    }
    return page | (_of_record(found, record, shown, checks) if record is not None else {})


def _of_record(found: Trial, record: Record, shown: Shown, checks: list[dict[str, Any]]) -> dict[str, Any]:
    timed = _of_this_conversation(found, shown.grading)
    turns = timed.turns if timed else []
    told = found.events.filter(attempt=found.attempt, type__in=tuple(TOLD)).values("t_ms", "type")
    scenario = parse_scenario(found.scenario_version.content)
    return {
        "lines": [_line(line, record, turns) for line in transcript(record)],
        "sheet": sheet_of(found, shown.grading, event=shown.event),
        "state_rows": sorted(state_rows(record), key=lambda row: not row.changed),
        "falls": waterfall(record, turns, told),
        "caller_lines": caller_lines(record),
        "persona": persona_card(scenario, record, checks),
        "call_sides": sides(scenario, record, parse_configuration(found.configuration_version.content).done_tool),
    }


def _of_this_conversation(found: Trial, grading: Grading | None) -> Grading | None:
    """What an attempt before this one was graded by has places and times of another recording."""
    return grading if grading and grading.attempt == found.attempt else None


def _check(check: Any, timed: bool) -> dict[str, Any]:
    row = {name: getattr(check, name) for name in ("check_id", "status", "required", "reason", "evidence")}
    row["span"] = evidence_span(row) if timed else None
    return row


def _line(line: Line, record: Record, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """A line of the transcript with what was recognised of it, or how soon it was said."""
    numbers = next((row for row in turns if row.get("index") == line.turn), {})
    if line.who != "caller":
        return {"line": line, "numbers": numbers}
    heard = record.turns[line.turn].heard_text
    differs = heard is not None and bool(numbers.get("word_error_rate"))
    words = compared_words(line.text, heard or "") if differs else []
    return {"line": line, "heard": heard, "words": words, "numbers": numbers}


def _attempts(found: Trial, gradings: Sequence[Grading]) -> list[dict[str, Any]]:
    """Newest first: number, events kept, how long it lasted, and what it came to."""
    counted = Event.objects.filter(trial=found).order_by("-attempt").values("attempt")
    kept: dict[int, Any] = {row["attempt"]: row for row in counted.annotate(events=Count("pk"), last_ms=Max("t_ms"))}
    numbers = sorted({*kept, *(grading.attempt for grading in gradings if grading.attempt)}, reverse=True)
    return [
        {
            "number": number,
            "events": kept.get(number, {}).get("events", 0),
            "last_ms": kept.get(number, {}).get("last_ms"),
            "grading": next((grading for grading in gradings if grading.attempt == number), None),
            "counts": number == found.attempt,
        }
        for number in numbers
    ]
