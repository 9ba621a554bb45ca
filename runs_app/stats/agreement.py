"""How often two judges of the same trials agree, and how much of that is more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """`share` of the n pairs that are equal; `kappa` is Cohen's. Null where there is nothing to tell from: no pairs,
    or (kappa) both judges always said the same one word, so that chance alone explains everything."""

    n: int
    agreed: int
    share: float | None
    kappa: float | None
    counts: dict[tuple[str, str], int]


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """Of pairs (what the first said, what the second said)."""
    counts = Counter(pairs)
    n = counts.total()
    agreed = sum(count for (one, other), count in counts.items() if one == other)
    if not n:
        return Agreement(0, 0, None, None, {})
    return Agreement(n, agreed, agreed / n, _kappa(counts, n, agreed), dict(counts))


def _kappa(counts: Counter[tuple[str, str]], n: int, agreed: int) -> float | None:
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (one, other), count in counts.items():
        first[one] += count
        second[other] += count
    by_chance = sum(first[word] * second[word] for word in first)  # of n * n
    if by_chance == n * n:
        return None
    return (agreed * n - by_chance) / (n * n - by_chance)
