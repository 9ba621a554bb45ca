"""An answer cut into pieces that may be appended to a Live session: by sentences, else by words, else anywhere."""

from __future__ import annotations

import re

MOST_BYTES = 400  # of one piece, so that it stays below 500 tokens in every language
_SENTENCES = re.compile(r"[^.!?…\n]+[.!?…\n]*\s*|[.!?…\n]+\s*")
_WORDS = re.compile(r"\S+\s*")


def pieces_of(text: str) -> list[str]:
    """Each of at most MOST_BYTES in UTF-8; together they are the text, but for blanks at their edges."""
    pieces: list[str] = []
    for part in _parts(text.strip()):
        if pieces and _bytes(pieces[-1] + part) <= MOST_BYTES:
            pieces[-1] += part
        else:
            pieces.append(part)
    return [piece.strip() for piece in pieces if piece.strip()]


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    for sentence in _SENTENCES.findall(text):
        if _bytes(sentence) <= MOST_BYTES:
            parts.append(sentence)
            continue
        for word in _WORDS.findall(sentence):
            parts += [word] if _bytes(word) <= MOST_BYTES else _chopped(word)
    return parts


def _chopped(word: str) -> list[str]:
    """A word of more bytes than fit (a sentence in a script without blanks), between its characters."""
    size = MOST_BYTES // 4  # no character has more than four bytes
    return [word[start : start + size] for start in range(0, len(word), size)]


def _bytes(text: str) -> int:
    return len(text.encode())
