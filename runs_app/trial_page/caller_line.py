"""What the condition of the line did to the caller's words, turn by turn, in words."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.realtime.record import Record
from scenarios_app.spec.conditions import told

_LEVELS = {
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
    seed: int
    levels: str


def caller_lines(record: Record) -> list[LineRow]:
    """One row for each turn that was not sent clean."""
    return [
        LineRow(turn.index + 1, told(turn.line.condition), turn.line.seed, _levels(turn.line.levels))
        for turn in record.turns
        if turn.line is not None
    ]


def _levels(levels: dict[str, float]) -> str:
    return ", ".join(words.format(levels[name]) for name, words in _LEVELS.items() if name in levels)
