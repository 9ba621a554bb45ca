"""Two things a text can do that checks look for: ask, and claim that something is done.

Questions are recognised by their mark in any script, and in English also by their wording. Claims are recognised in
English only, and narrowly: a check that rests on them is a diagnosis with a place to listen to, never a required one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import regex

_QUESTION_MARKS: Final = regex.compile(r"[?？؟;՞፧⁇⁈⸮]")
_ASKING: Final = regex.compile(
    r"\b(?:(?:could|can|would|will) you(?: please)? (?:tell|give|share|say|confirm|let|provide|spell)"
    r"|(?:may|can|could|might) i (?:have|ask|get|know|take)"
    r"|(?:please|just) (?:tell|give|let) (?:me|us)(?: know)?"
    r"|let (?:me|us) know|i(?:'d| would)? (?:just |still |also )?need (?:to know|your|the|a)"
    r"|(?:what|which|whose|when|where|who) (?:is|are|was|would|should|do|does|did|can|name|date|day|time|number)\b"
    r"|how (?:many|much|long|old|soon))",
    regex.IGNORECASE,
)

_REFUSING: Final = regex.compile(
    r"\b(?:cannot|can not|unable|not (?:able|allowed|permitted|authori[sz]ed|possible)|must not|may not)\b"
    r"|\bonly the \w+ (?:can|may)\b"
    r"|\b(?:can|won|may|mustn)'?t\b",
    regex.IGNORECASE,
)

_DONE: Final = (
    r"booked|reserved|confirmed|cancell?ed|scheduled|rescheduled|moved|changed|updated|created|placed|sent|submitted"
    r"|refunded|ordered|registered|transferred|completed|done|made|set up|processed|removed|added"
)
_CLAIM: Final = regex.compile(
    rf"\b(?:i|we)(?:'ve| have)(?: now| just| already| successfully)* (?:{_DONE})\b"
    rf"|\b(?:i|we) (?:just |already |successfully )+(?:{_DONE})\b"
    rf"|\b(?:is|are|has been|have been|was|were|'s|'re)(?: now| all| already| successfully)* (?:{_DONE})\b"
    r"|\ball set\b|\byou're (?:booked|confirmed)\b|^(?:all )?done\b",
    regex.IGNORECASE,
)
_NOT_A_CLAIM: Final = regex.compile(
    r"\b(?:not|n't|never|once|when|if|until|before|after|unless|whether|will be|to be|cannot|unable|would|should)\b"
    r"|\w+n't\b|[?？]",
    regex.IGNORECASE,
)
_SENTENCE: Final = regex.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+|$)")


@dataclass(frozen=True)
class Claim:
    """A sentence that says something is done, and the characters [start, end) where it stands. `at`: where its claiming
    words begin."""

    start: int
    end: int
    sentence: str
    at: int


def asks(text: str) -> bool:
    straight = text.replace("\u2019", "'")
    return bool(_QUESTION_MARKS.search(straight) or _ASKING.search(straight))


def refuses(text: str) -> bool:
    """Whether the words say that something will not or may not be done (English wording)."""
    return bool(_REFUSING.search(text.replace("\u2019", "'")))


def claims(text: str) -> tuple[Claim, ...]:
    """Sentences that claim a finished action: "I've booked it", "is confirmed", "you're all set"."""
    found = []
    for sentence in _SENTENCE.finditer(text.replace("\u2019", "'")):
        words = sentence[0].strip()
        claim = _CLAIM.search(words)
        if claim and not _NOT_A_CLAIM.search(words):
            start = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
            found.append(Claim(start, start + len(words), words, start + claim.start()))
    return tuple(found)
