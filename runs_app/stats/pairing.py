"""Which scenarios of two configurations can be held against each other: by id, and only with the same content."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.stats.trials import MIXED, NEVER_RAN, Flags, Trials


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which scenarios two configurations share. Flags, one per scenario."""

    a: int
    b: int
    paired: Flags
    changed: Flags
    only_a: Flags
    only_b: Flags


def pairing_of(trials: Trials, a: int, b: int) -> Pairing:
    of_a, of_b = trials.contents[a], trials.contents[b]
    ran_a, ran_b = of_a != NEVER_RAN, of_b != NEVER_RAN
    paired = ran_a & ran_b & (of_a == of_b) & (of_a != MIXED)
    return Pairing(a, b, paired, ran_a & ran_b & ~paired, ran_a & ~ran_b, ran_b & ~ran_a)
