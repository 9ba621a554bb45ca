"""The session object: what it is at first and how session.update changes it."""

from __future__ import annotations

import time
from copy import deepcopy

from runs_app.simulator.shapes import AudioFormat, SessionPatch
from runs_app.simulator.wire import Json, Refusal, new_id

DEFAULT_INSTRUCTIONS = "You are a friendly clerk on the telephone. Help the caller with the tools that you have."
PCM = {"type": "audio/pcm", "rate": 24000}

# null clears these; null in any other place leaves what was there.
_CLEARED_BY_NULL = {"turn_detection", "transcription", "noise_reduction", "tracing", "prompt", "include"}
_REPLACED_WHOLE = {"turn_detection", "transcription", "tool_choice", "voice"}


def first_session(model: str, expires_s: float) -> dict[str, Json]:
    """The session as session.created shows it. Turn detection is off: the client commits and asks for responses."""
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
            "input": {"format": dict(PCM), "transcription": None, "noise_reduction": None, "turn_detection": None},
            "output": {"format": dict(PCM), "voice": "agent", "speed": 1.0},
        },
        "include": None,
    }


def updated_session(session: dict[str, Json], patch: SessionPatch, *, voice_locked: bool) -> dict[str, Json]:
    """A new session object with `patch` applied. Refusal, and nothing applied, when any part cannot be done."""
    audio = patch.audio
    if audio and audio.input:
        _require_pcm(audio.input.format, "session.audio.input.format.type")
    if audio and audio.output:
        _require_pcm(audio.output.format, "session.audio.output.format.type")
    merged = _merge(session, patch.model_dump(exclude_unset=True))
    voices = session["audio"]["output"]["voice"], merged["audio"]["output"]["voice"]
    if voice_locked and voices[0] != voices[1]:
        message = "Cannot update a conversation's voice if assistant audio is present."
        raise Refusal("cannot_update_voice", message, param="session.audio.output.voice")
    return merged


def _require_pcm(given: AudioFormat | None, param: str) -> None:
    if given is not None and given.type != "audio/pcm":
        message = f"Audio format '{given.type}' is not supported by this simulator yet; use 'audio/pcm'."
        raise Refusal("invalid_value", message, param=param)


def require_pcm_output(given: AudioFormat | None) -> None:
    """Refusal for a response that asks for another output format than PCM."""
    _require_pcm(given, "response.audio.output.format.type")


def _merge(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    merged = deepcopy(old)
    for key, value in new.items():
        if value is None and key not in _CLEARED_BY_NULL:
            continue
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both and key not in _REPLACED_WHOLE else deepcopy(value)
    return merged
