"""Differences of logarithms told as factors."""

from __future__ import annotations

import math
from typing import Final

FURTHEST: Final = 60.0  # e^60 is a factor of 1e26, which no measurement reaches; e^710 is no number any more


def factor(log: float) -> float:
    """What a difference of logarithms multiplies by. An interval of two scenarios may reach beyond all numbers: it is
    cut off where it says nothing in any case."""
    return math.exp(min(FURTHEST, max(-FURTHEST, log)))


def change(log: float) -> float:
    """The same less 1: 0.12 is 12 % more."""
    return math.expm1(min(FURTHEST, max(-FURTHEST, log)))
