"""What a Realtime session object says, in the GA shape or in beta's: servers and gateways mix the two."""

from __future__ import annotations

import re

from runs_app.realtime.dialects.base import Body
from runs_app.realtime.formats import G711_HZ, PCM, AudioFormat, Formats
from runs_app.realtime.record import RATE_HZ, Json

GA_KEYS = frozenset({"audio", "output_modalities"})
BETA_KEYS = frozenset({"modalities", "input_audio_format", "output_audio_format", "turn_detection", "voice"})

WIRE_TYPES = {"pcm16": "audio/pcm", "g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma"}
# What servers call them, without "audio/" and marks: 16-bit PCM is also L16 to those who come from telephony.
CODINGS = {
    **dict.fromkeys(("pcm", "pcm16", "pcms16le", "s16le", "l16", "linear16"), "pcm16"),
    **dict.fromkeys(("pcmu", "ulaw", "mulaw", "g711ulaw"), "g711_ulaw"),
    **dict.fromkeys(("pcma", "alaw", "g711alaw"), "g711_alaw"),
}

# What a server takes for granted differs (silence 200 or 500 ms), so everything is always sent.
DETECTION_DEFAULTS: dict[str, Body] = {
    "server_vad": {"threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 500},
    "semantic_vad": {"eagerness": "auto"},
}
DETECTION_ACTS = {"create_response": True, "interrupt_response": True}


def shape_of(session: Body) -> str | None:
    """Whether a session object has the GA or the beta shape; None when it has marks of neither or of both."""
    ga, beta = bool(GA_KEYS & session.keys()), bool(BETA_KEYS & session.keys())
    return None if ga == beta else ("ga" if ga else "beta")


def formats_of(session: Body) -> Formats:
    return Formats(_format_of(session, "input"), _format_of(session, "output"))


def turn_detection_of(session: Body) -> Body | None:
    """None when the server does not end turns, or does not say."""
    told = _side(session, "input").get("turn_detection") or session.get("turn_detection")
    return told if isinstance(told, dict) else None


def writes_down_the_caller(session: Body) -> bool:
    """Whether the server tells what it heard."""
    return bool(_side(session, "input").get("transcription") or session.get("input_audio_transcription"))


def whole_detection(given: Body) -> Body:
    """A turn_detection with everything that it leaves to the server."""
    return {**DETECTION_DEFAULTS.get(str(given.get("type")), {}), **DETECTION_ACTS, **given}


def _side(session: Body, side: str) -> Body:
    audio = session.get("audio")
    told = audio.get(side) if isinstance(audio, dict) else None
    return told if isinstance(told, dict) else {}


def wire_format(form: AudioFormat | None) -> Body | None:
    """A format as a GA or a Live session names it."""
    if form is None:
        return None
    return {"type": "audio/pcm", "rate": RATE_HZ} if form == PCM else {"type": WIRE_TYPES[form.coding]}


def _format_of(session: Body, side: str) -> AudioFormat | None:
    return format_told(_side(session, side).get("format") or session.get(f"{side}_audio_format"))


def format_told(told: Json) -> AudioFormat | None:
    """The format that a session names, in words or as an object; None when it names none."""
    if isinstance(told, str):
        told = {"type": told}
    if not isinstance(told, dict):
        return None
    named = str(told.get("type", "audio/pcm"))
    coding = CODINGS.get(re.sub("^audio/|[^a-z0-9]", "", named.lower()), named)
    return AudioFormat(coding, _rate(told.get("rate"), RATE_HZ if coding == "pcm16" else G711_HZ))


def _rate(told: Json, usual_hz: int) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) else usual_hz
