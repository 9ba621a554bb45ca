"""What the condition of the line did to the caller's words, turn by turn, in words."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.realtime.record import CallerLine, Record
from scenarios_app.spec.conditions import told

_LEVELS = {
    "threshold_rms": "noise of its own: a voice from RMS {:g} on",
    "speech_rms": "voice RMS {:g}",
    "noise_rms": "noise RMS {:g}",
    "background_rms": "other voices RMS {:g}",
    "packets_lost": "{:.0f} packets lost",
    "clipped": "{:.0f} samples clipped",
}


@dataclass(frozen=True)
class LineRow:
    turn: int  # from 1
    condition: str
    seed: int | None  # None: nothing was made of it
    levels: str


def caller_lines(record: Record) -> list[LineRow]:
    """One row for each turn that was not sent clean."""
    return [_row(turn.index + 1, turn.line) for turn in record.turns if turn.line is not None]


def _row(turn: int, line: CallerLine) -> LineRow:
    seed = line.seed if line.condition else None
    return LineRow(turn, told(line.condition) or "as it was recorded", seed, _levels(line.levels))


def _levels(levels: dict[str, float]) -> str:
    return ", ".join(words.format(levels[name]) for name, words in _LEVELS.items() if name in levels)
