"""The test that one metric of one pair rests on: paired t, exact McNemar at one repeat, sign flips where t is mute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from runs_app.stats.moments import Moments
from runs_app.stats.paired import Sides, mcnemar_p, sides, t_interval, t_test_p
from runs_app.stats.rates import FEWEST_FOR_COUNTED, FEWEST_FOR_PAIRS, newcombe_paired
from runs_app.stats.rows import COUNTED, PASS_RATE, MetricRule
from runs_app.stats.trials import Flags, Floats

Method = Literal["paired t", "exact McNemar", "sign flips"]
Table = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class PairTest:
    """`sides` on the scale of the test. `p_value` by `method`; for sign flips it is filled in with the `flips`.
    `fewest`: scenarios that its interval takes."""

    sides: Sides
    method: Method
    p_value: float | None
    fewest: int = 2
    table: Table | None = None  # of one repeat: passed by both, A alone, B alone, none

    @property
    def differences(self) -> Floats:
        return self.sides.differences

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """None and None where there is no spread to tell it from, or too few scenarios."""
        if len(self.differences) < self.fewest:
            return None, None
        if self.table is None:
            return t_interval(self.differences, level)
        found = newcombe_paired(*self.table, float(ndtri(1 - (1 - level) / 2)))
        return found.low, found.high


def pair_test(rule: MetricRule, of_a: Moments, a: int, of_b: Moments, b: int, paired: Flags) -> PairTest:
    """`a` and `b` are the places of the two configurations in their moments, which may be the same."""
    both = sides(of_a.mean[a], of_b.mean[b], paired)
    repeats = [side[paired] for side in (of_a.n[a], of_b.n[b])]
    if rule.name == PASS_RATE and len(both.differences) > 1 and all((n <= 1).all() for n in repeats):
        table = _table(both)
        return PairTest(both, "exact McNemar", mcnemar_p(table[1], table[2]), FEWEST_FOR_PAIRS, table)
    p = t_test_p(both.differences)
    fewest = FEWEST_FOR_COUNTED if rule.name in COUNTED else 2
    return PairTest(both, "sign flips" if p is None else "paired t", p, fewest)


def _table(both: Sides) -> Table:
    cells = np.bincount((2 * both.a + both.b).astype(int), minlength=4).tolist()
    neither, only_b, only_a, passed = cells
    return passed, only_a, only_b, neither


def deciding_p(test: PairTest, flips: float | None) -> float | None:
    """The p that a verdict rests on."""
    return flips if test.method == "sign flips" else test.p_value
