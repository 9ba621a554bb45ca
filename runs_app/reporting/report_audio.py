"""Recordings inside of a report: lossless, as text, and no more of them than a mail can carry."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable

import soundfile

from runs_app.models import Trial
from runs_app.realtime.record import RATE_HZ
from runs_app.services.artifacts import read_audio

MOST_BYTES = 20_000_000  # of all recordings of a report together, as they stand in the file


def recordings(trials: Iterable[Trial], *, most_bytes: int = MOST_BYTES) -> dict[int, str]:
    """By trial the recording as a data address (FLAC, stereo, caller left), in the given order as far as there is room.
    One that does not fit is left out, and a shorter one after it may still fit."""
    found: dict[int, str] = {}
    left = most_bytes
    for trial in trials:
        address = _address(trial, left) if left > 0 else ""
        if address:
            found[trial.pk] = address
            left -= len(address)
    return found


def _address(trial: Trial, most: int) -> str:
    try:
        samples = read_audio(trial.wav)
    except FileNotFoundError:
        return ""
    if samples is None or not len(samples):
        return ""
    file = io.BytesIO()
    soundfile.write(file, samples, RATE_HZ, format="FLAC")
    address = f"data:audio/flac;base64,{base64.b64encode(file.getvalue()).decode()}"
    return address if len(address) <= most else ""
