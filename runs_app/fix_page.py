"""What a fix has come to so far: scenario by scenario, with the prompt as it was and as it would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs_app import live
from runs_app.live import Dot
from runs_app.models import Fix

BEFORE, AFTER = 0, 1


@dataclass(frozen=True)
class Side:
    """The trials of a scenario with one of the two prompts. `n` counts those with a verdict."""

    dots: tuple[Dot, ...]

    @property
    def passed(self) -> int:
        return sum(dot.state == "passed" for dot in self.dots)

    @property
    def n(self) -> int:
        return sum(dot.state in ("passed", "failed") for dot in self.dots)

    @property
    def total(self) -> int:
        return len(self.dots)


@dataclass(frozen=True)
class Row:
    scenario: str
    title: str
    before: Side
    after: Side
    is_guard: bool

    @property
    def word(self) -> str:
        """better, worse, same, or nothing while either side is not whole."""
        if not (self.before.n == self.before.total and self.after.n == self.after.total):
            return ""
        if self.before.passed == self.after.passed:
            return "same"
        return "better" if self.after.passed > self.before.passed else "worse"


@dataclass(frozen=True)
class Progress:
    """`rows`: the failing scenario first, then the guards."""

    rows: tuple[Row, ...]
    done: int
    total: int
    minutes_left: float | None

    @property
    def target(self) -> Row:
        return self.rows[0]

    @property
    def broken(self) -> list[Row]:
        return [row for row in self.rows[1:] if row.word == "worse"]

    @property
    def is_whole(self) -> bool:
        """Whether every trial has a verdict; of a run that was thrown away meanwhile there is none."""
        return bool(self.rows) and all(row.word for row in self.rows)

    @property
    def verdict(self) -> str:
        """In a few words, once every trial has one; counts of so few trials tell large effects alone."""
        if not self.is_whole:
            return ""
        guards = _got_worse(self.broken) if self.broken else _held(self.rows[1:])
        return f"{_OF_TARGET[self.target.word]}{guards}."


def progress_of(fix: Fix) -> Progress:
    board = live.board(fix.run)
    rows = tuple(
        Row(row.scenario, row.title, Side(row.cells[BEFORE]), Side(row.cells[AFTER]), is_guard=place > 0)
        for place, row in enumerate(board["rows"])
    )
    counts = board["counts"]
    return Progress(rows, counts["done"], counts["total"], board["minutes_left"])


_OF_TARGET = {
    "better": "It passes more often",
    "worse": "It passes less often",
    "same": "It makes no difference here",
}


def _got_worse(guards: Sequence[Row]) -> str:
    named = ", ".join(row.scenario for row in guards)
    return f", but {named} {'gets' if len(guards) == 1 else 'get'} worse"


def _held(guards: Sequence[Row]) -> str:
    if not guards:
        return ", and nothing guarded the rest"
    return ", and the guard holds" if len(guards) == 1 else f", and all {len(guards)} guards hold"
