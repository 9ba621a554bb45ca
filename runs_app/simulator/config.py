"""The session object: what it is at first and how session.update changes it."""

from __future__ import annotations

import time
from copy import deepcopy

from runs_app.simulator.shapes import SessionPatch
from runs_app.simulator.wire import Json, Refusal, new_id

DEFAULT_INSTRUCTIONS = "You are a friendly clerk on the telephone. Help the caller with the tools that you have."
PCM = {"type": "audio/pcm", "rate": 24000}

# What the real service does when nobody says otherwise (its documents say 500 ms of silence; captures say 200).
_DETECTIONS: dict[str, dict[str, Json]] = {
    "server_vad": {
        "type": "server_vad",
        "threshold": 0.5,
        "prefix_padding_ms": 300,
        "silence_duration_ms": 200,
        "idle_timeout_ms": None,
        "create_response": True,
        "interrupt_response": True,
    },
    "semantic_vad": {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    },
}

# null clears these; null in any other place leaves what was there.
_CLEARED_BY_NULL = {"turn_detection", "transcription", "noise_reduction", "tracing", "prompt", "include"}
_SIDES = ("input", "output")
_REPLACED_WHOLE = {"turn_detection", "transcription", "tool_choice", "voice", "format"}


def first_session(model: str, expires_s: float) -> dict[str, Json]:
    """The session as session.created shows it. Turn detection is on, as in the real service."""
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": new_id("sess"),
        "model": model,
        "output_modalities": ["audio"],
        "instructions": DEFAULT_INSTRUCTIONS,
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "prompt": None,
        "expires_at": int(time.time() + expires_s),
        "audio": {
            "input": {
                "format": dict(PCM),
                "transcription": None,
                "noise_reduction": None,
                "turn_detection": dict(_DETECTIONS["server_vad"]),
            },
            "output": {"format": dict(PCM), "voice": "agent", "speed": 1.0},
        },
        "include": None,
    }


def updated_session(session: dict[str, Json], patch: SessionPatch, *, voice_locked: bool) -> dict[str, Json]:
    """A new session object with `patch` applied. Refusal, and nothing applied, when any part cannot be done."""
    merged = _merge(session, patch.model_dump(exclude_unset=True))
    audio = merged["audio"]
    audio["input"]["format"], audio["output"]["format"] = (full_format(audio[side]["format"]) for side in _SIDES)
    if detection := audio["input"]["turn_detection"]:
        audio["input"]["turn_detection"] = _full_detection(detection)
    voices = session["audio"]["output"]["voice"], merged["audio"]["output"]["voice"]
    if voice_locked and voices[0] != voices[1]:
        message = "Cannot update a conversation's voice if assistant audio is present."
        raise Refusal("cannot_update_voice", message, param="session.audio.output.voice")
    return merged


def full_format(given: dict[str, Json]) -> dict[str, Json]:
    """A format as the session shows it: PCM has one rate, and G.711 tells none."""
    return dict(PCM) if given["type"] == PCM["type"] else {"type": given["type"]}


def _full_detection(given: dict[str, Json]) -> dict[str, Json]:
    told = {name: value for name, value in given.items() if value is not None}
    return _DETECTIONS[given["type"]] | told


def _merge(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    merged = deepcopy(old)
    for key, value in new.items():
        if value is None and key not in _CLEARED_BY_NULL:
            continue
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both and key not in _REPLACED_WHOLE else deepcopy(value)
    return merged
