"""The files of one attempt, in storage below trials/ID/ATTEMPT/: the stereo WAV, its peaks and the whole timeline; and
later, when somebody asks, what a machine heard of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from runs_app.realtime import wav
from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS, Span
from runs_app.realtime.speech_edges import peaks
from runs_app.services.claims import Claim
from scenarios_app.spec import jsontext

PEAK_BIN_MS = 10
MACHINE_HEARD = "machine-heard.json"


@dataclass(frozen=True)
class Files:
    """Names in storage; empty where there is no such file."""

    wav: str = ""
    peaks: str = ""
    events: str = ""


def write_files(*, claim: Claim, audio: Int16 | None, lines: Sequence[str]) -> Files:
    """Stores what this attempt left. `audio`: int16 (n, 2), or (n,) mono, at 24 kHz.

    Raises OSError, or the storage's own errors.
    """
    folder = f"trials/{claim.trial_id}/{claim.attempt}"
    events = _store(f"{folder}/events.jsonl", "".join(f"{line}\n" for line in lines).encode())
    if audio is None or not len(audio):
        return Files(events=events)
    return Files(
        wav=_store(f"{folder}/audio.wav", wav.wav_bytes(audio)),
        peaks=_store(f"{folder}/peaks.json", _drawn(audio)),
        events=events,
    )


def read_audio(name: str) -> Int16 | None:
    """The stereo samples (n, 2) that write_files stored, or None where there are none. Raises OSError."""
    if not name:
        return None
    with default_storage.open(name) as file:
        body = file.read()[wav.HEADER_BYTES :]
    return np.frombuffer(body, dtype="<i2").reshape(-1, 2)


@dataclass(frozen=True)
class Shape:
    channels: int
    duration_ms: float


def wav_shape(name: str) -> Shape:
    """Of a stored WAV of ours, without reading its sound. Raises OSError."""
    with default_storage.open(name) as file:
        header = file.read(wav.HEADER_BYTES)
    channels = int.from_bytes(header[22:24], "little") or 1
    samples = (default_storage.size(name) - wav.HEADER_BYTES) // (2 * channels)
    return Shape(channels, samples * 1000 / RATE_HZ)


def read_clip(name: str, *, around_ms: float, length_ms: float) -> tuple[float, Int16]:
    """Where the clip begins in ms, and its samples (n, channels), read alone: a recording may be 259 MB long.

    The clip keeps its length at the ends of the recording, as far as that is long enough. Raises OSError.
    """
    shape = wav_shape(name)
    start_ms = max(0.0, min(around_ms - length_ms / 2, shape.duration_ms - length_ms))
    frame = 2 * shape.channels
    first, count = round(start_ms * SAMPLES_PER_MS), round(length_ms * SAMPLES_PER_MS)
    with default_storage.open(name) as file:
        file.seek(wav.HEADER_BYTES + first * frame)
        body = file.read(count * frame)
    body = body[: len(body) - len(body) % frame]
    return first / SAMPLES_PER_MS, np.frombuffer(body, dtype="<i2").reshape(-1, shape.channels)


def read_agent(name: str, spans: Sequence[Span]) -> list[Int16]:
    """The agent's side of each span of a stored recording, int16 mono at 24 kHz, read alone. Raises OSError."""
    channels = wav_shape(name).channels
    frame = 2 * channels
    clips = []
    with default_storage.open(name) as file:
        for span in spans:
            file.seek(wav.HEADER_BYTES + span.start * frame)
            body = file.read((span.end - span.start) * frame)
            samples = np.frombuffer(body[: len(body) - len(body) % frame], dtype="<i2")
            clips.append(samples.reshape(-1, channels)[:, -1])
    return clips


def write_machine_heard(folder: str, text: str) -> None:
    """Raises OSError, or the storage's own errors."""
    _store(f"{folder}/{MACHINE_HEARD}", text.encode())


def read_machine_heard(folder: str) -> str:
    """The empty text where there is none."""
    try:
        with default_storage.open(f"{folder}/{MACHINE_HEARD}") as file:
            return str(file.read().decode())
    except FileNotFoundError:
        return ""


def _drawn(audio: Int16) -> bytes:
    """The agent's peaks are null when both voices share one channel."""
    sides = peaks(audio, bin_ms=PEAK_BIN_MS)
    shape = {"bin_ms": PEAK_BIN_MS, "rate_hz": RATE_HZ, "samples": len(audio)}
    agent = sides[1]._asdict() if len(sides) > 1 else None
    return jsontext.dumps({**shape, "caller": sides[0]._asdict(), "agent": agent}).encode()


def delete_files(*, trial_id: int) -> None:
    """Everything that the attempts of a trial left. Raises OSError."""
    _delete_folder(f"trials/{trial_id}")


def _delete_folder(folder: str) -> None:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        default_storage.delete(f"{folder}/{name}")
    for name in folders:
        _delete_folder(f"{folder}/{name}")
    default_storage.delete(folder)


def _store(name: str, content: bytes) -> str:
    """A name of an attempt is written once; if it is there, an earlier try broke off in this very place."""
    if default_storage.exists(name):
        default_storage.delete(name)
    return default_storage.save(name, ContentFile(content))
