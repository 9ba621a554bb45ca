"""`POST /v1/audio/speech` as OpenAI has it, spoken by the simulator's voices.

Any model name is accepted and means `sim-tts`; an unknown voice means `caller`. What is said is remembered by the
ear *before* the answer leaves, so that whoever plays it back is understood.
"""

from __future__ import annotations

import asyncio
import io

import soundfile

from runs_app.simulator.ear import Ear
from runs_app.simulator.http_reply import HttpReply, Json, RequestError, error_reply, read_object
from runs_app.simulator.voices import RATE_HZ, Samples, Voices, known_voice

LONGEST_INPUT = 4_096
_SLOWEST, _FASTEST = 0.25, 4.0
_CONTENT_TYPES = {"pcm": "audio/pcm", "wav": "audio/wav"}


async def answer_speech(body: bytes, *, voices: Voices, ear: Ear) -> HttpReply:
    """The audio for a request's JSON body, int16 mono 24 kHz as pcm or wav; or a 400 that names the parameter.

    `instructions` is ignored. `speed` is taken between 0.25 and 4 and heard between 0.5 and 2.
    """
    try:
        asked = read_object(body)
        text, kind, speed = _text(asked), _format(asked), _speed(asked)
        samples = await voices.speak(text, _voice(asked), speed=speed)
    except RequestError as error:
        return error_reply(error)
    except ValueError as error:
        return error_reply(RequestError(f"input cannot be said: {error}", "input"))
    await ear.learn(text, samples)
    sound = await asyncio.to_thread(_encode, samples, kind)
    return HttpReply(200, _CONTENT_TYPES[kind], sound)


def _text(asked: dict[str, Json]) -> str:
    if not isinstance(asked.get("model"), str) or not asked["model"]:
        raise RequestError("model is missing: any name will do, for example sim-tts", "model")
    text = asked.get("input")
    if not isinstance(text, str) or not text.strip():
        raise RequestError("input must be the text to say, and it is empty or missing", "input")
    if len(text) > LONGEST_INPUT:
        raise RequestError(f"input has {len(text)} characters; {LONGEST_INPUT} are the most", "input")
    return text


def _voice(asked: dict[str, Json]) -> str:
    voice = asked.get("voice", "")
    # OpenAI's clients may send a custom voice as {"id": ...}.
    return known_voice(voice.get("id") if isinstance(voice, dict) else voice)


def _format(asked: dict[str, Json]) -> str:
    kind = asked.get("response_format", "mp3")
    if not isinstance(kind, str) or kind not in _CONTENT_TYPES:
        raise RequestError(f"response_format {kind!r} is not offered here; ask for pcm or wav", "response_format")
    return kind


def _speed(asked: dict[str, Json]) -> float:
    speed = asked.get("speed", 1.0)
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not _SLOWEST <= speed <= _FASTEST:
        raise RequestError(f"speed must be a number from {_SLOWEST} to {_FASTEST:g}, not {speed!r}", "speed")
    return float(speed)


def _encode(samples: Samples, kind: str) -> bytes:
    if kind == "pcm":
        return samples.astype("<i2").tobytes()
    file = io.BytesIO()
    soundfile.write(file, samples, RATE_HZ, format="WAV", subtype="PCM_16")
    return file.getvalue()
