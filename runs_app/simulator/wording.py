"""What a wording is: patterns that ask for one behaviour in a sentence of the instructions, or forbid it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Wording:
    """Patterns for one behaviour. `although`: asked for in a negative sentence ("never book without checking").
    `against`: forbidden without a plain "not" before the behaviour ("ignore corrections")."""

    asks: tuple[str, ...]
    although: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def asked_at(self, sentence: str) -> list[int]:
        """Where in `sentence` the behaviour is asked for."""
        return [found.start() for pattern in self.asks if (found := _compiled(pattern).search(sentence))]

    def asked_although_negative(self, sentence: str) -> bool:
        return any(_compiled(pattern).search(sentence) for pattern in self.although)

    def forbidden_outright(self, sentence: str) -> bool:
        return any(_compiled(pattern).search(sentence) for pattern in self.against)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def any_of(*alternatives: str) -> str:
    return rf"\b(?:{'|'.join(alternatives)})\b"


NOT = any_of(
    "never",
    r"(?:do|must|should|may|can) ?not",
    r"(?:do|must|should|ca|may)n['’]t",
    "not to",
    "no need to",
    "avoid",
    "refrain from",
    "without",
)
