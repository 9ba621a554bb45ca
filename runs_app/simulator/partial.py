"""Which words of a known sentence were said, when only a part of its sound was there."""

from __future__ import annotations

from runs_app.simulator.ear import Heard

# Less is missing than a cut word or a soft end would be.
WHOLE_FROM, WHOLE_TO = 0.15, 0.85
MOST_BESIDE = 0.2
_DIGIT_WEIGHT, _PAUSE_WEIGHT = 4, 5
_PAUSES = (",", ".", ";", ":", "?", "!")
_TO_A_PAUSE = 0.08  # how far a cut moves to where a speaker breathes


def is_whole(heard: Heard) -> bool:
    """Whether one sentence was heard from its beginning to its end, and nothing else."""
    covered = heard.begin <= WHOLE_FROM and heard.end >= WHOLE_TO and heard.beside <= MOST_BESIDE
    return heard.text is not None and covered


def is_unfinished(heard: Heard) -> bool:
    """Whether the end of a known sentence is still to come."""
    return heard.text is not None and heard.end < WHOLE_TO


def words_between(text: str, begin: float, end: float) -> str:
    """The words of `text` in a part of its time, 0 to 1, by the length of the words; cuts prefer pauses."""
    words = text.split()
    ends = _ends(words)
    first = 0 if begin <= WHOLE_FROM else _nearest(words, ends, begin)
    last = len(words) if end >= WHOLE_TO else _nearest(words, ends, end)
    return " ".join(words[first : max(last, first + 1)])


def _ends(words: list[str]) -> list[float]:
    """When each word is over, 0 to 1."""
    weights = [len(word) + 1 + _weight(word) for word in words]
    total, passed, ends = sum(weights), 0, []
    for weight in weights:
        passed += weight
        ends.append(passed / total)
    return ends


def _weight(word: str) -> int:
    digits = sum(letter.isdigit() for letter in word)
    return digits * (_DIGIT_WEIGHT - 1) + (_PAUSE_WEIGHT if word.endswith(_PAUSES) else 0)


def _nearest(words: list[str], ends: list[float], place: float) -> int:
    """How many words are over at `place`."""

    def away(number: int) -> float:
        return abs(ends[number] - place) - (_TO_A_PAUSE if words[number].endswith(_PAUSES) else 0)

    return min(range(len(words)), key=away) + 1
