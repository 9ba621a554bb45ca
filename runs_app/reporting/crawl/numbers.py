"""CRAWL's metrics of one trial. What was not measured is null, never 0."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from runs_app.grading.audio_metrics import RESPONSE_DEADLINE_MS
from runs_app.models import Outcome
from runs_app.realtime.record import SAMPLES_PER_MS, Record, Usage
from runs_app.reporting.crawl.facts import Facts

Json = Any

METRICS_VERSION: Final = "2.0"


def metrics(facts: Facts) -> dict[str, Json]:
    return {"task": task(facts), "audio": audio(facts), "consumption": consumption(facts)}


def task(facts: Facts) -> dict[str, Json]:
    known = facts.trial.metrics
    expected = len(facts.material.scenario.expected.tools.required)
    return {
        "task_completed": facts.trial.outcome == Outcome.PASSED,
        "semantic_quality": semantic_quality(facts),
        "tool_accuracy": known.get("tool_accuracy"),
        "tool_calls": {"actual": known.get("tool_calls"), "expected": expected},
        "delegation_accuracy": known.get("delegation_accuracy"),
        "delegations": _pair(known, "delegations"),
        "turns": _pair(known, "conversation_turns"),
    }


def semantic_quality(facts: Facts) -> dict[str, Json]:
    scores = {grade.dimension: grade.score for grade in facts.grades if grade.score is not None}
    return {"score": facts.trial.metrics.get("semantic_quality"), "dimensions": scores}


def _pair(known: dict[str, Json], name: str) -> dict[str, Json]:
    return {"actual": known.get(name), "expected": known.get(f"{name}_expected")}


def audio(facts: Facts) -> dict[str, Json]:
    """The latency is CRAWL's own, on its bare grid of 20 ms frames; the refined one is under `soundcheck`."""
    known = facts.trial.metrics
    return {
        "response_rate": known.get("response_rate"),
        "response_latency_ms": known.get("response_latency_unrefined_ms"),
        "interruption_rate": known.get("interruption_rate"),
        "speaking_duration_ms": _cumulative(known, "speaking_duration"),
        "floor_hold_silence_ms": _cumulative(known, "floor_hold_silence"),
        "metrics_version": METRICS_VERSION,
        "response_deadline_ms": RESPONSE_DEADLINE_MS,
        "response_opportunities": _opportunities(facts),
        "response_exclusion_reasons": dict(Counter(_reasons(facts))),
    }


def _cumulative(known: dict[str, Json], name: str) -> dict[str, Json]:
    return {"cumulative": known.get(f"{name}_ms"), "maximum": known.get(f"{name}_max_ms")}


def _turns(facts: Facts) -> list[dict[str, Json]]:
    return facts.grading.turns if facts.grading else []


def _reasons(facts: Facts) -> list[str]:
    return [turn["response_reason"] for turn in _turns(facts) if turn.get("response") == "excluded"]


def _opportunities(facts: Facts) -> dict[str, Json]:
    turns = _turns(facts)
    verdicts = Counter(turn["response"] for turn in turns if turn.get("response"))
    heard = bool(verdicts)
    late, excluded = verdicts["late"], verdicts["excluded"]
    missed = verdicts["missed"] + late
    counted = {
        "response_eligible_count": verdicts.total() - excluded,
        "response_censored_count": verdicts["censored"],
        "response_excluded_count": len(turns) - verdicts.total() + excluded,
        "response_late_count": late,
        "response_total": verdicts["answered"] + missed,
        "response_count": verdicts["answered"],
        "no_response_count": missed,
    }
    # nobody listened to a trial in text mode: its counts are unknown
    return {"caller_turn_count": len(turns), **(counted if heard else dict.fromkeys(counted))}


def backend_usage(record: Record) -> Usage:
    """Of whoever thinks: our own backend, the provider's (all that GPT Live tells), or else the voice model itself."""
    return record.usage if record.backend_usage == Usage() else record.backend_usage


def consumption(facts: Facts) -> dict[str, Json]:
    record = facts.record
    usage = backend_usage(record) if record else Usage()
    spoken = record is not None and record.mode == "audio"
    return {
        "frontend": {"audio_duration_ms": record.audio_samples / SAMPLES_PER_MS if record and spoken else None},
        "backend": {
            "total_tokens": usage.total_tokens,
            "input": {
                "total": usage.input_tokens,
                "cached": usage.input_cached_tokens,
                "cache_write": None,
                "text": usage.input_text_tokens,
            },
            "output": {"total": usage.output_tokens, "text": usage.output_text_tokens, "reasoning": None},
        },
    }
