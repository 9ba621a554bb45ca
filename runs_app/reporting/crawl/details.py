"""transcripts/<id>.json: everything about one conversation, under CRAWL's keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from runs_app.grading.case import Case
from runs_app.grading.metrics import METRICS
from runs_app.realtime.record import SAMPLES_PER_MS, Caption, Record, Turn, Usage
from runs_app.reporting.crawl import numbers
from runs_app.reporting.crawl.facts import DIMENSION_IDS, Facts, assessment, observability
from runs_app.reporting.crawl.words import transcript_text

Json = Any

SCHEMA_VERSION: Final = "2.0"


def details(facts: Facts, artifacts: Mapping[str, Json]) -> dict[str, Json]:
    """Only for a trial with a record. `artifacts` as in results.json."""
    assert facts.record is not None
    assert facts.case is not None
    return {
        "schema_version": SCHEMA_VERSION,
        "example_id": facts.id,
        "session_id": facts.record.session.get("id"),
        "mode": facts.mode,
        **_scenario(facts),
        "paths": dict(artifacts),
        **_words(facts.record, facts.case),
        **_tools(facts, facts.case),
        "evaluation_transcript": transcript_text(facts.record),
        "agent_events": _agent_events(facts.case),
        **_numbers(facts, facts.record),
        **_verdicts(facts),
    }


def _scenario(facts: Facts) -> dict[str, Json]:
    scenario = facts.material.scenario
    context = scenario.input.context
    parts = [name for name in ("summary", "history") if context and getattr(context, name)]
    return {
        "scenario_type": scenario.task_type,
        "context_mode": "_and_".join(parts) or "none",
        "conversation_context": context.to_json() if context else None,
        "initial_state": facts.record.initial_state if facts.record else {},
        "input_reference": scenario.input.text,
    }


def _words(record: Record, case: Case) -> dict[str, Json]:
    captions = [caption for turn in record.turns for caption in turn.captions]
    last_tool_ms = case.last_tool_end_ms
    after = [c for c in captions if last_tool_ms is not None and c.t_ms >= last_tool_ms]
    heard = [turn.heard_text for turn in record.turns if turn.heard_text is not None]
    return {
        "input_projected": " ".join(heard) if heard else None,
        "input_fragments": [{"turn": t.index, "text": t.heard_text} for t in record.turns if t.heard_text is not None],
        "assistant_projected": case.reply,
        "assistant_turn_transcript": record.turns[-1].agent_text if record.turns else "",
        "assistant_fragments": _fragments(captions),
        "post_tool_assistant_fragments": _fragments(after),
        "post_tool_assistant_text": "".join(caption.text for caption in after).strip(),
        **backend_words(record),
        "turns": [_turn(turn) for turn in record.turns],
    }


def backend_words(record: Record) -> dict[str, Json]:
    """Empty where the voice model itself calls the tools."""
    said = [(work.id, text) for work in record.delegations for text in work.texts]
    used = numbers.backend_usage(record) if record.delegations else Usage()
    return {
        "backend_messages": [{"delegation_id": delegation_id, "text": text} for delegation_id, text in said],
        "backend_text": " ".join(text for _, text in said),
        "backend_usage_events": [] if used == Usage() else [{"usage": asdict(used)}],
    }


def _fragments(captions: Iterable[Caption]) -> list[dict[str, Json]]:
    return [{"text": caption.text, "start_ms": caption.t_ms} for caption in captions]


def _turn(turn: Turn) -> dict[str, Json]:
    return {
        "index": turn.index,
        "caller_text": turn.caller_text,
        "heard_text": turn.heard_text,
        "assistant_text": turn.agent_text,
        "status": turn.status,
        "status_reason": turn.status_reason,
        "start_ms": turn.caller.start / SAMPLES_PER_MS if turn.caller else turn.sent_ms,
        "end_ms": turn.done_ms,
    }


def _tools(facts: Facts, case: Case) -> dict[str, Json]:
    expected = facts.material.scenario.expected
    return {
        "delegations": _delegations(case),
        "expected_delegation": expected.delegation,
        "expected_tool_calls": [call.to_json() for call in expected.tools.required],
        "tool_calls": [
            {
                "call_id": call.call_id,
                "name": call.name,
                "arguments": call.arguments,
                "raw_arguments": call.arguments_raw,
            }
            for call in case.calls
        ],
        "tool_executions": [
            {
                "call_id": call.call_id,
                "name": call.name,
                "arguments": call.arguments,
                "status": call.status,
                "output": call.output if call.error is None else {"ok": False, "error": call.error},
            }
            for call in facts.executed
        ],
        "final_state": case.record.final_state,
    }


def _delegations(case: Case) -> list[dict[str, Json]]:
    """One for each task handed on; without a backend, for each response that called a function, at its first call."""
    if case.record.delegations:
        handed = case.record.delegations
        return [{"id": work.id, "target": work.target, "offset_ms": work.created_ms} for work in handed]
    found: dict[object, dict[str, Json]] = {}
    for call in case.calls:
        key = call.response_id or (call.turn, call.round)
        first = {"id": call.response_id, "target": "direct", "offset_ms": call.called_ms}
        found.setdefault(key, first)
    return list(found.values())


def _agent_events(case: Case) -> list[dict[str, Json]]:
    events: list[dict[str, Json]] = []
    for call in case.calls:
        about = {"call_id": call.call_id, "name": call.name}
        events.append({"type": "tool.called", "offset_ms": call.called_ms, **about})
        if call.answered_ms is not None:
            over = "tool.completed" if call.status == "completed" else "tool.failed"
            events.append({"type": over, "offset_ms": call.answered_ms, **about})
    return events


def _numbers(facts: Facts, record: Record) -> dict[str, Json]:
    told = facts.trial.metrics
    return {
        "audio_timeline": _timeline(facts, record),
        "timeline_usage": asdict(record.usage),
        "task_metrics": numbers.task(facts),
        "interaction_metrics": numbers.audio(facts),
        "turn_metrics": facts.grading.turns if facts.grading else [],
        "efficiency_metrics": numbers.consumption(facts),
        "evidence_metrics": {name: told.get(name) for name, info in METRICS.items() if info.group == "latency"},
        "rubric_metrics": numbers.semantic_quality(facts),
    }


def _timeline(facts: Facts, record: Record) -> dict[str, Json]:
    turns = facts.grading.turns if facts.grading else []
    spoken = [turn["agent_speech_start_ms"] for turn in turns if turn.get("agent_speech_start_ms") is not None]
    texts = [caption.t_ms for turn in record.turns for caption in turn.captions]
    caller = record.turns[0].caller if record.turns else None
    return {
        "projected_user_turn_end_ms": caller.end / SAMPLES_PER_MS if caller else None,
        "first_assistant_speech_offset_ms": min(spoken, default=None),
        "first_assistant_text_offset_ms": min(texts, default=None),
    }


def _verdicts(facts: Facts) -> dict[str, Json]:
    return {
        "dimension_grades": dimension_grades(facts),
        "semantic_grades": semantic_grades(facts),
        "judge_usage_events": [
            {"dimension": g.dimension, "input_tokens": g.input_tokens, "output_tokens": g.output_tokens}
            for g in facts.grades
            if g.input_tokens is not None or g.output_tokens is not None
        ],
        "assessment": assessment(facts),
        "observability": observability(facts),
    }


def dimension_grades(facts: Facts) -> dict[str, Json]:
    return {
        c.check_id: {"status": c.status, "evidence": c.evidence} for c in facts.checks if c.check_id in DIMENSION_IDS
    }


def semantic_grades(facts: Facts) -> dict[str, Json]:
    return {
        grade.dimension: {"status": grade.status, "score": grade.score, "rationale": grade.rationale}
        for grade in facts.grades
    }
