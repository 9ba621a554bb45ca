"""Seeded luck: the same seed and purpose give the same number, whatever else was drawn before."""

from __future__ import annotations

import random


def luck(seed: str, purpose: str) -> float:
    """A number in [0, 1) that depends on `seed` and `purpose` alone."""
    return random.Random(f"{seed}\0{purpose}").random()
