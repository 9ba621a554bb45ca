"""What a machine heard of the agent, turn by turn, beside what the agent's side said that it said."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.grading.heard import compared_words
from runs_app.models import Trial
from runs_app.realtime.record import Record
from runs_app.services.transcribing import MachineHeard, TurnHeard, kept_machine_heard


@dataclass(frozen=True)
class HeardRow:
    """`number` counts turns from 1. `words` are the two texts cut where they part, empty where they are alike."""

    number: int
    said: str
    heard: TurnHeard
    words: list[tuple[str, str, str]]
    interrupted: bool


@dataclass(frozen=True)
class MachineCard:
    """`heard` is None as long as nobody asked. `differs` counts turns with other words."""

    heard: MachineHeard | None
    rows: tuple[HeardRow, ...] = ()

    @property
    def differs(self) -> int:
        return sum(bool(row.words) for row in self.rows)

    @property
    def failed(self) -> int:
        return sum(row.heard.text is None for row in self.rows)


def machine_card(trial: Trial, record: Record | None, heard: MachineHeard | None = None) -> MachineCard | None:
    """Of what is kept unless something newer is given; None for a trial in which no agent can be heard."""
    if record is None or not trial.wav or not any(turn.agent for turn in record.turns):
        return None
    heard = heard or kept_machine_heard(trial)
    rows = [_row(turn, record) for turn in heard.turns if turn.turn < len(record.turns)] if heard else []
    return MachineCard(heard, tuple(rows))


def _row(heard: TurnHeard, record: Record) -> HeardRow:
    turn = record.turns[heard.turn]
    words = compared_words(turn.agent_text, heard.text) if heard.text else []
    alike = all(kind == "equal" for kind, _, _ in words)
    return HeardRow(heard.turn + 1, turn.agent_text, heard, [] if alike else words, turn.interrupted)
