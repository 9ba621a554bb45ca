"""The simulator's two voices: hibari, offline and repeatable.

`caller` is hibari's own voice; `agent` is the same one spoken faster and stretched by resampling, so that it ends at
the same pace with a clearly lower pitch. Names that nobody knows here get a documented default: the speech endpoint
falls back to `caller`, the realtime session to `agent` (`known_voice`).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
import threading
import zlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from runs_app.simulator.spoken import spoken

if TYPE_CHECKING:
    from hibari import Hibari

RATE_HZ = 24_000
SPEECH_MODEL = "sim-tts"
CALLER = "caller"
AGENT = "agent"
VOICES = (CALLER, AGENT)

Samples = npt.NDArray[np.int16]

# Part of every cache key: raise it when the sound of the voices changes.
SOUND_VERSION = 1

_AGENT_STRETCH = 1.22
_PEAK = 10 ** (-6 / 20)
_LEAD_MS, _TAIL_MS, _FADE_MS = 40, 60, 5
_FRAME_MS = 5
# hibari's own range; what lies outside sounds broken.
_SLOWEST, _FASTEST = 0.5, 2.0
_NOTHING = "the text holds nothing that can be said aloud"
_MEMORY_PHRASES = 256
_DISK_PHRASES = 2_000

# One model, one onnx thread, one sentence at a time: the machine belongs to the conversations.
_speaking = threading.Lock()
# A few threads of their own, so that phrases waiting for the model do not take the loop's common ones.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="voice")


def known_voice(name: object, default: str = CALLER) -> str:
    """`name` if it is one of VOICES, else `default`."""
    return name if isinstance(name, str) and name in VOICES else default


def synthesise(text: str, voice: str = CALLER, *, speed: float = 1.0) -> Samples:
    """`text` as int16 mono samples at 24 kHz; the same text, voice and speed give the same samples.

    Peak -6 dBFS, about 40 ms of silence before and 60 ms after the words. ValueError when `text` holds nothing
    that can be said.
    """
    said = spoken(text)
    if not any(letter.isalnum() for letter in said):
        raise ValueError(_NOTHING)
    speed = min(max(speed, _SLOWEST), _FASTEST)
    stretch = _AGENT_STRETCH if known_voice(voice) == AGENT else 1.0
    with _speaking:
        wave = _model()(said, speed=min(speed * stretch, _FASTEST), seed=zlib.crc32(said.encode()))
    if not wave.size or not np.any(wave):
        raise ValueError(_NOTHING)
    if stretch != 1.0:
        # Samples made for 24 kHz are taken for a lower rate: pitch and pace fall together.
        wave = soxr.resample(wave, RATE_HZ, round(RATE_HZ * stretch), quality="HQ")
    return _level(_trim(wave))


class Phrase(NamedTuple):
    """What was said, as the memory of the voices holds it. `samples` as `Voices.say` gives them."""

    key: str
    text: str
    voice: str
    samples: Samples


class Voices:
    """The voices with their memory: phrases said before come from memory or from `data_dir/speech`.

    Without a folder only the process remembers. Safe for several processes on one folder.
    """

    def __init__(self, data_dir: Path | str | None = None) -> None:
        self._folder = Path(data_dir) / "speech" if data_dir is not None else None
        self._memory: OrderedDict[str, Phrase] = OrderedDict()
        self._guard = threading.Lock()

    async def speak(self, text: str, voice: str = CALLER, *, speed: float = 1.0) -> Samples:
        """Like `say`, in a thread: the loop itself waits neither for the model nor for the disk."""
        return await asyncio.get_running_loop().run_in_executor(_threads, lambda: self.say(text, voice, speed=speed))

    def say(self, text: str, voice: str = CALLER, *, speed: float = 1.0) -> Samples:
        """`synthesise` with memory: int16 mono 24 kHz, read-only. ValueError as there."""
        key = _key(text, voice, speed)
        samples = self._recall(key)
        if samples is None:
            samples = synthesise(text, voice, speed=speed)
            self._store(key, samples)
        samples.setflags(write=False)
        with self._guard:
            self._memory[key] = Phrase(key, text, known_voice(voice), samples)
            self._memory.move_to_end(key)
            while len(self._memory) > _MEMORY_PHRASES:
                self._memory.popitem(last=False)
        return samples

    def said(self, voice: str) -> list[Phrase]:
        """What one of the VOICES said last, the oldest first, as far as the memory reaches."""
        with self._guard:
            return [phrase for phrase in self._memory.values() if phrase.voice == voice]

    def _recall(self, key: str) -> Samples | None:
        with self._guard:
            if key in self._memory:
                return self._memory[key].samples
        if self._folder is None:
            return None
        try:
            samples, rate_hz = soundfile.read(self._folder / f"{key}.flac", dtype="int16")
        except soundfile.LibsndfileError:
            return None  # not there, or cut off by a full disk: it is made again
        return samples if rate_hz == RATE_HZ and samples.ndim == 1 and samples.size else None

    def _store(self, key: str, samples: Samples) -> None:
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        os.close(handle)
        soundfile.write(name, samples, RATE_HZ, format="FLAC", subtype="PCM_16")
        Path(name).replace(self._folder / f"{key}.flac")
        _drop_oldest(self._folder)


def _key(text: str, voice: str, speed: float) -> str:
    words = f"{SOUND_VERSION}\0{known_voice(voice)}\0{speed:.3f}\0{spoken(text)}"
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def _drop_oldest(folder: Path) -> None:
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if entry.name.endswith(".flac")]
    if len(names) <= _DISK_PHRASES:
        return
    ages = {}
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # another process may tidy up too
            ages[name] = os.path.getmtime(name)
    for name in sorted(ages, key=ages.__getitem__)[: len(ages) - _DISK_PHRASES]:
        Path(name).unlink(missing_ok=True)


@cache
def _model() -> Hibari:
    from hibari import Hibari  # half a second and onnxruntime: only for who really speaks

    return Hibari(threads=1)


def _trim(wave: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The words with a short silence around: cut where 5 ms frames stay 40 dB under the loudest."""
    size = RATE_HZ * _FRAME_MS // 1000
    frames = wave[: len(wave) // size * size].reshape(-1, size)
    loudness = np.sqrt(np.mean(frames**2, axis=1)) if len(frames) else np.zeros(0)
    voiced = np.flatnonzero(loudness > loudness.max(initial=0.0) / 100)
    if not voiced.size:
        return wave
    words = wave[voiced[0] * size : (voiced[-1] + 1) * size].copy()
    fade = RATE_HZ * _FADE_MS // 1000
    ramp = np.linspace(0, 1, min(fade, len(words)), dtype=np.float32)
    words[: len(ramp)] *= ramp
    words[-len(ramp) :] *= ramp[::-1]
    return np.pad(words, (RATE_HZ * _LEAD_MS // 1000, RATE_HZ * _TAIL_MS // 1000))


def _level(wave: npt.NDArray[np.float32]) -> Samples:
    return np.round(wave / np.abs(wave).max() * _PEAK * 32767).astype(np.int16)
