"""How alike two scenarios are: which of those that pass are most in danger when a prompt changes for one that fails.

A prompt breaks what stands near to what it mends: calls of the same tools, in the same kind of talk, about the same
things. The parts and their weights: tools that are expected or prohibited (.4), the caller's words by runs of three
characters (.3), tags and type (.2), shape, which is turns, delegation and application (.1). Each is 0 to 1 and the same
from both sides; a part that neither scenario has tells nothing, and its weight goes to the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from scenarios_app.spec.scenario import Scenario

TOOLS, WORDS, TAGS, SHAPE = 0.4, 0.3, 0.2, 0.1
GRAM = 3


@dataclass(frozen=True)
class Likeness:
    """`score`: 0 (nothing in common) to 1. `tools` and `tags` are those that both have; `words` is 0 to 1."""

    score: float
    tools: tuple[str, ...]
    tags: tuple[str, ...]
    words: float

    @property
    def why(self) -> str:
        """In words, the strongest first."""
        shared = [("same tools: ", self.tools), ("same tags: ", self.tags)]
        told = [f"{word}{', '.join(names[:3])}" for word, names in shared if names]
        return "; ".join([*told, *(["alike in its words"] if self.words >= 0.5 else [])]) or "little in common"


def likeness(one: Scenario, other: Scenario) -> Likeness:
    tools, tags = (_tools(one), _tools(other)), (_tags(one), _tags(other))
    words = _cosine(_grams(_said(one)), _grams(_said(other)))
    parts = [
        (TOOLS, _overlap(*tools)),
        (WORDS, words),
        (TAGS, _overlap(*tags)),
        (SHAPE, _overlap(_shape(one), _shape(other))),
    ]
    told = [(weight, value) for weight, value in parts if value is not None]
    score = sum(weight * value for weight, value in told) / sum(weight for weight, _ in told)
    shared = [tuple(sorted(mine & theirs)) for mine, theirs in (tools, tags)]
    return Likeness(min(1.0, score), shared[0], shared[1], words or 0.0)


def most_alike(target: Scenario, others: Iterable[Scenario], count: int) -> list[tuple[Scenario, Likeness]]:
    """The `count` most alike, the most alike first, then by id. The target itself is left out."""
    found = [(other, likeness(target, other)) for other in others if other.id.lower() != target.id.lower()]
    return sorted(found, key=lambda pair: (-pair[1].score, pair[0].id))[:count]


def _tools(scenario: Scenario) -> Set[str]:
    expected = scenario.expected.tools
    return {call.name for call in (*expected.required, *expected.prohibited)}


def _tags(scenario: Scenario) -> Set[str]:
    return {tag.lower() for tag in (*scenario.tags, *([scenario.type] if scenario.type else []))}


def _shape(scenario: Scenario) -> Set[str]:
    named = scenario.application.ref
    return {scenario.interaction, f"delegation {scenario.expected.delegation}", f"application {named and named.name}"}


def _said(scenario: Scenario) -> str:
    turns: Sequence[str | None] = [turn.text for turn in scenario.input.turns]
    return " ".join(" ".join(text.casefold().split()) for text in (scenario.input.text, *turns) if text)


def _grams(text: str) -> Counter[str]:
    """Runs of three characters; a shorter text is one run."""
    if len(text) < GRAM:
        return Counter([text] if text else [])
    return Counter(text[start : start + GRAM] for start in range(len(text) - GRAM + 1))


def _cosine(one: Counter[str], other: Counter[str]) -> float | None:
    if not one and not other:
        return None
    sizes = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return min(1.0, sum(count * other[gram] for gram, count in one.items()) / sizes) if sizes else 0.0


def _overlap(one: Set[str], other: Set[str]) -> float | None:
    """Shared among all; None where there is nothing at all."""
    return len(one & other) / len(one | other) if one or other else None
