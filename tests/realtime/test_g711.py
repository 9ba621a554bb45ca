"""G.711 against libsndfile, which has tables of its own."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

from runs_app.realtime import g711
from runs_app.realtime.formats import LAWS

SUBTYPES = {"g711_ulaw": "ULAW", "g711_alaw": "ALAW"}
ALL_CODES = bytes(range(256))
ALL_SAMPLES = np.arange(-32_768, 32_768).astype(np.int16)


def reference_decoded(data: bytes, law: str) -> np.ndarray:
    raw = io.BytesIO(data)
    return soundfile.read(raw, channels=1, samplerate=8000, format="RAW", subtype=SUBTYPES[law], dtype="int16")[0]


def reference_encoded(samples: np.ndarray, law: str) -> np.ndarray:
    raw = io.BytesIO()
    soundfile.write(raw, samples, 8000, format="RAW", subtype=SUBTYPES[law])
    return np.frombuffer(raw.getvalue(), dtype=np.uint8)


@pytest.mark.parametrize("law", LAWS)
def test_every_code_is_the_sample_that_libsndfile_reads(law: str) -> None:
    assert g711.decode(ALL_CODES, law).tolist() == reference_decoded(ALL_CODES, law).tolist()


@pytest.mark.parametrize("law", LAWS)
def test_every_sample_is_written_as_near_as_libsndfile_writes_it_or_nearer(law: str) -> None:
    levels = reference_decoded(ALL_CODES, law).astype(int)
    ours = np.abs(levels[np.frombuffer(g711.encode(ALL_SAMPLES, law), dtype=np.uint8)] - ALL_SAMPLES)
    theirs = np.abs(levels[reference_encoded(ALL_SAMPLES, law)] - ALL_SAMPLES)
    assert (ours <= theirs).all()
    assert ours.max() == theirs.max()


@pytest.mark.parametrize("law", LAWS)
def test_what_was_decoded_is_encoded_back_to_the_same_sound(law: str) -> None:
    levels = g711.decode(ALL_CODES, law)
    assert (g711.decode(g711.encode(levels, law), law) == levels).all()


@pytest.mark.parametrize(("law", "silence"), [("g711_ulaw", 0xFF), ("g711_alaw", 0xD5)])
def test_silence_is_the_idle_code_of_the_line(law: str, silence: int) -> None:
    assert g711.encode(np.zeros(3, dtype=np.int16), law) == bytes([silence]) * 3
