"""The caller's clean words as a bad line carries them: other voices, noise, echo, a telephone's band, lost packets.

Everything is drawn from a seed, so that two agents hear the same line. The sound stays exactly as long as it was and
nothing in it moves: the filters have no delay, so where the caller speaks is known from the clean words.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from runs_app.realtime import g711
from runs_app.realtime.pcm import Float, Int16, resample, to_float, to_int16
from runs_app.realtime.record import RATE_HZ, SAMPLES_PER_MS, CallerLine, Span
from runs_app.realtime.script import PlannedTurn
from runs_app.realtime.speech_edges import voiced
from scenarios_app.spec.conditions import Condition, parts

LINE_HZ = 8_000
BAND_HZ = (300.0, 3_400.0)
SLOPE_HZ = 100.0  # outside the band, over which the filter closes
PACKET_MS = 20
OTHER_VOICES = 3
PITCHES = (0.82, 0.9, 1.1, 1.2)  # of the other voices, against the caller's
INAUDIBLE = 0.001  # an echo under a thousandth has died away

Levels = dict[str, float]


class Conditioned(NamedTuple):
    """int16 mono at RATE_HZ as long as the clean words, what was measured in making it, and where the caller speaks.

    `levels`: RMS in int16 steps of the caller's voice (`speech_rms`) and of what was added (`noise_rms`,
    `background_rms`), `packets_lost`, `packets_lost_share`, `clipped` samples.
    """

    samples: Int16
    levels: Levels
    voice: tuple[Span, ...]


def on_line(turns: Sequence[PlannedTurn], condition: Condition | None, *, seed: int | str) -> tuple[PlannedTurn, ...]:
    """The turns as the line carries them. Each has a seed of its own, drawn from the trial's; typed ones stay."""
    return tuple(on_line_at(turn, condition, seed=seed, index=index) for index, turn in enumerate(turns))


def on_line_at(turn: PlannedTurn, condition: Condition | None, *, seed: int | str, index: int) -> PlannedTurn:
    """One turn of it, by its place from 0."""
    return turn if condition is None else _on_line(turn, condition, f"line {seed} {index}")


def _on_line(turn: PlannedTurn, condition: Condition, seed_text: str) -> PlannedTurn:
    if turn.audio is None:
        return turn
    seed = int.from_bytes(hashlib.sha256(seed_text.encode()).digest()[:6])  # JSON keeps 53 bits
    recorded = turn.line  # it came with noise of its own, and its voice was looked for above that
    made = apply(turn.audio, condition, seed=seed, voice=recorded.voice if recorded else None)
    levels = {**(recorded.levels if recorded else {}), **made.levels}
    return replace(turn, audio=made.samples, line=CallerLine(parts(condition), seed, levels, made.voice))


def apply(samples: Int16, condition: Condition, *, seed: int, voice: tuple[Span, ...] | None = None) -> Conditioned:
    """`samples`: the clean words, int16 mono at RATE_HZ; `voice`: where somebody speaks in them, where that is known.
    Order: echo of the room, other voices and noise in it, then the line's band, then what the line loses. The same
    seed gives the same samples."""
    draw = np.random.default_rng(seed)
    voice = tuple(voiced(samples)) if voice is None else voice
    clean = to_float(samples)
    speech_rms = _rms(np.concatenate([clean[span.start : span.end] for span in voice])) if voice else 0.0
    levels: Levels = {"speech_rms": _steps(speech_rms)}
    sound = _echo(clean, condition)
    if condition.background_speech_gain is not None and voice:
        others = _at_level(_babble(clean, draw), float(condition.background_speech_gain) * speech_rms)
        levels["background_rms"], sound = _steps(_rms(others)), sound + others
    if condition.noise_snr_db is not None and voice:
        noise_rms = speech_rms / 10 ** (float(condition.noise_snr_db) / 20)
        noise = _at_level(draw.standard_normal(clean.size), noise_rms)
        levels["noise_rms"], sound = _steps(_rms(noise)), sound + noise
    if condition.telephony:
        sound = _telephone(sound)
    made, clipped = to_int16(sound)
    if condition.packet_loss is not None:
        made, lost, packets = _lossy(made, float(condition.packet_loss), condition.packet_burst, draw)
        levels |= {"packets_lost": lost, "packets_lost_share": round(lost / max(packets, 1), 4)}
    return Conditioned(made, {**levels, "clipped": clipped}, voice)


def _rms(sound: Float) -> float:
    return math.sqrt(float(np.mean(sound**2))) if sound.size else 0.0


def _steps(rms: float) -> float:
    return round(rms * 32_768, 1)


def _at_level(sound: Float, rms: float) -> Float:
    now = _rms(sound)
    return sound * (rms / now) if now else sound


def _echo(clean: Float, condition: Condition) -> Float:
    if condition.echo_decay is None:
        return clean
    sound, decay = clean.copy(), float(condition.echo_decay)
    delay, gain = condition.echo_delay_ms * SAMPLES_PER_MS, decay
    late = delay
    while late < clean.size and gain > INAUDIBLE:
        sound[late:] += gain * clean[:-late]
        late, gain = late + delay, gain * decay
    return sound


def _babble(clean: Float, draw: np.random.Generator) -> Float:
    """Voices that say nothing: the caller's own words backwards, at other pitches, each begun somewhere else."""
    sound = np.zeros(clean.size)
    for pitch in draw.choice(PITCHES, OTHER_VOICES, replace=False):
        voice = resample(clean[::-1], from_hz=round(RATE_HZ * pitch), to_hz=RATE_HZ)
        sound += np.resize(np.roll(voice, int(draw.integers(voice.size))), clean.size)
    return sound


def _telephone(sound: Float) -> Float:
    narrow = _band(resample(sound, from_hz=RATE_HZ, to_hz=LINE_HZ))
    coded = g711.decode(g711.encode(to_int16(narrow).samples, "g711_ulaw"), "g711_ulaw")
    wide = resample(to_float(coded), from_hz=LINE_HZ, to_hz=RATE_HZ)
    return np.pad(wide[: sound.size], (0, max(0, sound.size - wide.size)))


def _band(sound: Float) -> Float:
    """BAND_HZ alone, without delay."""
    if not sound.size:
        return sound
    hz = np.fft.rfftfreq(sound.size, 1 / LINE_HZ)
    outside = np.maximum(BAND_HZ[0] - hz, hz - BAND_HZ[1])
    gain = 0.5 + 0.5 * np.cos(np.pi * np.clip(outside / SLOPE_HZ, 0, 1))
    return np.asarray(np.fft.irfft(np.fft.rfft(sound) * gain, sound.size), dtype=np.float64)


def _lossy(samples: Int16, share: float, burst: int, draw: np.random.Generator) -> tuple[Int16, int, int]:
    """The samples with silence where packets were lost, how many were, and of how many. Exactly the share, to the
    nearest packet, so that a short sentence cannot be spared by luck."""
    size = PACKET_MS * SAMPLES_PER_MS
    packets = -(-samples.size // size)
    lost = round(share * packets)
    made = samples.copy()
    for packet in _lost_packets(packets, lost, burst, draw):
        made[packet * size : (packet + 1) * size] = 0
    return made, lost, packets


def _lost_packets(packets: int, lost: int, burst: int, draw: np.random.Generator) -> list[int]:
    """Bursts lie between the packets that arrive, never two in one place."""
    bursts = [burst] * (lost // burst) + ([lost % burst] if lost % burst else [])
    places = np.sort(draw.choice(packets - lost + 1, len(bursts), replace=False))
    found: list[int] = []
    for place, length in zip(places, bursts, strict=True):
        start = int(place) + len(found)
        found += range(start, start + length)
    return found
