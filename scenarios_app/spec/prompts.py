"""How long a prompt is, told while it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

# One piece after another as tokenisers of the byte-pair kind cut text: a blank goes with the word behind it. Words of
# Latin letters are mostly one token and long ones two or three; other alphabets take one for every three letters,
# scripts without blanks one for every character.
_PIECE = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f'’]+)"
    r"|(?P<dense>[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff])"
    r"|(?P<digits>\d+)"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<lines>\s*\n\s*)"
    r"|(?P<blanks>\s+)"
    r"|(?P<marks>[^\w\s]+|_+)"
)
_TOKENS: dict[str, Callable[[int], int]] = {
    "latin": lambda n: 1 if n <= 8 else 1 + math.ceil((n - 8) / 5),
    "dense": lambda n: n,
    "digits": lambda n: math.ceil(n / 3),
    "letters": lambda n: math.ceil(n / 3),
    "lines": lambda n: 1,
    "blanks": lambda n: 0,
    "marks": lambda n: math.ceil(n / 2),
}


@dataclass(frozen=True)
class PromptSize:
    """`tokens` is an estimate: within about a fifth for English prose, and every provider counts in its own way."""

    tokens: int
    words: int
    lines: int


def prompt_size(text: str) -> PromptSize:
    """Empty text has no lines."""
    pieces = ((str(piece.lastgroup), len(piece[0])) for piece in _PIECE.finditer(text.strip()))
    return PromptSize(
        tokens=sum(_TOKENS[kind](length) for kind, length in pieces),
        words=len(text.split()),
        lines=len(text.splitlines()),
    )
