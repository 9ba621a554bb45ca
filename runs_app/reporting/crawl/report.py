"""results.json: one configuration, one repeat, in CRAWL's schema 2.0. What is ours stands under `soundcheck`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from runs_app.models import Run, RunConfiguration
from runs_app.realtime.endpoints import shown
from runs_app.realtime.record import RATE_HZ
from runs_app.reporting.crawl.details import SCHEMA_VERSION
from runs_app.reporting.crawl.facts import Facts, assessment, audio_source, observability
from runs_app.reporting.crawl.numbers import metrics
from runs_app.reporting.results import url_of
from runs_app.services import secrets
from runs_app.services.caller_voice import speech_cache
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.jsontext import canonical

Json = Any
Artifacts = Mapping[str, str | None]

MODULE: Final = "crawl"


def report(
    run: Run,
    entry: RunConfiguration,
    rows: Sequence[tuple[Facts, Artifacts]],
    *,
    folder: str,
    repeat: int,
    dataset: str,
    notice: str,
) -> dict[str, Json]:
    """`rows` in the order of the scenarios; `dataset`: the absolute path of the scenario file beside the folders."""
    statuses = [facts.status for facts, _ in rows]
    kinds = {facts.material.scenario.interaction for facts, _ in rows}
    spec = parse_configuration(entry.configuration_version.content)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": folder,
            "module": MODULE,
            "execution_mode": "offline_fixture" if entry.simulated else "live",
            "interaction": "multi_turn" if "multi_turn" in kinds else "single_turn",
            "dataset": dataset,
            "configuration": _configuration(run, spec, [facts for facts, _ in rows]),
        },
        "summary": {
            "total": len(rows),
            "passed": statuses.count("passed"),
            "failed": statuses.count("failed"),
            "infrastructure_errors": statuses.count("infrastructure_error"),
        },
        "results": [_result(facts, artifacts) for facts, artifacts in rows],
        "soundcheck": {"notice": notice, **_of_run(run, entry, spec, [facts for facts, _ in rows], repeat)},
    }


def _configuration(run: Run, spec: Configuration, rows: Sequence[Facts]) -> dict[str, Json]:
    recorded = [facts.record for facts in rows if facts.record]
    return {
        "audio_source": audio_source(recorded[0] if recorded else None),
        "model": spec.model,
        "backend_model": spec.backend.model if spec.backend else None,
        "assistant_mode": spec.backend.mode if spec.backend else "direct",
        "assistant_endpoint": shown(spec.backend.endpoint) if spec.backend and spec.backend.endpoint else None,
        "voice": spec.voice,
        "tts_model": spec.caller.model,
        "audio_cache_dir": str(speech_cache()),
        "refresh_audio": run.refresh_audio,
        "concurrency": run.concurrency,
        "sample_rate_hz": RATE_HZ,
        "chunk_ms": spec.chunk_ms,
        "real_time": spec.audio.real_time if run.real_time is None else run.real_time,
    }


def _of_run(
    run: Run, entry: RunConfiguration, spec: Configuration, rows: Sequence[Facts], repeat: int
) -> dict[str, Json]:
    version, application = entry.configuration_version, entry.application_version
    rubrics = sorted({facts.grading.rubric_version for facts in rows if facts.grading and facts.grading.rubric_version})
    scenarios = [facts.trial.scenario_version.content for facts in rows]
    return {
        "run": run.pk,
        "name": run.name,
        "url": url_of(run),
        "status": run.status,
        "simulated": entry.simulated,
        "repeat": repeat,
        "repeats": run.repeats,
        "seed": run.seed,
        "tool_faults": run.tool_faults,
        "started_at": _iso(run.started_at),
        "finished_at": _iso(run.finished_at),
        "configuration": {
            "name": version.configuration.name,
            "version": version.number,
            "content_hash": version.content_hash,
            "protocol": spec.protocol,
            "endpoint": secrets.redact(spec.endpoint),
            "prompt_hash": hashlib.sha256(spec.instructions.encode()).hexdigest(),
            "caller": {"model": spec.caller.model, "voice": spec.caller.voice},
            "judge": spec.judge and {"model": spec.judge.model, "reasoning_effort": spec.judge.reasoning_effort},
            "timeouts": spec.timeouts.to_json(),
        },
        "application": {"version": str(application), "content_hash": application.content_hash} if application else None,
        "dataset_hash": hashlib.sha256(canonical(scenarios)).hexdigest(),
        "rubrics": rubrics,
    }


def _result(facts: Facts, artifacts: Artifacts) -> dict[str, Json]:
    return {
        "scenario_id": facts.id,
        "title": facts.material.scenario.title,
        "status": facts.status,
        "metrics": metrics(facts),
        "artifacts": dict(artifacts),
        "error": facts.error,
        "assessment": assessment(facts),
        "observability": observability(facts),
        "soundcheck": _of_trial(facts),
    }


def _of_trial(facts: Facts) -> dict[str, Json]:
    trial, grading = facts.trial, facts.grading
    return {
        "trial": trial.pk,
        "url": url_of(trial),
        "outcome": trial.outcome or None,
        "stage": trial.stage or None,
        "reason": trial.reason,
        "simulated": facts.simulated,
        "scenario_version": trial.scenario_version.number,
        "scenario_hash": trial.scenario_version.content_hash,
        "reference_date": facts.record.reference_date if facts.record else None,
        "repeat": trial.repeat,
        "seed": trial.seed,
        "attempt": trial.attempt,
        "real_time": facts.record.real_time if facts.record else None,
        "started_at": _iso(trial.started_at),
        "recorded_at": _iso(trial.recorded_at),
        "finished_at": _iso(trial.finished_at),
        "rubric_version": (grading.rubric_version or None) if grading else None,
        "judge_model": (grading.judge_model or None) if grading else None,
        "notes": grading.notes if grading else [],
        "metrics": trial.metrics,
        "assertions": [
            {"id": check.check_id, "status": check.status, "reason": check.reason}
            for check in facts.checks
            if check.check_id.startswith("assertion:")
        ],
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
