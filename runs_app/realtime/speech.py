"""The caller's voice: words to audio through an OpenAI-compatible speech endpoint, once per text, voice and endpoint.

WAV is asked for and not raw PCM: its header carries the rate, which self-hosted servers choose freely. What comes
back is judged by its bytes, since servers answer MP3, PCM or an error page under any content type.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary

import httpx2
import numpy as np
import openai
import stamina

from runs_app.realtime import speech_cache
from runs_app.realtime.api_client import api_client
from runs_app.realtime.endpoints import EndpointError, api_base_url, shown
from runs_app.realtime.pcm import Int16, from_bytes
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS
from runs_app.realtime.speech_cache import Spoken
from runs_app.realtime.speech_edges import voiced
from runs_app.realtime.wav import AudioFormatError, CallerAudio, as_caller_audio, read_wav, wav_bytes

MIN_AUDIO_MS = 100  # the Realtime API refuses to commit less
MAX_AUDIO_S = 600
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_TRIES = 3
MAX_RETRY_AFTER_S = 10.0

_MAGIC = (b"RIFF", b"ID3", b"OggS", b"fLaC", b"FORM", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")


class SpeechError(Exception):
    """The endpoint gave no audio. `status` is its HTTP status, None when there was no answer at all."""

    def __init__(self, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class CallerAudioError(Exception):
    """The endpoint answered, but with nothing that a caller could say: empty, too short, not audio."""


@dataclass(frozen=True)
class SpeechRequest:
    """One text to be spoken.

    `endpoint` is where to ask, with or without /audio/speech behind the base. `endpoint_name` is what the cache calls
    it: give a fixed name for a service whose port changes. `rate_hz` overrides the rate that the answer declares.
    """

    text: str
    endpoint: str
    model: str
    voice: str
    api_key: str | None = field(default=None, repr=False)
    endpoint_name: str = ""
    rate_hz: int | None = None
    response_format: Literal["wav", "pcm"] = "wav"
    timeout_s: float = 60.0

    def cache_key(self) -> str:
        """A hash of all that decides how it sounds. The API key does not."""
        parts = {
            "text": self.text,
            "endpoint": self.endpoint_name or api_base_url(self.endpoint),
            "model": self.model,
            "voice": self.voice,
            "rate_hz": self.rate_hz,
            "response_format": self.response_format,
            "format": f"pcm16-mono-{RATE_HZ}-v1",
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


# One flight per key and loop: the trials of a run ask for the same sentence at the same moment.
_flights: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[object, ...], asyncio.Task[Spoken]]] = (
    WeakKeyDictionary()
)


async def caller_audio(request: SpeechRequest, *, cache_dir: Path, refresh: bool = False) -> Int16:
    """The words as int16 mono samples at 24 kHz (read-only). Errors as in `speak`."""
    return (await speak(request, cache_dir=cache_dir, refresh=refresh)).samples


async def speak(request: SpeechRequest, *, cache_dir: Path, refresh: bool = False) -> Spoken:
    """The words as audio, from the cache or from the endpoint; `refresh` asks the endpoint in any case.

    Raises SpeechError (no audio to be had: status, time-out, connection) and CallerAudioError (not usable, at least
    100 ms are needed); neither is cached. Who waits for the same words shares one request, also its failure.
    """
    flights = _flights.setdefault(asyncio.get_running_loop(), {})
    # With the API key: nobody's audio fails because somebody else's key was refused.
    key = (str(cache_dir), _checked_key(request), request.api_key, refresh)
    flight = flights.get(key)
    if flight is None:
        flight = asyncio.create_task(_speak(request, cache_dir, refresh))
        flights[key] = flight
        flight.add_done_callback(lambda done: _land(flights, key, done))
    # Shielded: a trial that is cancelled must not take the words from the others.
    return await asyncio.shield(flight)


def _land(
    flights: dict[tuple[object, ...], asyncio.Task[Spoken]], key: tuple[object, ...], done: asyncio.Task[Spoken]
) -> None:
    flights.pop(key, None)
    if not done.cancelled():
        done.exception()  # seen, even when nobody waits any more


def _checked_key(request: SpeechRequest) -> str:
    try:
        api_base_url(request.endpoint)
        return request.cache_key()
    except EndpointError as error:
        raise SpeechError(f"caller endpoint: {error}") from error


async def _speak(request: SpeechRequest, cache_dir: Path, refresh: bool) -> Spoken:
    if not request.text.strip():
        raise CallerAudioError("the caller has nothing to say: the text is empty")
    key = request.cache_key()
    if not refresh:
        kept = await asyncio.to_thread(speech_cache.load, cache_dir, key)
        if kept is not None:
            return kept
    answer, content_type = await _synthesise(request)
    spoken = await asyncio.to_thread(_usable, answer, content_type, request)
    await asyncio.to_thread(speech_cache.store, cache_dir, key, spoken)
    return spoken


async def _synthesise(request: SpeechRequest) -> tuple[bytes, str]:
    try:
        async with asyncio.timeout(request.timeout_s):
            async for attempt in stamina.retry_context(
                on=_backoff, attempts=MAX_TRIES, timeout=None, wait_initial=0.5, wait_max=4.0, wait_jitter=0.5
            ):
                with attempt:
                    return await _ask(request)
    except TimeoutError:
        raise SpeechError(f"{_place(request)} gave no audio within {request.timeout_s:g} s") from None
    raise AssertionError("a retry context ends by return or raise")


def _backoff(error: Exception) -> bool | float:
    """Seconds to wait where the endpoint named them, True for the usual back-off, False for not again."""
    if not isinstance(error, SpeechError):
        return False
    if error.status is not None and error.status != 429 and error.status < 500:
        return False
    if error.retry_after_s is None:
        return True
    return error.retry_after_s if error.retry_after_s <= MAX_RETRY_AFTER_S else False


async def _ask(request: SpeechRequest) -> tuple[bytes, str]:
    if not _fits_header(request.api_key or ""):
        raise SpeechError("caller.api_key: a header takes printable ASCII only", status=400)
    try:
        async with (
            await api_client(
                base_url=api_base_url(request.endpoint), api_key=request.api_key, timeout_s=request.timeout_s
            ) as client,
            client.audio.speech.with_streaming_response.create(
                model=request.model, voice=request.voice, input=request.text, response_format=request.response_format
            ) as answer,
        ):
            return await _body(answer, request), answer.headers.get("content-type", "")
    except openai.APIStatusError as error:
        raise _refusal(error, request) from None
    except openai.APITimeoutError:
        raise SpeechError(f"{_place(request)} gave no audio within {request.timeout_s:g} s") from None
    except openai.APIConnectionError as error:
        raise SpeechError(_clean(f"{_place(request)} cannot be reached: {_cause(error)}", request)) from None
    except httpx2.HTTPError as error:  # the body broke off
        raise SpeechError(_clean(f"{_place(request)} broke off its answer: {_cause(error)}", request)) from None


async def _body(answer: openai.AsyncAPIResponse[bytes], request: SpeechRequest) -> bytes:
    body = bytearray()
    async for chunk in answer.iter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise CallerAudioError(f"{_place(request)} answered more than {MAX_ANSWER_BYTES >> 20} MiB")
    return bytes(body)


def _refusal(error: openai.APIStatusError, request: SpeechRequest) -> SpeechError:
    status = error.status_code
    if 300 <= status < 400:
        target = shown(error.response.headers.get("location", "elsewhere"))
        reason = f"redirects to {target}; redirects are not followed, give the final address"
        return SpeechError(_clean(f"{_place(request)} {reason}", request), status=status)
    quota = error.code == "insufficient_quota"
    return SpeechError(
        _clean(f"{_place(request)} answered {status}: {_reason(error)}", request),
        status=status,
        retry_after_s=float("inf") if quota else _retry_after_s(error.response.headers.get("retry-after")),
    )


def _reason(error: openai.APIStatusError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    text = said if isinstance(said, str) and said else error.response.text
    return " ".join(text.split())[:300] or error.response.reason_phrase or "no reason given"


def _retry_after_s(header: str | None) -> float | None:
    try:
        return max(0.0, float(header or ""))
    except ValueError:  # absent, or a date
        return None


def _usable(answer: bytes, content_type: str, request: SpeechRequest) -> Spoken:
    audio = _decoded(answer, content_type, request)
    duration_ms = len(audio.samples) // SAMPLES_PER_MS
    if duration_ms < MIN_AUDIO_MS:
        raise CallerAudioError(f"caller audio {duration_ms} ms (minimum {MIN_AUDIO_MS} ms)")
    audio.samples.flags.writeable = False
    spans = voiced(audio.samples)
    lead_ms = spans[0].start / SAMPLES_PER_MS if spans else None
    tail_ms = (len(audio.samples) - spans[-1].end) / SAMPLES_PER_MS if spans else None
    return Spoken(audio.samples, audio.declared_rate_hz, audio.channels, audio.clipped, lead_ms, tail_ms)


def _decoded(answer: bytes, content_type: str, request: SpeechRequest) -> CallerAudio:
    if not answer:
        return CallerAudio(np.zeros(0, np.int16), request.rate_hz or RATE_HZ, 1, 0)
    wav = answer if answer.startswith(_MAGIC) else _as_wav(answer, content_type, request)
    try:
        decoded = read_wav(wav)
        duration_s = len(decoded.samples) / (request.rate_hz or decoded.rate_hz)
        if duration_s > MAX_AUDIO_S:  # a rate of 1 Hz would fill the memory
            raise CallerAudioError(f"caller audio {duration_s:.0f} s at {decoded.rate_hz} Hz (maximum {MAX_AUDIO_S} s)")
        return as_caller_audio(wav, rate_hz=request.rate_hz)
    except AudioFormatError as error:
        raise CallerAudioError(f"caller audio cannot be read: {error}") from error


def _as_wav(answer: bytes, content_type: str, request: SpeechRequest) -> bytes:
    """Bare PCM16 with a header. 24 kHz is what OpenAI sends, another rate is named by the content type."""
    kind, _, parameters = content_type.lower().partition(";")
    if _is_text(answer) or not (request.response_format == "pcm" or kind.strip() == "audio/pcm"):
        beginning = answer[:60].decode("utf-8", "replace")
        raise CallerAudioError(
            _clean(f"{_place(request)} did not answer with audio, it starts with {beginning!r}", request)
        )
    named = re.search(r"rate=([1-9][0-9]{2,5})(?![0-9])", parameters)
    return wav_bytes(from_bytes(answer), rate_hz=int(named[1]) if named else RATE_HZ)


def _is_text(answer: bytes) -> bool:
    """JSON, HTML or a sentence. 64 samples of sound that are all printable do not happen."""
    try:
        # Incremental: the cut may go through a character.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(answer[:128])
    except UnicodeDecodeError:
        return False
    return " ".join(text.split()).isprintable()


def _fits_header(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _place(request: SpeechRequest) -> str:
    return f"speech endpoint {shown(request.endpoint)}"


def _cause(error: Exception) -> str:
    cause = error.__cause__ or error
    return str(cause) or type(cause).__name__


def _clean(text: str, request: SpeechRequest) -> str:
    """Servers like to repeat the key that they refuse."""
    return text.replace(request.api_key, "[key]") if request.api_key else text
