"""The simulator's ear: it recognises by sound what its own voices ever said. Anything else it did not catch,
unless the recognition extra is installed: then what nobody of its own said is given to a general recogniser.

A fingerprint is the loudness of 24 log-spaced bands between 300 and 3,400 Hz (what a telephone carries) in 20 ms
steps: per-band noise floor removed, logarithm, running mean removed over time and over the bands, unit norm. Two
fingerprints are compared by FFT cross-correlation over all offsets, so a late start, a cut or silence around the
words costs little.

Measured with 32 near-identical sentences (tests/simulator/test_ear_matrix.py keeps these figures): the right phrase
scores 0.97 or more when clean, over a telephone and at other starts, 0.90 with 5 % of it lost, 0.78 in white noise as
loud as itself, 0.79 with its first 200 ms missing, and leads the next by 0.17 or more; other speech stays under 0.3
for sentences of two seconds and more, under 0.4 against a phrase of one second.

Its limit: a sentence that was never said to it is taken for one that differs in a single word, if it knows that one.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.fft
from scipy.ndimage import gaussian_filter1d

from runs_app.simulator.recognition import words_in
from runs_app.simulator.spoken import spoken

log = logging.getLogger(__name__)

RATE_HZ = 24_000
BANDS = 24
LOWEST_HZ, HIGHEST_HZ = 300, 3_400
STEP_MS = 20
LONGEST_S = 60

# Halfway between the worst that a known phrase scores and the best that other speech does (figures above).
THRESHOLD = 0.5

# Part of the folder's name: raise it when the fingerprint changes, and old ones are ignored, not misread.
FINGERPRINT_VERSION = 1

_STEP = RATE_HZ * STEP_MS // 1000
_WINDOW = 1024
_FLOOR_PERCENTILE, _FLOOR_MARGIN = 40, 3.0
_LOUD_PERCENTILE, _LOG_KNEE = 95, 0.1
_ACTIVE_SHARE = 0.02
_MEAN_STEPS = 3
_SHORTEST_STEPS = 5
_SMALLEST_BUCKET = 64

Floats = npt.NDArray[np.float32]
Samples = npt.NDArray[np.int16]

_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="ear")


@dataclass(frozen=True)
class Heard:
    """What the ear made of a sound. `text` is None when it did not catch it.

    `score` is the best phrase's likeness (0 to 1), `runner_up` that of the best phrase with other words. `begin` and
    `end` say which part of the phrase was there, 0 to 1 of its time: half a sentence is known as the whole one.
    `beside` is the part of the sound that lies outside the phrase, 0 to 1: something else was said as well.
    """

    text: str | None
    score: float
    runner_up: float
    begin: float = 0.0
    end: float = 1.0
    beside: float = 0.0


class _Match(NamedTuple):
    score: float
    text: str
    begin: float
    end: float
    beside: float


@dataclass
class _Bucket:
    """Phrases of about one length, with their spectra for each FFT length that was needed so far."""

    texts: list[str] = field(default_factory=list)
    prints: list[Floats] = field(default_factory=list)
    spectra: dict[int, npt.NDArray[np.complex64]] = field(default_factory=dict)

    def likeness(self, heard: Floats, size: int) -> Iterator[_Match]:
        """Best cross-correlation of `heard` with every phrase over all offsets; `size` must hold both lengths."""
        known = self.spectra.get(size, np.empty((0, BANDS, size // 2 + 1), np.complex64))
        if len(known) < len(self.prints):
            fresh = [scipy.fft.rfft(each, size, axis=1).conj() for each in self.prints[len(known) :]]
            known = self.spectra[size] = np.concatenate([known, np.stack(fresh)])
        spectrum = scipy.fft.rfft(heard, size, axis=1)
        # One by one: a phrase fits into the processor's cache, which makes this faster than one einsum over all.
        product = np.stack([(each * spectrum).sum(axis=0) for each in known])
        likeness = scipy.fft.irfft(product, size, axis=1)
        places = likeness.argmax(axis=1)
        for text, found, row, place in zip(self.texts, self.prints, likeness, places, strict=True):
            steps = found.shape[1]
            late = int(place) if place < heard.shape[1] else int(place) - size  # how late the phrase begins in `heard`
            first, last = max(0, -late), min(steps, heard.shape[1] - late)
            yield _Match(float(row[place]), text, first / steps, last / steps, 1 - (last - first) / heard.shape[1])


class Ear:
    """Phrases by sound, kept in `data_dir/fingerprints-vN`, one file each: several processes may share the folder.

    Without a folder only the process remembers. All methods may be called from any thread.
    """

    def __init__(self, data_dir: Path | str | None = None) -> None:
        self._folder = Path(data_dir) / f"fingerprints-v{FINGERPRINT_VERSION}" if data_dir is not None else None
        self._buckets: dict[int, _Bucket] = {}
        self._names: set[str] = set()
        self._guard = threading.Lock()
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._read_folder()

    def __len__(self) -> int:
        return sum(len(bucket.prints) for bucket in self._buckets.values())

    def remember(self, text: str, samples: Samples) -> None:
        """Know `samples` (int16 mono 24 kHz) as `text` from now on, also after a restart. Silence is not remembered."""
        found = fingerprint(samples)
        if found is None:
            return
        name = hashlib.sha256(text.encode() + b"\0" + found.tobytes()).hexdigest()[:32]
        with self._guard:
            self._add(name, text, found)
        if self._folder is not None and not (self._folder / f"{name}.npz").exists():
            _write(self._folder / f"{name}.npz", text, found)

    async def learn(self, text: str, samples: Samples) -> None:
        """`remember` in a thread, for a loop that must not wait."""
        await asyncio.get_running_loop().run_in_executor(_threads, self.remember, text, samples)

    async def listen(self, samples: Samples, *, strangers: bool = True) -> Heard:
        """`hear` in a thread, for a loop that must not wait."""
        hear = partial(self.hear, samples, strangers=strangers)
        return await asyncio.get_running_loop().run_in_executor(_threads, hear)

    def hear(self, samples: Samples, *, strangers: bool = True) -> Heard:
        """What `samples` (int16 mono 24 kHz) say, if one of the voices ever said it; of `strangers` also, if the
        recognition extra is installed and understands it."""
        found = fingerprint(samples)
        if found is None:
            return Heard(None, 0.0, 0.0)
        heard = self._compare(found)
        if heard.text is None and self._read_folder():
            heard = self._compare(found)  # another process has learnt something since
        if heard.text is None and strangers and (words := words_in(samples)):
            return Heard(words, heard.score, heard.runner_up)
        return heard

    def _compare(self, found: Floats) -> Heard:
        with self._guard:
            scored = sorted(self._matches(found), key=lambda match: -match.score)
        if not scored:
            return Heard(None, 0.0, 0.0)
        best = scored[0]
        # "Yes." and "Yes!" sound the same: they are no rivals.
        words = spoken(best.text).casefold()
        runner_up = next((other.score for other in scored if not _alike(other.text, words)), 0.0)
        text = best.text if best.score >= THRESHOLD else None
        return Heard(text, best.score, max(runner_up, 0.0), best.begin, best.end, best.beside)

    def _matches(self, found: Floats) -> Iterator[_Match]:
        for length, bucket in self._buckets.items():
            yield from bucket.likeness(found, _power_of_two(found.shape[1]) + length)

    def _add(self, name: str, text: str, found: Floats) -> None:
        if name in self._names:
            return
        self._names.add(name)
        bucket = self._buckets.setdefault(_power_of_two(found.shape[1]), _Bucket())
        bucket.texts.append(text)
        bucket.prints.append(found)

    def _read_folder(self) -> bool:
        """Take in what the folder holds and this process does not know yet; True if there was anything."""
        if self._folder is None:
            return False
        with os.scandir(self._folder) as entries:
            names = sorted(entry.name.removesuffix(".npz") for entry in entries if entry.name.endswith(".npz"))
        fresh = [name for name in names if name not in self._names]
        for name in fresh:
            read = _read(self._folder / f"{name}.npz")
            with self._guard:
                if read is None:
                    self._names.add(name)
                else:
                    self._add(name, *read)
        return bool(fresh)


def fingerprint(samples: Samples) -> Floats | None:
    """`samples` (int16 mono 24 kHz, the first LONGEST_S seconds) as a unit-norm array [BANDS, steps].

    None when there is nothing to hear: silence, or less than 100 ms of sound.
    """
    power = _band_power(samples[: LONGEST_S * RATE_HZ])
    power = np.maximum(power - np.percentile(power, _FLOOR_PERCENTILE, axis=0) * _FLOOR_MARGIN, 0)
    loud = np.percentile(power.sum(axis=1), _LOUD_PERCENTILE) / BANDS
    if loud <= 0:
        return None
    level = np.log1p(power / (loud * _LOG_KNEE))
    sum_per_step = level.sum(axis=1)
    active = np.flatnonzero(sum_per_step > _ACTIVE_SHARE * sum_per_step.max())
    level = level[active[0] : active[-1] + 1]
    if len(level) < _SHORTEST_STEPS:
        return None
    level = level - gaussian_filter1d(level, _MEAN_STEPS, axis=0, mode="constant")
    level = level - level.mean(axis=1, keepdims=True)
    norm = np.linalg.norm(level)
    return np.ascontiguousarray((level / norm).T, dtype=np.float32) if norm > 0 else None


def _band_power(samples: Samples) -> Floats:
    """Mean power per band and step: [steps, BANDS]."""
    padded = np.pad(samples.astype(np.float32), (_WINDOW // 2, _WINDOW // 2))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_STEP] * _HANN
    return np.asarray(np.abs(scipy.fft.rfft(frames, axis=1)) ** 2 @ _FILTERS, np.float32)


def _filters() -> Floats:
    """Which FFT bins belong to which band: [bins, BANDS], each column a mean."""
    hz = np.fft.rfftfreq(_WINDOW, 1 / RATE_HZ)[:, None]
    edges = np.geomspace(LOWEST_HZ, HIGHEST_HZ, BANDS + 1)
    inside = (hz >= edges[:-1]) & (hz < edges[1:])
    return (inside / np.maximum(inside.sum(axis=0), 1)).astype(np.float32)


_HANN = np.hanning(_WINDOW).astype(np.float32)
_FILTERS = _filters()


def _power_of_two(steps: int) -> int:
    return max(_SMALLEST_BUCKET, 1 << (steps - 1).bit_length())


def _alike(text: str, words: str) -> bool:
    return _letters(spoken(text).casefold()) == _letters(words)


def _letters(words: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in words).split())


def _write(path: Path, text: str, found: Floats) -> None:
    """All or nothing, so that a reader in another process never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        np.savez(file, text=np.array(text), found=found.astype(np.float16))
    Path(name).replace(path)


def _read(path: Path) -> tuple[str, Floats] | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            text, found = str(stored["text"]), stored["found"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as broken:
        log.warning("A remembered phrase could not be read and is left out: %s (%s)", path, broken)
        return None
    if found.ndim != 2 or found.shape[0] != BANDS or not found.any():
        log.warning("A remembered phrase has the wrong shape and is left out: %s", path)
        return None
    return text, found / np.float32(np.linalg.norm(found))
