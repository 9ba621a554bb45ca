"""The caller's words as audio, kept between runs.

One small JSON file per request names a WAV by the hash of its content. The JSON is written last, both are written
whole or not at all, and what does not match its hash counts as absent: a crash, a full disk or two processes at once
cost one more synthesis and never a wrong sound.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runs_app.realtime.pcm import Int16, from_bytes
from runs_app.realtime.record import RATE_HZ, Json
from runs_app.realtime.wav import HEADER_BYTES, wav_bytes

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Spoken:
    """Caller audio: int16 mono at RATE_HZ, exactly as long as it came, with what it was before.

    `declared_rate_hz` and `channels` are what the service's answer said; `clipped` counts samples beyond full scale.
    The silences are before and after the first and last voiced sample, None where nothing is voiced.
    """

    samples: Int16
    declared_rate_hz: int
    channels: int
    clipped: int
    leading_silence_ms: float | None
    trailing_silence_ms: float | None
    from_cache: bool = False

    @property
    def duration_ms(self) -> float:
        return len(self.samples) * 1000 / RATE_HZ


def load(cache_dir: Path, key: str) -> Spoken | None:
    """What was stored under the key, or None where there is nothing or something broken."""
    try:
        facts = json.loads((cache_dir / f"{key}.json").read_bytes())
        wav = _audio_path(cache_dir, facts["sha256"]).read_bytes()
        if hashlib.sha256(wav).hexdigest() != facts["sha256"]:
            return None
        samples = from_bytes(wav[HEADER_BYTES:])
        samples.flags.writeable = False
        return Spoken(samples, **facts["facts"], from_cache=True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        logger.warning("speech cache: entry %s is broken and is made again: %s", key, type(error).__name__)
        return None


def store(cache_dir: Path, key: str, spoken: Spoken) -> None:
    """Keep it. A folder that cannot be written costs the next run a synthesis, not this one its trial."""
    wav = wav_bytes(spoken.samples)
    digest = hashlib.sha256(wav).hexdigest()
    try:
        path = _audio_path(cache_dir, digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, wav)
        _write_whole(cache_dir / f"{key}.json", json.dumps(_entry(spoken, digest), indent=1).encode())
    except OSError as error:
        logger.warning("speech cache: %s cannot be written: %s", cache_dir, error)


def _entry(spoken: Spoken, digest: str) -> dict[str, Json]:
    facts = {
        "declared_rate_hz": spoken.declared_rate_hz,
        "channels": spoken.channels,
        "clipped": spoken.clipped,
        "leading_silence_ms": spoken.leading_silence_ms,
        "trailing_silence_ms": spoken.trailing_silence_ms,
    }
    return {"sha256": digest, "facts": facts}


def _audio_path(cache_dir: Path, digest: str) -> Path:
    if len(digest) != 64 or not digest.isalnum():
        raise ValueError("not a hash")
    return cache_dir / "audio" / f"{digest}.wav"


def _write_whole(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)  # still there only when something failed
