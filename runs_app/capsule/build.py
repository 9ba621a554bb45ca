"""A bug capsule: everything that somebody without an account needs to see what happened at one moment of a trial."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from runs_app.capsule.picture import waveform_svg
from runs_app.capsule.replay import replay_command, scenario_file
from runs_app.models import Trial
from runs_app.realtime.record import SAMPLES_PER_MS, Record, ToolCall, Turn
from runs_app.realtime.wav import wav_bytes
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.trial_files import is_simulated, trial_redactor
from runs_app.services.artifacts import read_clip
from scenarios_app.spec.jsontext import dumps, finite
from scenarios_app.spec.scenario import dump_file, parse_scenario

CLIP_MS = 6000.0
Json = Any


@dataclass(frozen=True)
class Capsule:
    """Redacted already, but for the clip: it is what was heard. Without a recording clip and picture are empty."""

    name: str  # of its files, without a suffix
    facts: dict[str, Json]
    scenario: dict[str, Json]
    scenario_file: str
    notice: str
    clip: bytes
    picture: str


def capsule_of(trial: Trial, at_ms: float) -> Capsule:
    """Around `at_ms` of the recording; a moment outside of it is taken to its nearest end. Raises OSError."""
    redactor = trial_redactor(trial)
    record = Record.from_json(trial.record) if trial.record else None
    start_ms, samples = _clip(trial, at_ms)
    content = parse_scenario(trial.scenario_version.content)
    clip = samples is not None and len(samples) > 0
    length_ms = len(samples) / SAMPLES_PER_MS if samples is not None else 0.0
    at_ms = max(start_ms, min(at_ms, start_ms + length_ms)) if clip else max(0.0, at_ms)
    return Capsule(
        name=f"trial-{trial.pk}-at-{at_ms / 1000:.1f}s",
        facts=redactor.json(finite(_facts(trial, record, at_ms, (start_ms, start_ms + length_ms)))),
        scenario=redactor.json(dump_file([content])),
        scenario_file=scenario_file(trial),
        notice=_notice(redactor, clip),
        clip=wav_bytes(samples) if clip else b"",
        picture=waveform_svg(samples, start_ms=start_ms, at_ms=at_ms) if clip else "",
    )


def _clip(trial: Trial, at_ms: float) -> tuple[float, Any]:
    if not trial.wav:
        return 0.0, None
    try:
        return read_clip(trial.wav, around_ms=at_ms, length_ms=CLIP_MS)
    except FileNotFoundError:
        return 0.0, None


def _notice(redactor: Redactor, clip: bool) -> str:
    heard = " The recording always is what was heard." if clip and redactor.fields else ""
    return redactor.notice + heard


def _facts(trial: Trial, record: Record | None, at_ms: float, clip_ms: tuple[float, float]) -> dict[str, Json]:
    turn = _turn_at(record, at_ms) if record else None
    version, scenario = trial.configuration_version, trial.scenario_version
    page = f"{settings.SITE_URL}{trial.get_absolute_url()}"
    return {
        "trial": trial.pk,
        "permalink": f"{page}?t={at_ms / 1000:.2f}",
        "at_ms": round(at_ms, 1),
        "clip_ms": [round(ms, 1) for ms in clip_ms] if clip_ms[1] > clip_ms[0] else None,
        "outcome": trial.outcome or trial.status,
        "stage": trial.stage or None,
        "reason": trial.reason,
        "simulated": is_simulated(trial),
        "scenario": {"id": scenario.scenario.key, "version": scenario.number, "hash": scenario.content_hash},
        "configuration": {
            "name": version.configuration.name,
            "version": version.number,
            "hash": version.content_hash,
            "model": version.content.get("model"),
        },
        "run": trial.run_id,
        "repeat": trial.repeat,
        "seed": trial.seed,
        "replay": replay_command(trial),
        "turn": _turn(turn) if turn else None,
        "tools": [_call(call) for call in record.tool_calls if turn and call.turn == turn.index] if record else [],
    }


def _turn_at(record: Record, at_ms: float) -> Turn | None:
    """The last one that had begun; before the first, the first."""
    begun = [turn for turn in record.turns if _start_ms(turn) <= at_ms]
    return begun[-1] if begun else next(iter(record.turns), None)


def _start_ms(turn: Turn) -> float:
    return turn.caller.start / SAMPLES_PER_MS if turn.caller else turn.sent_ms


def _turn(turn: Turn) -> dict[str, Json]:
    return {
        "number": turn.index + 1,
        "caller": turn.caller_text,
        "recognised": turn.heard_text,
        "agent": turn.agent_text,
        "status": turn.status,
    }


def _call(call: ToolCall) -> dict[str, Json]:
    told: dict[str, Json] = {"name": call.name, "arguments": call.arguments, "status": call.status}
    if call.arguments is None:
        told |= {"arguments_raw": call.arguments_raw, "parse_error": call.parse_error}
    return told | {
        "called_ms": call.called_ms,
        "answered_ms": call.answered_ms,
        "output": call.output,
        "error": call.error,
        "fault": call.fault,
    }


def html_of(capsule: Capsule) -> str:
    """One file without any reference to another."""
    sound = base64.b64encode(capsule.clip).decode()
    return render_to_string("runs_app/capsule.html", {"capsule": capsule, "facts": capsule.facts, "sound": sound})


def zip_of(capsule: Capsule) -> bytes:
    """The same file with its parts beside it, each under its own name."""
    files: Mapping[str, bytes] = {
        "capsule.html": html_of(capsule).encode(),
        "moment.json": dumps({"notice": capsule.notice, **capsule.facts}).encode(),
        "tools.json": dumps(capsule.facts["tools"]).encode(),
        capsule.scenario_file: dumps(capsule.scenario).encode(),
        **({"clip.wav": capsule.clip, "waveform.svg": capsule.picture.encode()} if capsule.clip else {}),
    }
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{capsule.name}/{name}", content)
    return body.getvalue()
