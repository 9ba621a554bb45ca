"""Murmurs of a caller who listens: short words over the agent that do not want the floor ("mhm", "yes", "okay").

Recognised by their wording, in English: whatever else is said over the agent is an interruption.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import regex

from runs_app.realtime.record import Turn

_SOUND: Final = r"m+|h+m+|m+h+m+|aha|u+h huh"
_WORD: Final = r"yes|yeah|yep|yup|ok|okay|right|alright|sure|i see|got it|go on"
_MURMUR: Final = regex.compile(rf"(?:{_SOUND}|{_WORD})(?: (?:{_SOUND}|{_WORD})){{0,3}}")
_NO_WORD: Final = regex.compile(r"[^\p{L}\p{N}']+")


def is_murmur(text: str) -> bool:
    return _MURMUR.fullmatch(_NO_WORD.sub(" ", text.casefold()).strip()) is not None


def murmured(turns: Sequence[Turn]) -> frozenset[int]:
    """Indexes of the turns that are murmurs over the reply to the turn before. They ask for no answer."""
    over = (following for turn, following in pairwise(turns) if turn.interrupted)
    return frozenset(turn.index for turn in over if is_murmur(turn.caller_text))
