"""`POST /v1/audio/transcriptions` as OpenAI has it, answered by the simulator's ear.

Any model name is accepted and means `sim-ear`. The ear knows what the simulator's voices ever said as a speech service
and what its agent said lately; what it does not know it gives to the recognition extra, where that is installed. Of a
sound that was not caught the text is empty, as it is of silence.
"""

from __future__ import annotations

import asyncio
import io
import math

import numpy as np
import soundfile

from runs_app.simulator.agent_ear import AgentEar
from runs_app.simulator.ear import LONGEST_S, RATE_HZ, Ear, Heard
from runs_app.simulator.formats import Samples, resampled
from runs_app.simulator.http_reply import HttpReply, RequestError, error_reply, json_reply
from runs_app.simulator.multipart import read_form
from runs_app.simulator.partial import words_between

TRANSCRIPTION_MODEL = "sim-ear"
_FORMATS = ("json", "text")
_LOWEST_HZ, _HIGHEST_HZ = 8_000, 192_000
_MOST_CHANNELS = 8
_NO = ("", "false", "0")


async def answer_transcription(body: bytes, *, ear: Ear, agent_ear: AgentEar | None = None) -> HttpReply:
    """The words of a form's `file` as `{"text", "usage"}` or as plain text; or a 400 that names the parameter.

    `file`: wav, flac, ogg or mp3 of up to LONGEST_S seconds. `language`, `prompt` and `temperature` are ignored.
    """
    try:
        form = read_form(body)
        kind = _checked(form)
        samples = await asyncio.to_thread(_sound, form.get("file", b""))
    except RequestError as error:
        return error_reply(error)
    heard = await _heard(samples, ear, agent_ear)
    text = "" if heard.text is None else words_between(heard.text, heard.begin, heard.end)
    if kind == "text":
        return HttpReply(200, "text/plain; charset=utf-8", f"{text}\n".encode())
    usage = {"type": "duration", "seconds": math.ceil(len(samples) / RATE_HZ)}
    return json_reply({"text": text, "usage": usage})


async def _heard(samples: Samples, ear: Ear, agent_ear: AgentEar | None) -> Heard:
    """A general recogniser is slow, and guesses at what our own voices said for certain: it is asked last."""
    heard = await ear.listen(samples, strangers=False)
    if heard.text is None and agent_ear is not None:
        heard = await agent_ear.listen(samples)
    return heard if heard.text is not None else await ear.listen(samples)


def _checked(form: dict[str, bytes]) -> str:
    """The format of the answer."""
    given = {name: value.decode("utf-8", "replace").strip() for name, value in form.items() if name != "file"}
    if not given.get("model"):
        raise RequestError(f"model is missing: any name will do, for example {TRANSCRIPTION_MODEL}", "model")
    if given.get("stream", "").lower() not in _NO:
        raise RequestError("streaming is not offered here", "stream", "unsupported_value")
    kind = given.get("response_format", "json")
    if kind not in _FORMATS:
        raise RequestError(f"response_format {kind!r} is not offered here; ask for json or text", "response_format")
    return kind


def _sound(file: bytes) -> Samples:
    """int16 mono at RATE_HZ."""
    if not file:
        raise RequestError("file must be the recording to write down, and it is empty or missing", "file")
    try:
        with soundfile.SoundFile(io.BytesIO(file)) as sound:
            rate_hz = _rate(sound)
            heard = sound.read(dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise RequestError(
            f"file is no wav, flac, ogg or mp3 that can be read: {error.error_string}", "file"
        ) from error
    # A float file may hold what no loudspeaker can play.
    mono = np.clip(np.nan_to_num(heard).mean(axis=1), -1, 1)
    return resampled(np.round(mono * 32767).astype(np.int16), from_hz=rate_hz, to_hz=RATE_HZ)


def _rate(sound: soundfile.SoundFile) -> int:
    rate_hz = int(sound.samplerate)
    if not _LOWEST_HZ <= rate_hz <= _HIGHEST_HZ:
        raise RequestError(f"file has {rate_hz} samples a second; {_LOWEST_HZ} to {_HIGHEST_HZ} are read", "file")
    if sound.frames > LONGEST_S * rate_hz:
        raise RequestError(f"file lasts {sound.frames / rate_hz:.0f} s; {LONGEST_S} s are the most", "file")
    if sound.channels > _MOST_CHANNELS:
        raise RequestError(f"file has {sound.channels} channels; {_MOST_CHANNELS} are the most", "file")
    return rate_hz
