"""How the caller's words come to be heard: a service speaks them, or they were recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from runs_app.models import Run
from runs_app.realtime.endpoints import EndpointError
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.recording_audio import RecordedAudio, read_recording
from runs_app.realtime.script import ScriptLine
from runs_app.realtime.speech import CallerAudioError, SpeechRequest, speak
from runs_app.realtime.speech_edges import adaptive_threshold, voiced
from runs_app.realtime.wav import AudioFormatError
from runs_app.services import secrets
from runs_app.services.addresses import service_url
from runs_app.services.secrets import TemplateContext
from scenarios_app.services.recordings import Sound, read_recording_file
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.configuration import Caller
from scenarios_app.spec.configuration_rules import SIMULATOR
from scenarios_app.spec.recordings import Recording

LONG_TAIL_MS = 200  # a speech service leaves less; so far may the two clocks of a trial part


@dataclass(frozen=True)
class RecordedTurn:
    recording: Recording


SaidTurn = SpeechRequest | RecordedTurn


def said_turns(script: Sequence[ScriptLine], caller: Caller, context: TemplateContext) -> tuple[SaidTurn, ...]:
    """Where the sound of each line comes from. The service is not asked for, nor its secrets, where all were recorded.
    Raises EndpointError, NoSimulator, SecretError."""
    recorded = [RecordedTurn(line.recording) if line.recording else None for line in script]
    if all(recorded):
        return tuple(turn for turn in recorded if turn)
    service = secrets.render(
        url=service_url(caller.endpoint, field="caller.endpoint"), context=context, api_key=caller.api_key, at="caller."
    )
    return tuple(
        turn
        or SpeechRequest(
            text=line.text,
            endpoint=service.url,
            # its port changes from start to start, and what it says does not
            endpoint_name=SIMULATOR if caller.endpoint == SIMULATOR else "",
            model=caller.model,
            voice=caller.voice,
            api_key=service.api_key,
        )
        for line, turn in zip(script, recorded, strict=True)
    )


def spoken_after_s(run: Run) -> float:
    """Unix time; audio that is older is spoken anew for this run. 0: any will do."""
    return run.created_at.timestamp() if run.refresh_audio else 0.0


async def sound_of(turn: SaidTurn, *, spoken_after_s: float = 0.0) -> Int16:
    """int16 mono at 24 kHz. Audio in the cache that is older than `spoken_after_s` (Unix time) is spoken anew.
    Raises SpeechError and CallerAudioError."""
    if isinstance(turn, RecordedTurn):
        return (await asyncio.to_thread(recorded_sound, turn.recording)).samples
    refresh = await asyncio.to_thread(_is_stale, turn, spoken_after_s)
    return (await speak(turn, cache_dir=speech_cache(), refresh=refresh)).samples


def recorded_sound(recording: Recording) -> RecordedAudio:
    """Raises CallerAudioError, which names the recording."""
    name = f'recording "{recording.id}" ({recording.path})'
    if recording.sha256 is None:
        raise CallerAudioError(f"{name}: its sound is not on this site; add the file on the scenario's page")
    try:
        return read_recording(read_recording_file(recording.sha256), channel=recording.channel)
    except (NotStored, AudioFormatError) as error:
        raise CallerAudioError(f"{name}: {error}") from error


def sound_told(data: bytes, channel: int | None) -> Sound:
    """What a file is, for who keeps it. Raises AudioFormatError."""
    audio = read_recording(data, channel=channel)
    notes = (*audio.notes, *_tail_notes(audio.samples))
    return Sound(audio.duration_ms, audio.declared_rate_hz, audio.channels, notes)


def _tail_notes(samples: Int16) -> tuple[str, ...]:
    """What an agent must wait out after the last word before it may answer."""
    spoken = voiced(samples, threshold_rms=adaptive_threshold(samples))
    tail_ms = (samples.size - spoken[-1].end) / SAMPLES_PER_MS if spoken else 0.0
    if tail_ms <= LONG_TAIL_MS:
        return ()
    return (f"{tail_ms / 1000:.1f} s without words at its end, which count as latency: better cut them off",)


def speech_cache() -> Path:
    return Path(settings.DATA_DIR) / "speech"


def _is_stale(request: SpeechRequest, spoken_after_s: float) -> bool:
    """Whether a run that asked for fresh audio finds words that were spoken before it began: once per run and text."""
    if not spoken_after_s:
        return False
    try:
        entry = speech_cache() / f"{request.cache_key()}.json"
        return entry.stat().st_mtime < spoken_after_s
    except (FileNotFoundError, EndpointError):
        return False
