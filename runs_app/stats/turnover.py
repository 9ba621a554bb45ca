"""Which scenarios came out differently in two runs, from counts of trials: no test, only what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs_app.stats.rows import GRADED


@dataclass(frozen=True)
class Tally:
    """Trials of one scenario that ended alike. `run_hash` is of the content that was run, `trial` is one of them."""

    scenario_id: str
    run_hash: str
    outcome: str
    trials: int
    trial: int = 0


@dataclass(frozen=True)
class Counted:
    """`passed` of `n` trials with a verdict, of `of` in all."""

    passed: int
    n: int
    of: int

    @property
    def value(self) -> float | None:
        return self.passed / self.n if self.n else None

    @property
    def left_out(self) -> int:
        return self.of - self.n

    @property
    def always_passed(self) -> bool:
        return 0 < self.n == self.passed

    @property
    def failed(self) -> int:
        return self.n - self.passed


@dataclass(frozen=True)
class Turned:
    """`trial`: one of now that ended as the scenario newly does."""

    scenario_id: str
    before: Counted
    now: Counted
    trial: int


@dataclass(frozen=True)
class Turnover:
    """`before` and `now` count the `paired` scenarios alone: those that both sides ran with the same content.

    Newly failing: every trial with a verdict passed before, and one or more fail now. Newly passing: the reverse. A
    scenario without a verdict on one of the sides is neither.
    """

    paired: tuple[str, ...]
    changed: tuple[str, ...]
    only_before: tuple[str, ...]
    only_now: tuple[str, ...]
    before: Counted
    now: Counted
    newly_failing: tuple[Turned, ...]
    newly_passing: tuple[Turned, ...]


def turnover(before: Sequence[Tally], now: Sequence[Tally]) -> Turnover:
    old, new = _by_scenario(before), _by_scenario(now)
    shared = sorted(old.keys() & new.keys())
    paired = tuple(name for name in shared if _hashes(old[name]) == _hashes(new[name]))
    failing = [_turned(name, old[name], new[name], "failed") for name in paired]
    passing = [_turned(name, old[name], new[name], "passed") for name in paired]
    return Turnover(
        paired=paired,
        changed=tuple(name for name in shared if name not in paired),
        only_before=tuple(sorted(old.keys() - new.keys())),
        only_now=tuple(sorted(new.keys() - old.keys())),
        before=_counted(tally for name in paired for tally in old[name]),
        now=_counted(tally for name in paired for tally in new[name]),
        newly_failing=tuple(one for one in failing if one.before.always_passed and one.now.failed),
        newly_passing=tuple(one for one in passing if one.before.failed and one.now.always_passed),
    )


def _turned(name: str, old: Sequence[Tally], new: Sequence[Tally], outcome: str) -> Turned:
    trial = next((tally.trial for tally in new if tally.outcome == outcome), 0)
    return Turned(name, _counted(old), _counted(new), trial)


def _by_scenario(tallies: Iterable[Tally]) -> dict[str, list[Tally]]:
    found: dict[str, list[Tally]] = {}
    for tally in tallies:
        found.setdefault(tally.scenario_id, []).append(tally)
    return found


def _hashes(tallies: Iterable[Tally]) -> set[str]:
    return {tally.run_hash for tally in tallies}


def _counted(tallies: Iterable[Tally]) -> Counted:
    listed = list(tallies)
    return Counted(
        passed=sum(tally.trials for tally in listed if tally.outcome == "passed"),
        n=sum(tally.trials for tally in listed if tally.outcome in GRADED),
        of=sum(tally.trials for tally in listed),
    )
