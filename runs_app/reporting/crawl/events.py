"""events/<id>.jsonl: the timeline as CRAWL writes it, with the verdicts as its last lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from runs_app.reporting.crawl.details import dimension_grades, semantic_grades
from runs_app.reporting.crawl.facts import Facts, assessment

Json = Any

MOST_CHARACTERS: Final = 800  # of one text; the site's own events.jsonl has all of it
_DIRECTIONS: Final = {"sent": "client_to_server", "received": "server_to_client"}


def event_lines(facts: Facts, stored: Iterable[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """`stored`: the events of docs/events.md in order. Times count from the first of them."""
    start_ms, last_ms, index = None, 0.0, 0
    for event in stored:
        start_ms = event["t_ms"] if start_ms is None else start_ms
        last_ms = event["t_ms"] - start_ms
        yield _line(index, last_ms, *_place(event), event["type"], _event(event))
        index += 1
    for type, payload in _verdicts(facts):
        yield _line(index, last_ms, "evaluator", "internal", type, {"type": type, **payload})
        index += 1


def _line(index: int, time_ms: float, source: str, direction: str, type: str, event: Json) -> dict[str, Json]:
    return {
        "type": type,
        "event_index": index,
        "event_time_ms": round(time_ms, 3),
        "source": source,
        "direction": direction,
        "event": event,
    }


def _place(event: dict[str, Json]) -> tuple[str, str]:
    if event["direction"] in _DIRECTIONS:
        return "live_frontend", _DIRECTIONS[event["direction"]]
    if event["source"] == "tool":
        return "assistant_application", "application_internal"
    return ("caller_audio" if event["source"] == "caller" else "evaluator"), "internal"


def _event(event: dict[str, Json]) -> dict[str, Json]:
    short: dict[str, Json] = _cut({**event["payload"], "type": event["type"]})
    return {**short, "soundcheck": {"seq": event["seq"], "t_ms": event["t_ms"]}}


def _cut(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{value[:MOST_CHARACTERS]}… ({len(value)} characters)"
    return value


def _verdicts(facts: Facts) -> Iterator[tuple[str, dict[str, Json]]]:
    if facts.grading is None:
        return
    yield "evaluation.checks.assessed", {"dimensions": dimension_grades(facts)}
    yield "evaluation.outcome.assessed", assessment(facts)
    if facts.judged:
        yield "evaluation.semantic_judge.completed", {"dimensions": semantic_grades(facts)}
